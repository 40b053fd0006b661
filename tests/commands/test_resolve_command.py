"""`envdoctor resolve`: what is asked of the resolver, how answers end, and what cannot be asked."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Callable, Dict, List, Sequence

import jsonschema
import msgspec
import pytest

import envdoctor.report
from envdoctor import resolve
from envdoctor.actions.installer import Conflict, Failed, Tree
from envdoctor.commands.resolving import ProfileError
from envdoctor.facts.snapshot import dump
from envdoctor.facts.target import TargetError
from envdoctor.model.facts import Facts, unseen
from envdoctor.model.resolution import (
    CRITERIA,
    IMPOSSIBLE,
    MISSING,
    RELAXED,
    SOLVED,
    UNASKED,
    UNKNOWN,
    Artefact,
    Criterion,
    Member,
    Resolution,
    Verified,
)
from envdoctor.resolver.asking import AskingError
from envdoctor.resolver.request import Learned, Request

replace = msgspec.structs.replace

SCHEMA = Path(envdoctor.report.__file__).resolve().parent / "schemas" / "resolve.json"
#: Longer than a shell hands over at once is no argument.
LONG = "x" * 100_000


class Engine:
    """In the place of the resolver: keeps what it is asked, answers what it is told to."""

    def __init__(self) -> None:
        self.requests: List[Request] = []
        self.facts: List[Facts] = []
        self.answers: Dict[str, Resolution] = {}
        self.learned: List[str] = []
        self.bounded = False
        self.status = SOLVED

    def resolve(
        self,
        request: Request,
        facts: Facts,
        _: Any,
        learned: Sequence[Learned] = (),
        language: str = "en",
        bounded: bool = False,
    ) -> Resolution:
        self.requests.append(request)
        self.bounded = bounded
        self.learned = [one.words for one in learned]
        self.facts.append(facts)
        python = next((p.specifier for p in request.pins if p.component == "python"), "")
        if python in self.answers:
            found = self.answers[python]
        else:
            found = answered(self.status, request.title)
        return replace(found, language=language, profile=request.profile)

    @property
    def pins(self) -> List[str]:
        """Of the last request."""
        return [str(pin) for pin in self.requests[-1].pins]


def answered(status: str = SOLVED, *asked: str, age: int = 0, optimal: bool = True) -> Resolution:
    return Resolution(
        "resolve",
        "0.1.0",
        "2026-11-30",
        status,
        optimal,
        asked=asked,
        stack=(Member("torch", "2.4.1+cu121", requirement="torch==2.4.1+cu121"),),
        criteria=(Criterion("age", age),),
        reason="nobody knows" if status == UNKNOWN else "",
    )


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    found = Engine()
    monkeypatch.setattr("envdoctor.resolver.resolve.resolve", found.resolve)
    return found


@pytest.fixture
def call(
    envdoctor: Callable[..., Any], engine: Engine, snapshot: str, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Any]:
    """Runs `resolve` on the machine of the tests; locks ask nothing of the network."""
    monkeypatch.setattr("envdoctor.actions.installer.ask", lambda _: Failed("not asked"))

    def run(*words: str) -> Any:
        return envdoctor("resolve", *words, "--facts", snapshot)

    return run


# --- how it ends -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "code", "says"),
    [
        (SOLVED, 0, "There is a stack."),
        (RELAXED, 0, "Not as the authors pinned it."),
        (IMPOSSIBLE, 1, "There is no such stack."),
        (UNKNOWN, 3, "It could not be found out: nobody knows"),
    ],
)
def test_each_status_has_its_exit_code(
    status: str, code: int, says: str, call: Callable[..., Any], engine: Engine
) -> None:
    engine.status = status
    ended = call("torch==2.4.1")
    assert (ended.code, ended.err) == (code, "")
    assert ended.out.startswith(says)
    machine = call("torch==2.4.1", "--format", "json")
    assert machine.code == code
    data = json.loads(machine.out)
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(data)
    assert data["status"] == status


def test_a_profile_as_its_authors_pinned_it(call: Callable[..., Any], engine: Engine) -> None:
    ended = call("maptr", "--gpu", "a100")
    assert ended.out.startswith("As the authors pinned it.")
    assert "torch ==1.9.1 (cuda 11.1)" in engine.pins
    assert engine.requests[-1].target == "image"
    assert json.loads(call("maptr", "--format", "json").out)["profile"] == "maptr"


def test_the_answer_may_be_written_to_a_file(call: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "answer.json"
    assert call("maptr", "--format", "json", "-o", str(path)).out == ""
    assert json.loads(path.read_text())["command"] == "resolve"


def test_what_goes_on_where_there_is_none(
    call: Callable[..., Any], engine: Engine, snapshot: str
) -> None:
    engine.status = IMPOSSIBLE
    ended = call("torch==2.4.1", "numpy<2", "--no-source", "--prefer", "age")
    command = (
        "envdoctor resolve torch==2.4.1 'numpy<2' --prefer age --no-source "
        f"--facts {snapshot} --explain"
    )
    assert ended.out.splitlines()[-1].endswith(f"resolve{command.partition('resolve')[2]}")
    assert "--explain" not in call("torch==2.4.1", "--explain").out


def test_it_is_told_in_chinese(call: Callable[..., Any]) -> None:
    assert call("torch==2.4.1", "--lang", "zh").out.startswith("有可行的版本组合。")
    data = json.loads(call("torch==2.4.1", "--lang", "zh", "--format", "json").out)
    assert data["language"] == "zh"


# --- what is asked ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "target"),
    [
        (["maptr"], "image"),
        (["--profile", "maptr"], "image"),
        (["maptr", "numpy<2"], "image"),
        (["torch==2.4.1"], "venv"),
        (["maptr", "--target", "host"], "host"),
        (["torch==2.4.1", "--target", "image"], "image"),
    ],
)
def test_what_may_be_chosen(
    words: List[str], target: str, call: Callable[..., Any], engine: Engine
) -> None:
    call(*words)
    assert engine.requests[-1].target == target


def test_options_reach_the_resolver(call: Callable[..., Any], engine: Engine) -> None:
    ended = call(
        "MapTR", "einops", "--keep", "torch", "--no-source", "--prefer", "source_builds,age"
    )
    assert ended.code == 2  # einops is no package of the matrices, and may be misspelt
    call("MapTR", "einops>0", "--keep", "torch", "--no-source", "--prefer", "source_builds,age")
    request = engine.requests[-1]
    assert request.keep == {"torch"}
    assert request.no_source
    assert request.prefer == (
        "source_builds",
        "age",
        *(name for name in CRITERIA if name not in ("source_builds", "age")),
    )
    assert "einops>0" in request.rest
    assert (request.profile, request.title) == ("maptr", "MapTR einops>0")


def test_several_gpus_are_assumed_at_once(call: Callable[..., Any], engine: Engine) -> None:
    call("maptr", "--gpu", "a100,h100", "--driver", "535")
    gpus = engine.facts[-1].accelerator.gpus.value
    assert [gpu.compute_capability for gpu in gpus or ()] == ["8.0", "9.0"]
    assert engine.facts[-1].accelerator.driver.value == "535.54.03"


def test_a_python_that_is_assumed_is_asked_for(call: Callable[..., Any], engine: Engine) -> None:
    call("torch==2.4.1", "--assume", "python=3.10.4")
    assert engine.pins == ["python ==3.10.*", "torch ==2.4.1"]


def test_files_and_lines_and_a_profile_together(
    call: Callable[..., Any], engine: Engine, tmp_path: Path
) -> None:
    one, other = tmp_path / "requirements.txt", tmp_path / "environment.yml"
    one.write_text("torch==1.10.0\n")
    other.write_text("dependencies: [python=3.8, {pip: [timm==0.6.13]}]\n")
    call("maptr", "scipy<2", "--requirements", str(one), "--requirements", str(other))
    assert engine.pins[-4:] == ["python ==3.8.*", "torch ==1.10.0", "timm ==0.6.13", "scipy <2"]


def test_a_misspelt_name_beside_others_is_told(call: Callable[..., Any], engine: Engine) -> None:
    ended = call("torch==2.4.1", "nunpy==1.0", "python==3.10.4")
    assert engine.pins == ["torch ==2.4.1", "python ==3.10.*"]
    assert engine.requests[-1].rest == ("nunpy==1.0",)
    assert "command line: nunpy is unknown; nearest: numpy" in ended.out


def test_a_profile_of_ones_own(call: Callable[..., Any], engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        "profile: mine\ntitle: Mine\nchecked: 2026-01-01\n"
        'stack:\n  torch: {version: ==2.4.1, source: "README:1"}\n'
    )
    assert call(str(path)).code == 0
    assert engine.pins == ["torch ==2.4.1"]
    assert call("--profile", str(path)).code == 0


def test_the_best_of_several_pythons_is_told(
    call: Callable[..., Any], engine: Engine, tmp_path: Path
) -> None:
    listed = tmp_path / "r.txt"
    listed.write_text(
        "torch==2.4.1; python_version < '3.10'\ntorch==2.5.1; python_version >= '3.10'\n"
        "timm; python_version == '3.11'\n"
    )
    engine.status = IMPOSSIBLE
    engine.answers = {
        "==3.9.*": answered(SOLVED, "3.9", age=4),
        "==3.11.*": answered(RELAXED, "3.11", age=2),
        "==3.12.*": answered(SOLVED, "3.12", age=3),
        "==3.13.*": answered(UNKNOWN, "3.13", optimal=False),
    }
    found = json.loads(call("--requirements", str(listed), "--format", "json").out)
    assert (found["asked"], found["optimal"]) == (["3.11"], False)
    del engine.answers["==3.13.*"]
    found = json.loads(call("--requirements", str(listed), "--format", "json").out)
    assert (found["asked"], found["optimal"]) == (["3.11"], True)


def test_what_is_taken_from_elsewhere_is_installed_from_there(
    call: Callable[..., Any], engine: Engine
) -> None:
    url = "git+https://github.com/pytorch/pytorch.git@v2.4.1"
    found = json.loads(call(f"torch @ {url}", "--format", "json").out)
    assert engine.pins == ["torch ==2.4.1"]
    (member,) = found["stack"]
    assert (member["origin"], member["url"]) == ("source", url)
    assert member["arguments"] == [f"torch @ {url}"]


# --- what cannot be asked --------------------------------------------------------------------

#: {words: the exit code, and what the one line of the error says}
WRONG: Dict[str, Any] = {
    "": (2, "name a profile, requirements such as 'torch==2.1.0', or --requirements FILE; "),
    "mapt": (2, "is called 'mapt'; nearest: maptr"),
    "torhc==2.0": (2, "command line: torhc is unknown; nearest: torch"),
    "gpu=h100": (2, "'gpu=h100': did you mean --assume gpu=h100?"),
    "requests==2.0": (3, "the matrices know nothing of what is asked for: requests==2.0"),
    "torhc": (2, "no profile and no package of the matrices is called 'torhc'; nearest: torch"),
    "zzzzzzzz": (2, "is called 'zzzzzzzz'; profiles: gaussianformer, maptr, "),
    "torch=1.9": (2, "'torch=1.9': did you mean torch==1.9?"),
    "torch==": (2, "'torch==' is no requirement: "),
    "torch==1.9.7": (2, "torch has no release 1.9.7; nearest: 1.9.0, 1.9.1, "),
    "maptr qcnet": (2, "one profile is resolved at a time, not maptr and qcnet"),
    "maptr --profile qcnet": (2, "one profile is resolved at a time, not qcnet and maptr"),
    "--profile maptr --profile qcnet": (2, "--profile is given twice"),
    "--profile mapt": (2, "no profile is called 'mapt'; nearest: maptr"),
    "./nowhere.yaml": (3, "./nowhere.yaml: no such file or directory"),
    "requirements.txt": (2, "is no profile: requirement files are named by --requirements"),
    "environment.yml": (2, "is no profile: requirement files are named by --requirements"),
    "./some/folder": (2, "is no profile and no requirement; a source tree is asked for as "),
    "maptr --prefer speed": (2, "--prefer: there is no criterion 'speed'; known are dropped_pins"),
    "maptr --prefer age --prefer age": (2, "--prefer: age is named twice"),
    "maptr --keep nothing": (2, "--keep: nothing that was asked for pins 'nothing'; pinned: "),
    "maptr --target moon": (2, "'moon' is not one of 'host', 'venv', 'image'"),
    "maptr --gpu moon": (2, "neither a known GPU nor an architecture like sm_90"),
    "--requirements /nowhere.txt": (3, "/nowhere.txt: "),
    "--requirements /": (3, "/: "),
    "--requirements /dev/zero": (3, "/dev/zero: "),
}


@pytest.mark.parametrize("words", WRONG)
def test_one_clear_line(words: str, call: Callable[..., Any]) -> None:
    code, says = WRONG[words]
    ended = call(*words.split())
    assert ended.code == code
    told = (ended.err or ended.out).replace("\n", " ")
    assert says in told
    assert "Traceback" not in told
    assert not (ended.err and ended.out)


#: Words that somebody may hand over who means no good.
HOSTILE = [
    LONG,
    f"torch=={LONG}",
    f"torch=={'9' * 5_000}",
    f"{LONG}==1.0",
    "torch==1.9\x00.1",
    "\x1b[2J\x07maptr",
    "maptr\n\r",
    "torch==1.0,\x1b[31m",
    "./\x00.yaml",
    "\udcff",
    "\udcff.yaml",
    "\u202emaptr",
    "torch @ file:///\x00",
    "torch[" + "a," * 4_000 + "]==1.0",
    "torch; " + "(" * 4_000,
    "git+https://user:secret@example.org/torch.git",
    "@",
    "=",
    "==1.0",
    "~=1",
    "[]",
    "-r requirements.txt==1",
    "--requirements=/dev/null",
    "{name}==1.0",
    "%s==%s",
]


@pytest.mark.parametrize("word", HOSTILE, ids=range(len(HOSTILE)))
def test_words_of_strangers(word: str, call: Callable[..., Any]) -> None:
    ended = call("--", word)
    assert ended.code in (0, 2, 3)
    assert "Traceback" not in ended.err
    assert "internal error" not in ended.err
    assert "secret" not in ended.out + ended.err
    told = ended.out + ended.err
    assert [c for c in told if not (c.isprintable() or c == "\n" or c >= "\ud800")] == []
    assert len(ended.err) < 2_000


def test_more_words_than_anybody_types(call: Callable[..., Any]) -> None:
    ended = call(*(f"package-{number}==1.0" for number in range(5_000)))
    assert (ended.code, ended.out) == (2, "")
    assert "1000 requirements are as many as can be named" in ended.err


def test_files_that_are_none(call: Callable[..., Any], tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.txt"
    os.mkfifo(pipe)
    binary = tmp_path / "binary.txt"
    binary.write_bytes(bytes(range(256)) * 100)
    for path in (pipe, binary, tmp_path):
        ended = call("--requirements", str(path))
        assert (ended.code, ended.out, ended.err.count("\n")) == (3, "", 1)
        assert str(path) in ended.err
    for name in ("pipe.yaml", "binary.yaml", "folder.yaml"):
        path = tmp_path / name
        if name == "pipe.yaml":
            os.mkfifo(path)
        elif name == "folder.yaml":
            path.mkdir()
        else:
            path.write_bytes(bytes(range(256)) * 100)
        ended = call(str(path))
        assert (ended.code, ended.out) == (3, "")
        assert name in ended.err
        assert "Traceback" not in ended.err


def test_files_that_include_each_other(
    call: Callable[..., Any], engine: Engine, tmp_path: Path
) -> None:
    one, other = tmp_path / "one.txt", tmp_path / "other.txt"
    one.write_text("-r other.txt\ntorch==2.4.1\n")
    other.write_text("-r one.txt\ntorchvision==0.19.1\n")
    ended = call("--requirements", str(one))
    assert ended.code == 0
    assert engine.pins == ["torchvision ==0.19.1", "torch ==2.4.1"]
    assert "includes itself" in ended.out


def test_thousands_of_requirements(
    call: Callable[..., Any], engine: Engine, tmp_path: Path
) -> None:
    listed = tmp_path / "r.txt"
    listed.write_text("".join(f"package-{number}==1.0\n" for number in range(10_000)))
    ended = call("torch==2.4.1", "--requirements", str(listed))
    assert (ended.code, len(engine.requests[-1].rest)) == (0, 10_000)
    listed.write_text("".join(f"package-{number}==1.0\n" for number in range(30_000)))
    ended = call("--requirements", str(listed))
    assert (ended.code, ended.err.count("\n")) == (3, 1)


def test_a_file_that_asks_for_nothing(call: Callable[..., Any], tmp_path: Path) -> None:
    listed = tmp_path / "r.txt"
    listed.write_text("-r https://example.org/more.txt\n")
    ended = call("--requirements", str(listed))
    assert ended.code == 2
    assert "there is nothing to resolve" in ended.err


def test_an_environment_that_is_to_be_kept_is_needed(
    envdoctor: Callable[..., Any], engine: Engine, tmp_path: Path
) -> None:
    path = tmp_path / "facts.json"
    path.write_bytes(dump(replace(Facts(), target=unseen("none was looked for"))))
    words = ["resolve", "torch==2.4.1", "--facts", str(path)]
    ended = envdoctor(*words, "--target", "host")
    assert (ended.code, ended.out) == (3, "")
    assert "there is no Python environment to examine: none was looked for" in ended.err
    assert envdoctor(*words).code == 0


# --- locks -----------------------------------------------------------------------------------


def test_a_lock_to_stdout_is_alone_there(call: Callable[..., Any]) -> None:
    ended = call("torch==2.4.1", "--lock", "requirements", "--no-tree")
    assert ended.code == 0
    assert "torch==2.4.1+cu121" in ended.out.splitlines()
    assert "There is a stack." not in ended.out
    assert ended.err == "There is a stack.\n"


def test_a_lock_in_a_file(call: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "install.sh"
    ended = call("torch==2.4.1", "--lock", "script", "-o", str(path), "--format", "json")
    assert json.loads(ended.out)["status"] == SOLVED
    assert ended.err == f"envdoctor: wrote {path}\n"
    assert path.read_text().startswith("#!")
    assert os.access(path, os.X_OK)
    ended = call("torch==2.4.1", "--lock", "requirements", "-o", f"{tmp_path}/new/", "-q")
    assert (ended.out.partition("\n")[0].rstrip()[:17], ended.err) == ("There is a stack.", "")
    assert "torch==2.4.1+cu121" in (tmp_path / "new" / "requirements.txt").read_text()


@pytest.mark.parametrize("status", [IMPOSSIBLE, UNKNOWN])
def test_without_a_stack_there_is_no_lock(
    status: str, call: Callable[..., Any], engine: Engine, tmp_path: Path
) -> None:
    engine.status = status
    path = tmp_path / "requirements.txt"
    ended = call("torch==2.4.1", "--lock", "requirements", "-o", str(path))
    assert ended.code in (1, 3)
    assert ended.out
    assert not path.exists()


def test_locks_that_cannot_be_written(
    call: Callable[..., Any], engine: Engine, tmp_path: Path
) -> None:
    both = call("torch==2.4.1", "--lock", "script", "--format", "json")
    assert both.code == 2
    assert "would both go to stdout" in both.err
    no_hash = call("torch==2.4.1", "--lock", "pylock", "-o", str(tmp_path / "pylock.toml"))
    assert no_hash.code == 3
    assert "--lock pylock: " in no_hash.err
    nowhere = call("torch==2.4.1", "--lock", "script", "-o", "/proc/nowhere/")
    assert nowhere.code == 3
    assert "cannot write /proc/nowhere" in nowhere.err
    engine.answers[""] = replace(
        answered(),
        stack=(
            *answered().stack,
            Member("mmdet3d", "0.17.2", origin="source", tree="mmdetection3d"),
        ),
    )
    for place in (["-o", str(tmp_path / "r.txt")], []):
        several = call("torch==2.4.1", "--lock", "requirements", *place)
        assert (several.code, several.out) == (3, "")
        assert several.err.splitlines()[1:] == ["  Name a folder: -o FOLDER/"]


def test_the_next_command_locks(call: Callable[..., Any], snapshot: str) -> None:
    last = call("maptr", "--gpu", "h100").out.splitlines()[-1]
    assert last.endswith(f"resolve maptr --facts {snapshot} --gpu h100 --lock script -o install.sh")


# --- the tree around a stack, and whether it exists ------------------------------------------


@pytest.fixture
def installer(monkeypatch: pytest.MonkeyPatch) -> List[Any]:
    """Answers what it holds, one after the other; nothing of the network is asked."""
    answers: List[Any] = []
    monkeypatch.setattr("envdoctor.actions.installer.ask", lambda _: answers.pop(0))
    return answers


def test_the_installer_is_asked_where_it_is_wanted(
    call: Callable[..., Any], engine: Engine, installer: List[Any]
) -> None:
    tree = Tree((Artefact("numpy", "1.24.4", hashes={"sha256": "0" * 64}),))
    installer += [tree]
    assert json.loads(call("torch==2.4.1", "--format", "json").out)["tree"] == []
    found = json.loads(call("torch==2.4.1", "--tree", "--format", "json").out)
    assert [one["package"] for one in found["tree"]] == ["numpy"]
    installer += [Conflict({"torch": "==2.4.1", "python": "==3.8.*"}, "nobody knows why"), tree]
    found = json.loads(call("torch==2.4.1", "--tree", "--format", "json").out)
    assert found["learned"] == engine.learned
    assert "nobody knows why" in engine.learned[0]
    installer += [tree]
    assert "numpy==1.24.4" in call("torch==2.4.1", "--lock", "requirements").out
    assert "numpy" not in call("torch==2.4.1", "--lock", "requirements", "--no-tree").out
    assert installer == []


def test_an_installer_that_cannot_be_asked_is_told(
    call: Callable[..., Any], installer: List[Any]
) -> None:
    installer += [Failed("there is no uv")]
    ended = call("torch==2.4.1", "--tree")
    assert ended.code == 0
    assert "Installer  there is no uv" in ended.out.splitlines()


def test_files_that_are_missing_are_no_success(
    call: Callable[..., Any], engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = [Verified("torch", "2.4.1+cu121", UNASKED, "no answer")]
    monkeypatch.setattr("envdoctor.actions.verify.verify", lambda *_: tuple(said))
    assert call("torch==2.4.1", "--verify").code == 0
    said.append(Verified("numpy", "9.9", MISSING, "no such release"))
    ended = call("torch==2.4.1", "--verify")
    assert ended.code == 1
    assert "  - missing: numpy 9.9: no such release" in ended.out.splitlines()
    assert [
        one["status"]
        for one in json.loads(call("torch==2.4.1", "--verify", "--format", "json").out)["verified"]
    ] == ["unasked", "missing"]
    engine.status = UNKNOWN
    assert call("torch==2.4.1", "--verify").code == 3


# --- from Python -----------------------------------------------------------------------------


def test_from_python(engine: Engine, facts: Facts, snapshot: str, tmp_path: Path) -> None:
    found = resolve(profile="maptr", gpu="a100", facts=facts)
    assert (found.status, found.profile, found.language) == (SOLVED, "maptr", "en")
    assert engine.requests[-1].target == "image"
    listed = tmp_path / "r.txt"
    listed.write_text("torch==2.4.1\n")
    found = resolve(
        "numpy<2",
        requirements=[listed],
        gpu=["a100", "h100"],
        driver="535",
        facts=snapshot,
        assume=["python=3.10"],
        language="zh",
        keep=["torch"],
    )
    assert engine.pins == ["python ==3.10.*", "torch ==2.4.1", "numpy <2"]
    assert len(engine.facts[-1].accelerator.gpus.value or ()) == 2
    assert found.language == "zh"


def test_from_python_what_is_wrong_is_raised(engine: Engine, facts: Facts) -> None:
    with pytest.raises(AskingError, match="nearest: maptr"):
        resolve("mapt", facts=facts)
    with pytest.raises(ProfileError, match="no such file"):
        resolve(profile="./nowhere.yaml", facts=facts)
    with pytest.raises(ValueError, match="language is one of"):
        resolve("maptr", facts=facts, language="fr")
    with pytest.raises(ValueError, match="target is one of"):
        resolve("maptr", facts=facts, target="moon")
    with pytest.raises(TargetError):
        resolve("maptr", python="/nowhere/python")
