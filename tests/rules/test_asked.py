"""`check` of requirement files: real stacks, errors, and what pip's choice alone breaks."""

from __future__ import annotations

from pathlib import Path
from typing import Any, List, Optional, Tuple

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from envdoctor.facts.requirements import read
from envdoctor.knowledge.load import load
from envdoctor.model.facts import Distribution, Facts, Machine, Target, seen
from envdoctor.model.finding import Finding, Report
from envdoctor.relations.assume import assume
from envdoctor.rules.check import check

STACKS = Path(__file__).parent.parent / "stacks"
MATRICES = load()


@pytest.fixture(autouse=True)
def _inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def machine(target: Target, assumed: str) -> Facts:
    facts = Facts(
        machine=Machine(architecture=seen("x86_64", "uname"), glibc=seen("2.31", "libc")),
        target=seen(target, "files"),
    )
    return assume(facts, assumed.split(), MATRICES)


def report(
    path: Any, assumed: str = "gpu=rtx3090 driver=470", python: Optional[str] = None
) -> Report:
    return check(machine(read([str(path)], python, "x86_64"), assumed), MATRICES)


def of(text: str, python: Optional[str] = "3.10", assumed: str = "gpu=a100 driver=535") -> Report:
    Path("r.txt").write_text(text)
    return report("r.txt", assumed, python)


def told(found: Report) -> List[Tuple[str, str, str]]:
    return [(f.severity, f.name, f.component) for f in found.findings]


def fixes(finding: Finding) -> List[str]:
    return [fix.summary for fix in finding.fixes]


# --- real stacks ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["maptr.txt", "sparsedrive.txt", "gaussianformer.txt", "qcnet.yml", "paddle3d.txt"],
)
def test_documented_installs_are_clean_where_they_were_trained(name: str) -> None:
    python = None if name == "qcnet.yml" else "3.8"
    found = report(STACKS / name, "gpu=rtx3090 driver=470", python)
    # MapTR names no av2: the only one that asks for no newer NumPy does not work on Python 3.8
    moved = ("warning", "python-version-unsupported", "av2 0.3.1")
    wanted = [moved] if name == "maptr.txt" else []
    assert [one for one in told(found) if one[0] != "info"] == wanted
    if name in ("maptr.txt", "sparsedrive.txt"):
        ruled_out = {"gpu-arch-not-in-torch", "openmmlab-version-assert", "numpy2-abi"}
        assert ruled_out <= set(found.ruled_out)


@pytest.mark.parametrize(
    ("name", "severity"),
    [
        ("maptr.txt", "error"),
        ("sparsedrive.txt", "error"),
        ("gaussianformer.txt", "warning"),  # it leaves open whether torch is for CUDA at all
    ],
)
def test_they_are_not_on_cards_that_came_later(name: str, severity: str) -> None:
    found = report(STACKS / name, "gpu=rtx5090 driver=570", "3.8")
    assert (severity, "gpu-arch-not-in-torch") in {(f.severity, f.name) for f in found.findings}


def test_nor_on_a_python_that_came_later() -> None:
    found = report(STACKS / "maptr.txt", "gpu=rtx3090 driver=470", "3.11")
    assert ("error", "python-version-unsupported", "torch 1.9.1+cu111") in told(found)


# --- errors, and what pip would take ----------------------------------------------------------


def test_an_open_numpy_is_found_with_the_smallest_change() -> None:
    (finding,) = of("torch==2.2.2\nnumpy\n").findings
    assert (finding.severity, finding.name) == ("warning", "numpy2-abi")
    assert finding.summary.startswith("pip would take numpy 2.2.6: torch 2.2.2 cannot")
    assert [(e.fact, e.value, e.origin) for e in finding.evidence] == [
        ("torch", "2.2.2", "r.txt:1"),
        ("numpy", "any; pip would take 2.2.6", "r.txt:2"),
    ]
    assert fixes(finding) == ["1 line: r.txt:2: numpy -> numpy<2"]
    assert [fix.commands for fix in finding.fixes] == [()]
    assert finding.verify == ("envdoctor explain ED304",)


