"""The simulated loader finds, refuses and binds as glibc's does."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Dict, List, Optional

import pytest

sys.path.append(str(Path(__file__).resolve().parent))

from worlds import Offered, Wanted, World


def paths(world: World, outcome: Any) -> List[str]:
    return [str(Path(one.path).resolve().relative_to(world.root)) for one in outcome.objects]


@pytest.mark.parametrize(
    ("rpath", "runpath", "library_path", "taken"),
    [
        (None, "{root}/run", None, "run/liba.so"),
        ("{root}/r", None, None, "r/liba.so"),
        ("{root}/r", "{root}/run", None, "run/liba.so"),  # a RUNPATH makes the RPATH void
        ("{root}/r", None, "{root}/env", "r/liba.so"),  # an RPATH comes before the variable
        (None, "{root}/run", "{root}/env", "env/liba.so"),  # a RUNPATH after it
        (None, None, "{root}/gone:{root}/env", "env/liba.so"),
        (None, None, "relative::{root}/env", "env/liba.so"),
        ("$ORIGIN/../r", None, None, "r/liba.so"),
        (None, "${ORIGIN}/../run", None, "run/liba.so"),
        (None, None, None, None),
        ("{root}/gone", None, None, None),
    ],
)
def test_where_a_library_is_looked_for(
    tmp_path: Path,
    rpath: Optional[str],
    runpath: Optional[str],
    library_path: Optional[str],
    taken: Optional[str],
) -> None:
    world = World(tmp_path)
    for folder in ("r", "run", "env"):
        world.put(f"{folder}/liba.so", "liba.so")
    if library_path is not None:
        world.environ["LD_LIBRARY_PATH"] = library_path.format(root=tmp_path)

    def at(text: Optional[str]) -> Optional[str]:
        return None if text is None else text.replace("{root}", str(tmp_path))

    outcome = world.open("ext/m.so", needed=["liba.so"], rpath=at(rpath), runpath=at(runpath))
    assert outcome.loads is (taken is not None)
    if taken is None:
        assert [lack.name for lack in outcome.lacks] == ["liba.so"]
    else:
        assert paths(world, outcome) == ["ext/m.so", taken]


def test_an_rpath_is_inherited_and_a_runpath_is_not(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.put("lib/liba.so", "liba.so", ["libb.so"])
    world.put("lib/libb.so", "libb.so")
    assert world.open("m1.so", needed=["liba.so"], rpath="$ORIGIN/lib").loads
    outcome = world.open("m2.so", needed=["liba.so"], runpath="$ORIGIN/lib")
    assert [(lack.name, Path(lack.by).name) for lack in outcome.lacks] == [("libb.so", "liba.so")]


def test_the_rpath_of_the_program_serves_all(tmp_path: Path) -> None:
    """conda's interpreters have one."""
    world = World(tmp_path, rpath="$ORIGIN/../lib")
    world.put("lib/liba.so", "liba.so")
    assert world.open("m.so", needed=["liba.so"]).loads
    assert not world.open("n.so", needed=["liba.so"], runpath="/nowhere").loads


def test_a_name_with_a_slash_is_a_path(tmp_path: Path) -> None:
    world = World(tmp_path)
    path = world.put("odd/liba.so", "liba.so")
    assert world.open("m.so", needed=[path]).loads
    assert world.open("n.so", needed=["$ORIGIN/odd/liba.so"]).loads
    assert not world.open("o.so", needed=[str(tmp_path / "gone/liba.so")]).loads


def test_the_origin_is_where_a_link_lies(tmp_path: Path) -> None:
    """Not where it leads to: uv links files of its cache into environments."""
    world = World(tmp_path)
    world.put("lib/libb.so", "libb.so")
    world.put("store/liba.so", "liba.so", ["libb.so"], runpath="$ORIGIN")
    (tmp_path / "lib/liba.so").symlink_to("../store/liba.so")
    assert world.open("m.so", needed=["liba.so"], runpath="$ORIGIN/lib").loads
    assert not world.open("n.so", needed=["liba.so"], runpath="$ORIGIN/store").loads


def test_what_is_loaded_serves_its_soname(tmp_path: Path) -> None:
    world = World(tmp_path)
    process = world.process()
    assert process.open(world.put("one/x.so", "liba.so", exports=[Offered("f")])).loads
    module = world.put("m.so", needed=["liba.so"], wants=[Wanted("f")], runpath="$ORIGIN/two")
    world.put("two/liba.so", "liba.so")
    assert process.open(module).loads
    assert not world.process().open(module).loads


def test_what_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.put("lib/liba.so", "liba.so")
    process = world.process()
    broken = world.put("m.so", needed=["liba.so", "gone.so"], runpath="$ORIGIN/lib")
    assert not process.open(broken).loads
    assert not process.open(world.put("n.so", needed=["liba.so"])).loads


