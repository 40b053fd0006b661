"""What strangers wrote into names, versions, URLs and lines does nothing in a lock."""

from __future__ import annotations

from pathlib import Path
from typing import Callable, Dict, List, Tuple

import msgspec
import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st
from lock_shell import called
from lock_stacks import CU118, MAPTR, PATCHED, PYPI, digest, member, resolution, wheel

from envdoctor.model.resolution import Artefact, Bound, Member, Relaxed, Resolution
from envdoctor.resolver.lock.pylock import pylock
from envdoctor.resolver.lock.requirements import requirements
from envdoctor.resolver.lock.script import script
from envdoctor.resolver.lock.written import LockError

HOSTILE = [
    "$(touch CANARY)",
    "`touch CANARY`",
    "; touch CANARY",
    "' ; touch CANARY ; '",
    '" ; touch CANARY ; "',
    "\ntouch CANARY\n",
    "\r\ntouch CANARY\r",
    "\\\ntouch CANARY",
    "END_OF_FILE\ntouch CANARY",
    "a\u2028touch CANARY\u0085touch CANARY",
    "*\\",
    "${HOME}",
    "--index-url https://evil.example/simple",
    "-r /etc/passwd",
    "torch\n--extra-index-url https://evil.example/simple",
    "x #sha256=0",
    "\x00\x1b[31m",
    "{{ 7*7 }}{% raw %}",
    "{name}",
]

#: Where strangers' text may stand: {where: a stack with it there}.
PLACES: Dict[str, Callable[[str], Resolution]] = {
    "component": lambda text: resolution(Member(text, "1.0")),
    "version": lambda text: resolution(Member("a", text)),
    "requirement": lambda text: resolution(Member("a", "1", requirement=f"a=={text}")),
    "argument": lambda text: resolution(member("a==1", text)),
    "index": lambda text: resolution(member("a==1+b", "--index-url", text)),
    "page": lambda text: resolution(member("a==1+b", "-f", f"https://a.example/{text}.html")),
    "only binary": lambda text: resolution(member("a==1", "--only-binary", text)),
    "tree": lambda text: resolution(Member("a", "1", origin="source", tree=text)),
    "patch": lambda text: resolution(member("a==1", origin="source", patches=(text,))),
    "module": lambda text: resolution(
        member("a==1", origin="source", variant={"imports": [text], "compiles": text})
    ),
    "repository": lambda text: resolution(Member("a", "1", {"repository": text}, origin="source")),
    "toolkit": lambda text: resolution(
        Member("build.toolkit", text, origin="image"),
        member("a==1", origin="source", variant={"compiles": "cuda"}),
    ),
    "architecture": lambda text: resolution(
        member("a==1", origin="source", variant={"compiles": "cuda"}), architectures=(text,)
    ),
    "python": lambda text: resolution(Member("python", text), member("a==1")),
    "image": lambda text: resolution(Member("image", text, origin="image"), member("a==1")),
    "asked": lambda text: msgspec.structs.replace(MAPTR, asked=(text,)),
    "machine": lambda text: msgspec.structs.replace(PYPI, machine=(text,)),
    "assumption": lambda text: msgspec.structs.replace(PATCHED, assumptions=(text,)),
    "relaxed": lambda text: msgspec.structs.replace(PATCHED, relaxed=(Relaxed(text, text),)),
    "date": lambda text: msgspec.structs.replace(PYPI, matrices_date=text, envdoctor_version=text),
    "rest": lambda text: resolution(member("a==1"), rest=(text,)),
    "rest, editable": lambda text: resolution(member("a==1"), rest=(f"-e {text}", f"./{text}")),
    "rest, URL": lambda text: resolution(member("a==1"), rest=(f"b @ https://b.example/{text}",)),
    "bound": lambda text: resolution(member("a==1"), constraints=(Bound(text, "<2"),)),
    "bound specifier": lambda text: resolution(member("a==1"), constraints=(Bound("b", text),)),
    "artefact": lambda text: resolution(member("a==1"), tree=(Artefact(text, "1"),)),
    "artefact version": lambda text: resolution(
        member("a==1"), tree=(Artefact("b", text, hashes={"sha256": digest("b")}),)
    ),
    "artefact URL": lambda text: resolution(
        member("a==1+c", "--index-url", CU118),
        tree=(wheel("a", "1+c", url=f"{CU118}/{text}", index=text),),
    ),
    "artefact hash": lambda text: resolution(
        member("a==1"), tree=(wheel("a", "1", hashes={"sha256": text, text: text}),)
    ),
}


def written(answer: Resolution) -> Tuple[str, List[str]]:
    """The script and the lines of requirement files of a stack; none of what is refused."""
    shell, files = outcome(script, answer), outcome(requirements, answer)
    return (shell if shell.startswith("#!") else ""), (
        files.split("\n") if files.startswith("# ") else []
    )


OPTIONS = (
    "--find-links https://",
    "--index-url https://",
    "--constraint constraints.txt",
    "--only-binary ",
    "--no-binary ",
    "--editable ",
)


@pytest.mark.parametrize("place", PLACES)
def test_nothing_is_run_and_no_index_is_named(place: str, tmp_path: Path) -> None:
    for text in HOSTILE:
        shell, lines = written(PLACES[place](text))
        for line in lines:
            plain = "" if line.startswith("#") else line
            assert "${" not in plain
            assert not plain.startswith("-") or plain.startswith(OPTIONS)
            assert "evil" not in plain or place in ("index", "page")
        if shell:
            for call in called(shell, tmp_path, "env"):
                assert "-r" not in call or call[call.index("-r") + 1].startswith("WORK/")
                assert not [word for word in call if word.startswith("--extra-index-url")]
            assert not (tmp_path / "CANARY").exists()


@for_all(
    place=st.sampled_from(sorted(PLACES)),
    text=st.one_of(
        st.sampled_from(HOSTILE),
        st.text(
            alphabet=st.sampled_from(
                list("ab1.-_/\\ '\"$`;&|<>(){}[]#\n\r\t!*?~=@+:,中\x85\ud800")
            ),
            max_size=12,
        ),
    ),
)
def test_any_text(place: str, text: str) -> None:
    """Every writer either writes or refuses with LockError; what it wrote can be encoded."""
    for write in (script, requirements, pylock):
        made = outcome(write, PLACES[place](text))
        made.encode()


def outcome(write: Callable[[Resolution], object], answer: Resolution) -> str:
    """What a writer makes of a stack, or the words with which it refuses."""
    try:
        made = write(answer)
    except LockError as refusal:
        words = str(refusal)
        return words if words.isprintable() else words + "\ud800"  # which cannot be encoded
    return made if isinstance(made, str) else "".join(file.text for file in made)  # type: ignore[attr-defined]


@pytest.mark.parametrize("text", ["1.", ".1", "9.0 ", "9.0b", "9.0+PTX;rm", "\u0669.0", ""])
def test_what_is_no_architecture_is_refused(text: str) -> None:
    assert "architecture" in outcome(script, PLACES["architecture"](text))