@pytest.mark.parametrize(
    ("text", "python"),
    [
        ("torch==2.2.2\nnumpy<2\n", "3.10"),
        ("torch==2.2.2\nnumpy\n-c c.txt\n", "3.10"),
        ("torch==2.2.2\nnumpy\n", "3.8"),  # NumPy 2 is not for it
        ("torch==2.2.2\n", "3.10"),
        ("torch==2.4.1\nnumpy\n", "3.10"),
        ("torch==2.2.2\nnumpy\nnumba==0.58.1\n", "3.10"),  # its metadata holds NumPy below 2
    ],
)
def test_what_pip_would_take_is_not_blamed_where_it_fits(text: str, python: str) -> None:
    Path("c.txt").write_text("numpy==1.26.4\n")
    assert told(of(text, python)) == []


def test_the_same_pinned_is_an_error() -> None:
    (finding,) = of("torch==2.2.2\nnumpy==2.2.6\n").findings
    assert finding.severity == "error"
    assert finding.summary.startswith("torch 2.2.2 cannot")


def test_a_range_of_which_nothing_fits_is_an_error() -> None:
    (finding,) = of("torch==2.2.2\nnumpy>=2\n").findings
    assert finding.severity == "error"
    assert "r.txt:2: numpy>=2 -> " in fixes(finding)[0] or "r.txt:1: torch" in fixes(finding)[0]


def test_a_line_that_is_open_is_changed_before_a_pin() -> None:
    (finding,) = of("opencv-python==4.5.5.64\nnumpy\npycocotools==2.0.4\n").findings
    assert (finding.severity, finding.component) == ("warning", "opencv-python 4.5.5.64")
    assert fixes(finding) == ["1 line: r.txt:2: numpy -> numpy<2"]


def test_a_range_that_this_python_has_no_release_of() -> None:
    (finding,) = of("pyarrow>=19\n", "3.8").findings
    assert (finding.severity, finding.name) == ("error", "python-version-unsupported")
    assert finding.summary == "pyarrow 26.0.1 does not serve python 3.8"
    assert finding.evidence[0].value == ">=19"


@pytest.mark.parametrize(
    ("text", "python", "summary", "change"),
    [  # of numpy and llvmlite pip would take the sources, which are not for it either
        ("numpy==1.26.4", "3.8", "numpy 1.26.4 does not serve python 3.8", "numpy==1.24.4"),
        ("numpy==1.26.0", "3.13", "numpy 1.26.0 does not serve python 3.13", "numpy==2.1.0"),
        ("llvmlite==0.38.1", "3.11", "llvmlite 0.38.1 does not serve python 3.11", ""),
        ("transformers==5.0.0", "3.9", "transformers 5.0.0 does not serve python 3.9", ""),
        ("mmengine==0.10.4", "3.6", "mmengine 0.10.4 does not serve python 3.6", ""),
        ("huggingface-hub==1.9.0", "3.9", "huggingface-hub 1.9.0 does not serve python 3.9", ""),
    ],
)
def test_what_the_metadata_of_a_release_asks_of_python(
    text: str, python: str, summary: str, change: str
) -> None:
    (finding,) = of(text, python).findings
    assert (finding.severity, finding.name) == ("error", "python-version-unsupported")
    assert finding.summary == summary
    assert change in fixes(finding)[0]


@pytest.mark.parametrize(
    ("text", "python"),
    [
        ("numpy==1.26.2", "3.9"),
        ("torch-scatter==2.0.2", "3.12"),  # its metadata asks nothing
        ("mmcv==2.0.0rc3", "3.6"),
        ("transformers", "3.8"),  # pip takes an older one
    ],
)
def test_a_python_that_the_metadata_allows(text: str, python: str) -> None:
    assert "python-version-unsupported" not in {f.name for f in of(text, python).findings}


@pytest.mark.parametrize(
    ("text", "summary", "change"),
    [
        (
            "tensorflow==2.13.0\nnumpy==1.26.4\n",
            "tensorflow 2.13.0 excludes numpy 1.26.4: pip does not install both",
            "r.txt:2: numpy==1.26.4 -> numpy==1.24.3",
        ),
        (
            "mmdet3d==0.17.1\nnumba==0.53.0\n",
            "mmdet3d 0.17.1 excludes numba 0.53.0: pip does not install both",
            "r.txt:2: numba==0.53.0 -> numba==0.48.0",
        ),
    ],
)
def test_pins_that_metadata_excludes(text: str, summary: str, change: str) -> None:
    found = of(text, "3.9" if "tensorflow" in text else "3.8")
    (finding,) = [f for f in found.findings if f.name == "dependency-conflict"]
    assert (finding.severity, finding.summary) == ("warning", summary)
    assert fixes(finding) == [f"1 line: {change}"]