def test_files_for_other_machines_are_passed_over(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.put("one/liba.so", "liba.so", wide=False, machine=3)
    world.put("two/liba.so", "liba.so", machine=183)
    world.put("three/liba.so", "liba.so")
    path = "$ORIGIN/one:$ORIGIN/two:$ORIGIN/three"
    outcome = world.open("m.so", needed=["liba.so"], rpath=path)
    assert paths(world, outcome) == ["m.so", "three/liba.so"]
    outcome = world.open("n.so", needed=["liba.so"], rpath="$ORIGIN/one")
    assert outcome.lacks[0].passed_over == (f"{tmp_path}/one/liba.so: it is for i386 with 32 bits",)


def test_the_loader_gives_up_at_what_is_no_library(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.write("one/liba.so", b"INPUT(liba.so.1)\n")
    world.put("two/liba.so", "liba.so")
    outcome = world.open("m.so", needed=["liba.so"], rpath="$ORIGIN/one:$ORIGIN/two")
    assert [lack.name for lack in outcome.lacks] == ["liba.so"]


def test_a_circle_of_libraries(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.put("lib/liba.so", "liba.so", ["libb.so"], runpath="$ORIGIN")
    world.put("lib/libb.so", "libb.so", ["liba.so"], runpath="$ORIGIN")
    outcome = world.open("m.so", needed=["liba.so"], runpath="$ORIGIN/lib")
    assert paths(world, outcome) == ["m.so", "lib/liba.so", "lib/libb.so"]


# --- symbols -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "loads"),
    [
        (Wanted("of_a"), True),
        (Wanted("of_b"), True),  # in what liba needs
        (Wanted("PyModule_Create2"), True),  # in the program
        (Wanted("gone"), False),
        (Wanted("gone", weak=True), True),
        (Wanted("gone", referenced=False), True),
        (Wanted("of_module"), True),  # defined by the module that wants it: by its own table
    ],
)
def test_which_symbols_are_missed(tmp_path: Path, wanted: Wanted, loads: bool) -> None:
    world = World(tmp_path)
    lib: Dict[str, Any] = {"runpath": "$ORIGIN"}
    world.put("lib/liba.so", "liba.so", ["libb.so"], [Offered("of_a")], **lib)
    world.put("lib/libb.so", "libb.so", exports=[Offered("of_b")])
    outcome = world.open(
        "m.so",
        needed=["liba.so"],
        exports=[Offered("of_module")],
        wants=[wanted],
        runpath="$ORIGIN/lib",
    )
    assert outcome.loads is loads
    if not loads:
        assert [one.symbol for one in outcome.symbols] == [wanted.name.encode()]


def test_a_library_may_use_what_the_module_defines(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.put("lib/liba.so", "liba.so", wants=[Wanted("call_back")])
    fields: Dict[str, Any] = {"needed": ["liba.so"], "runpath": "$ORIGIN/lib"}
    assert world.open("m.so", exports=[Offered("call_back")], **fields).loads
    outcome = world.open("n.so", **fields)
    assert [(one.symbol, Path(one.by).name) for one in outcome.symbols] == [
        (b"call_back", "liba.so")
    ]


def test_modules_do_not_see_each_other_unless_one_is_global(tmp_path: Path) -> None:
    world = World(tmp_path)
    giver = world.put("giver.so", exports=[Offered("f")])
    taker = world.put("taker.so", wants=[Wanted("f")])
    alone = world.process()
    assert alone.open(giver).loads
    assert not alone.open(taker).loads
    shared = world.process()
    assert shared.open(giver, is_global=True).loads
    assert shared.open(taker).loads


def test_asking_changes_nothing(tmp_path: Path) -> None:
    world = World(tmp_path)
    process = world.process()
    before = list(process.objects)
    assert process.open(world.put("a.so", "liba.so"), is_global=True, keep=False).loads
    assert process.objects == before
    assert not process.open(world.put("m.so", needed=["liba.so"])).loads


def test_a_fork_goes_its_own_way(tmp_path: Path) -> None:
    world = World(tmp_path)
    first = world.process()
    second = first.fork()
    giver = world.put("giver.so", "libgiver.so", exports=[Offered("f")])
    assert second.open(giver, is_global=True).loads
    taker = world.put("taker.so", needed=["libgiver.so"], wants=[Wanted("f")])
    assert second.open(taker).loads
    assert not first.open(taker).loads


def test_preloaded_libraries_come_first(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.environ["LD_PRELOAD"] = f"{world.put('pre.so', exports=[Offered('f')])} /gone.so"
    assert world.open("m.so", wants=[Wanted("f")]).loads


# --- versions ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("exports", "version", "missing"),
    [
        ([Offered("f", "A_1")], "A_1", None),
        ([Offered("f", "A_1")], "A_2", "A_2"),
        ([Offered("f")], "A_2", None),  # a file without versions: the loader only warns
        ([Offered("f", "A_1"), Offered("g", "A_2")], "A_2", "symbol"),
        ([Offered("f", "A_1", hidden=True), Offered("f", "A_2")], "A_1", None),
    ],
)
def test_versions(
    tmp_path: Path, exports: List[Offered], version: str, missing: Optional[str]
) -> None:
    world = World(tmp_path)
    world.put("lib/liba.so", "liba.so", exports=exports)
    wants = [Wanted("f", version, "liba.so")]
    outcome = world.open("m.so", needed=["liba.so"], wants=wants, runpath="$ORIGIN/lib")
    assert [one.version for one in outcome.versions] == (
        [missing] if missing not in (None, "symbol") else []
    )
    assert [one.symbol for one in outcome.symbols] == ([b"f"] if missing == "symbol" else [])
    assert outcome.loads is (missing is None)


def test_a_weak_version_may_be_missing(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.put("lib/liba.so", "liba.so", exports=[Offered("f", "A_1")])
    for weak in (True, False):
        outcome = world.open(
            f"m{weak}.so",
            needed=["liba.so"],
            needs=[("liba.so", "A_2", weak)],
            runpath="$ORIGIN/lib",
        )
        assert outcome.loads is weak
    (version,) = outcome.versions
    assert version.file == f"{tmp_path}/lib/liba.so"
    assert version.origin == "RUNPATH"