def test_no_change_to_what_the_metadata_excludes_beside_another_pin() -> None:
    found = of("tensorflow==2.5.0\nnumpy==1.26.4\nprotobuf==4.25.0\n", "3.9")
    (finding,) = [f for f in found.findings if f.name == "protobuf-too-new"]
    # 2.12 is nearer, but wants NumPy before 1.24
    assert fixes(finding)[1] == "1 line: r.txt:1: tensorflow==2.5.0 -> tensorflow==2.14.0"


def test_the_index_that_is_missing() -> None:
    found = of("torch==1.9.1\ntorchvision==0.10.1\n", "3.8", "gpu=rtx3090 driver=470")
    (finding,) = found.findings
    assert (finding.severity, finding.name) == ("warning", "gpu-arch-not-in-torch")
    assert finding.summary.startswith("pip would take torch 1.9.1+cu102: ")
    assert fixes(finding) == [
        "3 lines: r.txt:1: torch==1.9.1 -> torch==1.9.1+cu111; "
        "r.txt:2: torchvision==0.10.1 -> torchvision==0.10.1+cu111; "
        "r.txt: add -f https://download.pytorch.org/whl/torch_stable.html"
    ]
    page = "-f https://download.pytorch.org/whl/torch_stable.html\n"
    right = f"{page}torch==1.9.1+cu111\ntorchvision==0.10.1+cu111\n"
    assert told(of(right, "3.8", "gpu=rtx3090 driver=470")) == []


def test_all_findings_have_one_set_of_changes() -> None:
    page = "https://download.openmmlab.com/mmcv/dist/cu111/torch1.9.0/index.html"
    text = f"-f {page}\ntorch==1.9.1\nmmcv-full==1.4.0\ntorchvision==0.10.1\n"
    found = of(text, "3.8", "gpu=a100 driver=470").findings
    names = {"gpu-arch-not-in-torch", "cuda-runtime-major-mismatch"}
    assert {f.name for f in found} >= names
    changes = {fixes(f)[0].rpartition("lines: ")[2] for f in found if f.name in names}
    assert changes == {
        "r.txt:2: torch==1.9.1 -> torch==1.9.1+cu111; "
        "r.txt:4: torchvision==0.10.1 -> torchvision==0.10.1+cu111; "
        "r.txt: add -f https://download.pytorch.org/whl/torch_stable.html"
    }


def test_another_page_takes_the_place_of_the_one_named() -> None:
    page = "https://download.openmmlab.com/mmcv/dist/{}/torch1.9.0/index.html"
    text = f"-f {page.format('cu111')}\ntorch==1.9.1+cu102\ntorchvision==0.10.1+cu102\n"
    text += "torchaudio==0.9.1\nmmcv-full==1.4.0\n"
    found = of(text, "3.8", "gpu=v100 driver=470").findings
    first = next(one for one in found if one.name == "cuda-runtime-major-mismatch")
    assert fixes(first) == [f"1 line: {page.format('cu111')} -> -f {page.format('cu102')}"]


def test_one_finding_for_one_pair() -> None:
    (finding,) = of("torch==2.2.2\ntorchvision==0.15.2\n").findings
    assert (finding.severity, finding.name) == ("error", "torch-torchvision-mismatch")
    assert fixes(finding) == ["1 line: r.txt:2: torchvision==0.15.2 -> torchvision==0.17.2"]


def test_sources_that_cannot_compile() -> None:
    finding, note = of("mmcv-full==1.4.0\ntorch==1.13.1\n", "3.8").findings
    assert (finding.severity, finding.phase) == ("error", "build")
    assert (note.severity, note.name) == ("info", "build-isolation-hides-torch")
    # those of a fork may have been mended
    text = "mmcv-full @ git+https://h/mmcv@v1.4.0\ntorch==1.13.1\n"
    assert [f.severity for f in of(text, "3.8").findings] == ["warning", "info"]


def test_what_is_not_named_may_come_along() -> None:
    page = "-f https://download.openmmlab.com/mmcv/dist/cu121/torch2.1.0/index.html\n"
    found = of(f"{page}mmdet==3.3.0\nmmcv==2.1.0\n")  # mmengine and torch are not named
    assert told(found) == []
    assert any("the requirement files do not name it" in s.reason for s in found.skipped)


def test_a_lock_file_names_all() -> None:
    text = "".join(
        f'[[package]]\nname = "{name}"\nversion = "{version}"\n'
        for name, version in {"mmdet": "3.3.0", "mmcv": "2.1.0"}.items()
    )
    Path("poetry.lock").write_text(text)
    found = report("poetry.lock", "gpu=a100 driver=535", "3.10")
    assert ("error", "python-module-missing", "mmcv 2.1.0") in told(found)


def test_lines_that_contradict() -> None:
    (finding,) = of("numpy<1.20\nnumpy>=1.21\n").findings
    assert (finding.severity, finding.name, finding.phase) == (
        "error",
        "requirements-contradict",
        "resolve",
    )
    assert finding.summary == "no version of numpy is all of <1.20 (r.txt:1), >=1.21 (r.txt:2)"
    assert told(of("numpy<1.20\nnumpy>=1.19\nfoo>1,<1.0.1\nbar==1.0\nbar>=1\n")) == []
    assert told(of("foo==1.2\nfoo==1.3\n")) == [("error", "requirements-contradict", "foo")]


def test_a_wheel_for_another_python() -> None:
    url = "https://h/mmcv_full-1.4.0-cp38-cp38-manylinux1_x86_64.whl"
    (finding,) = of(f"{url}\n", "3.10").findings
    assert (finding.severity, finding.name) == ("error", "wheel-for-another-interpreter")
    assert finding.evidence[-1].origin == "r.txt:1"
    assert told(of(f"{url}\n", "3.8")) == []
    assert told(of(f"{url}\n", None)) == []


def test_a_wheel_of_torch_for_another_python_is_told_once() -> None:
    page = "https://download.pytorch.org/whl/cu118"
    url = f"{page}/torch-2.1.2%2Bcu118-cp310-cp310-linux_x86_64.whl"
    (finding,) = of(f"{url}\n", "3.8").findings
    assert (finding.severity, finding.name) == ("error", "python-version-unsupported")
    assert fixes(finding) == [
        f"2 lines: r.txt:1: {url} -> torch==2.1.2+cu118; r.txt: add --extra-index-url {page}"
    ]


@pytest.mark.parametrize("series", ["torch1.9", "torch1.9.0"])
def test_a_page_is_known_by_the_series_of_torch(series: str) -> None:
    page = f"https://download.openmmlab.com/mmcv/dist/cu111/{series}/index.html"
    text = f"-f {page}\n-f https://download.pytorch.org/whl/torch_stable.html\n"
    text += "torch==1.9.1+cu111\nmmcv-full==1.4.0\n"
    assert told(of(text, "3.8", "gpu=rtx3090 driver=470")) == []


def test_rules_about_what_is_installed_are_not_run() -> None:
    found = of("torch==2.4.1\n")
    names = {*found.ruled_out, *(f.name for f in found.findings)}
    assert not names & {"half-removed-distribution", "user-site-shadows-env", "cpu-only-torch"}
    assert not any("rule itself failed" in s.reason for s in found.skipped)


@pytest.mark.parametrize(
    ("name", "text", "change"),
    [
        (
            "environment.yml",
            "dependencies:\n- python=3.10\n- pip:\n  - torch==2.2.2\n  - numpy\n",
            "environment.yml:5: numpy -> numpy<2",
        ),
        (
            "pyproject.toml",
            '[project]\nrequires-python = "==3.10.*"\ndependencies = [\n"torch==2.2.2",\n'
            "\"numpy>=1.21; sys_platform == 'linux'\",\n]\n",
            "pyproject.toml:5: numpy>=1.21; sys_platform == 'linux' "
            '-> numpy<2,>=1.21; sys_platform == "linux"',
        ),
        (
            "pyproject.toml",
            '[tool.poetry.dependencies]\npython = "~3.10"\ntorch = "2.2.2"\nnumpy = "*"\n',
            "pyproject.toml:4: numpy = '*' -> numpy = \"<2\"",
        ),
        (
            "uv.lock",
            'requires-python = "==3.10.*"\n[[package]]\nname = "torch"\nversion = "2.2.2"\n'
            '[[package]]\nname = "numpy"\nversion = "2.2.6"\n',
            "uv.lock:6: numpy 2.2.6 -> 1.26.4 (lock again with numpy<2)",
        ),
    ],
)
def test_changes_are_written_as_the_file_writes(name: str, text: str, change: str) -> None:
    Path(name).write_text(text)
    found = report(name, "gpu=a100 driver=535")
    (finding,) = [f for f in found.findings if f.name == "numpy2-abi"]
    assert fixes(finding) == [f"1 line: {change}"]


PAGES = {  # what names a page of links, and an index, in each file
    "pip": (
        "r.txt: add -f https://download.pytorch.org/whl/torch_stable.html",
        "r.txt: add --extra-index-url https://download.pytorch.org/whl/cu128",
    ),
    "conda": (
        'environment.yml: add under "- pip:": '
        "- -f https://download.pytorch.org/whl/torch_stable.html",
        'environment.yml: add under "- pip:": '
        "- --extra-index-url https://download.pytorch.org/whl/cu128",
    ),
    "build": (
        "pyproject.toml cannot name a page: give pip "
        "-f https://download.pytorch.org/whl/torch_stable.html",
        "pyproject.toml cannot name a page: give pip "
        "--extra-index-url https://download.pytorch.org/whl/cu128",
    ),
    "uv": (
        "pyproject.toml: add under [tool.uv]: "
        'find-links = ["https://download.pytorch.org/whl/torch_stable.html"]',
        'pyproject.toml: add under [[tool.uv.index]]: name = "pytorch-cu128", '
        'url = "https://download.pytorch.org/whl/cu128", explicit = true, '
        'under [tool.uv.sources]: torch = { index = "pytorch-cu128" }',
    ),
    "poetry": (
        'pyproject.toml: add under [[tool.poetry.source]]: name = "pytorch", '
        'url = "https://download.pytorch.org/whl/torch_stable.html", priority = "explicit" '
        'and source = "pytorch" to torch',
        'pyproject.toml: add under [[tool.poetry.source]]: name = "pytorch-cu128", '
        'url = "https://download.pytorch.org/whl/cu128", priority = "explicit" '
        'and source = "pytorch-cu128" to torch',
    ),
    "pipenv": (
        "Pipfile cannot name a page: give pip "
        "-f https://download.pytorch.org/whl/torch_stable.html",
        'Pipfile: add under [[source]]: name = "pytorch-cu128", '
        'url = "https://download.pytorch.org/whl/cu128", verify_ssl = true '
        'and index = "pytorch-cu128" to torch',
    ),
}
LISTED = '[project]\nrequires-python = "=={python}.*"\ndependencies = ["torch=={torch}"]\n'
LOCKED = 'requires-python = "=={python}.*"\n[[package]]\nname = "torch"\nversion = "{torch}"\n'
PIPFILE = """{{"_meta": {{"requires": {{"python_version": "{python}"}}}},
"default": {{"torch": {{"version": "=={torch}"}}}}}}
"""


@pytest.mark.parametrize(
    ("manager", "name", "text"),
    [
        ("pip", "r.txt", "torch=={torch}\n"),
        (
            "conda",
            "environment.yml",
            "dependencies:\n- python={python}\n- pip:\n  - torch=={torch}\n",
        ),
        ("build", "pyproject.toml", LISTED),
        ("uv", "pyproject.toml", LISTED + "[tool.uv]\ndev-dependencies = []\n"),
        ("uv", "uv.lock", LOCKED),
        (
            "poetry",
            "pyproject.toml",
            '[tool.poetry.dependencies]\npython = "~{python}"\ntorch = "{torch}"\n',
        ),
        ("poetry", "poetry.lock", LOCKED),
        ("pipenv", "Pipfile.lock", PIPFILE),
    ],
)
@pytest.mark.parametrize(
    ("number", "torch", "python", "machine"),
    [
        (0, "1.9.1", "3.8", "gpu=rtx3090 driver=470"),
        (1, "2.7.1", "3.10", "gpu=rtx5090 driver=570"),
    ],
)
def test_a_page_is_named_as_the_file_can(
    manager: str, name: str, text: str, number: int, torch: str, python: str, machine: str
) -> None:
    Path(name).write_text(text.format(torch=torch, python=python))
    found = report(name, machine, python)
    (finding,) = [f for f in found.findings if f.name == "gpu-arch-not-in-torch"]
    assert fixes(finding)[0].endswith(f"; {PAGES[manager][number]}")


def test_a_lock_file_beside_it_says_whose_a_project_file_is() -> None:
    Path("pyproject.toml").write_text(LISTED.format(torch="1.9.1+cu111", python="3.8"))
    Path("uv.lock").write_text("")
    (finding,) = report("pyproject.toml", "gpu=rtx3090 driver=470", "3.8").findings
    assert (finding.name, fixes(finding)) == (
        "wheel-page-not-given",
        [f"name the page: {PAGES['uv'][0]}"],
    )


# --- pins are as if they were installed ---------------------------------------------------------

PACKAGES = sorted(MATRICES.packages)
PINS = st.dictionaries(st.sampled_from(PACKAGES), st.integers(0, 400), min_size=1, max_size=6)


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(
    PINS, st.sampled_from(["3.8", "3.10", "3.12"]), st.sampled_from(["rtx3090", "h100", "rtx5090"])
)
def test_pins_are_judged_as_what_is_installed(pins: Any, python: str, gpu: str) -> None:
    """Apart from what is missing, which may come along, and from what cannot be installed."""
    versions = {
        name: str(MATRICES.packages[name].releases[n % len(MATRICES.packages[name].releases)])
        for name, n in pins.items()
    }
    assumed = f"gpu={gpu} driver=470"
    installed = Target(
        python="/e/bin/python",
        version=python,
        path=("/e/lib",),
        distributions=tuple(
            Distribution(name, version, f"/e/lib/{name}.dist-info", "/e/lib", installer="pip")
            for name, version in versions.items()
        ),
    )
    Path("p.txt").write_text("".join(f"{n}=={v}\n" for n, v in versions.items()))
    asked = read(["p.txt"], python, "x86_64")
    reports = [check(machine(target, assumed), MATRICES) for target in (installed, asked)]
    # of what cannot be installed one reason is told, which need not be the same
    if any(f.phase == "install" for r in reports for f in r.findings):
        reject()
    there, here = (
        {
            (f.component, f.relation.id)
            for f in found.findings
            if f.relation
            and f.severity == "error"
            and f.phase != "build"
            and "needs" not in f.relation.id
        }
        for found in reports
    )
    assert here == there


# --- an error says that nothing would do --------------------------------------------------------

RANGES = st.dictionaries(
    st.sampled_from(
        ["torch", "torchvision", "numpy", "mmcv", "mmdet", "transformers", "tokenizers"]
    ),
    st.tuples(st.integers(0, 400), st.integers(0, 60), st.sampled_from([0, 0, 1, 10, 400])),
    min_size=2,
    max_size=4,
)


@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(RANGES, st.sampled_from(["3.8", "3.10"]), st.randoms(use_true_random=False))
def test_an_error_of_ranges_is_one_of_every_choice(ranges: Any, python: str, random: Any) -> None:
    allowed = {}
    for name, (start, _, length) in ranges.items():
        releases = [v for v in MATRICES.packages[name].releases if not v.is_prerelease]
        first = start % len(releases)
        allowed[name] = releases[first : first + length + 1]
    lines = [f"{name}>={some[0]},<={some[-1]}\n" for name, some in allowed.items()]
    errors = [f for f in of("".join(lines), python).findings if f.severity == "error"]
    for _ in range(3):
        pins = {name: random.choice(some) for name, some in allowed.items()}
        found = of("".join(f"{name}=={version}\n" for name, version in pins.items()), python)
        # not always of the same package: what torch breaks as well is told of torch alone
        assert not errors or found.worst() == "error", (lines, pins)


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(
    st.lists(
        st.tuples(
            st.sampled_from([*PACKAGES, "foo", "numba"]),
            st.sampled_from(["", "==", ">=", "<", "~=", "!="]),
            st.sampled_from(["1.0", "2.0", "1.26.4", "2.4.1", "4.30.0", "0.1", "99.0"]),
        ),
        max_size=8,
    ),
    st.sampled_from([None, "3.8", "3.12"]),
)
def test_any_requirements_are_judged(lines: Any, python: Optional[str]) -> None:
    text = "".join(f"{name}{sign}{version if sign else ''}\n" for name, sign, version in lines)
    found = of(text, python)
    assert not any("rule itself failed" in s.reason for s in found.skipped)
    for finding in found.findings:
        if finding.phase != "build":  # what has to be built alone is no matter of lines
            assert all(fix.commands == () for fix in finding.fixes)
        places = {e.origin for e in finding.evidence if not e.origin.startswith("r.txt:")}
        newest = "the newest for this Python, which pip takes for a build"
        assert places <= {"assumed", "the driver's branch", "libc", "uname", "files", newest}
