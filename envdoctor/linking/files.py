"""The shared objects of an environment that an import may load."""

from __future__ import annotations

import os
import re
from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple

from envdoctor.facts.probe import SPARE, FileList, lines_with, path_of, read_file
from envdoctor.facts.project.tree import Tree
from envdoctor.model.facts import Distribution, Target
from envdoctor.relations.environment import imported

_MAX_LIST = 1 << 24
_MAX_FILES = 20_000
_VERSIONED = re.compile(r"\.so(\.[0-9]+)*$")
_FOREIGN = re.compile(r"\.(?:cpython|cp|pypy|graalpy)[-\d]\S*\.so$")


class SharedObject(NamedTuple):
    """A shared object of an environment."""

    path: str
    module: str = ""  # as it is imported, "mmcv._ext"; "" where its place or name allows none
    distribution: str = ""  # canonical name; "" of what belongs to none
    root: str = ""  # the project whose tree it lies in, if it was found there
    wanted: str = ""  # the module that it is for another Python, and of which this has no file


def suffixes(target: Target) -> Tuple[str, ...]:
    """How the names of extension modules of an interpreter end, the first that it takes first."""
    return (f".{target.soabi}.so", ".abi3.so", ".so") if target.soabi else (".abi3.so", ".so")


def shared_objects(
    target: Target,
    projects: Tuple[str, ...] = (),
    looked: Optional[Dict[str, None]] = None,
) -> List[SharedObject]:
    """What the lists of the distributions that are imported name, and what lies in their folders.

    Of what is installed in place, and of `projects`, which are folders, the trees are walked. Lists
    and folders that were read are added to `looked`.
    """
    looked = {} if looked is None else looked
    found: Dict[str, SharedObject] = {}
    ends = suffixes(target)
    for name, distribution in imported(target).items():
        for one in _of_distribution(name, distribution, ends, looked):
            found.setdefault(one.path, one)
            if len(found) >= _MAX_FILES:
                return list(found.values())
    for module, place in target.modules.items():
        if os.path.isdir(place) and module not in ("pkg_resources", "setuptools"):  # noqa: PTH112
            for one in walked(place, ends, looked):
                found.setdefault(one.path, one)
    for root in projects:
        for one in walked(root, ends, looked):
            found[one.path] = one._replace(root=root, distribution=_owner(one.path, found))
    for one in _compiled_at_run_time(target, ends, looked):
        found.setdefault(one.path, one)
    return list(found.values())[:_MAX_FILES]


def _owner(path: str, found: Dict[str, SharedObject]) -> str:
    return found[path].distribution if path in found else ""


def _of_distribution(
    name: str, distribution: Distribution, ends: Tuple[str, ...], looked: Dict[str, None]
) -> Iterator[SharedObject]:
    if distribution.editable and os.path.isdir(distribution.editable):  # noqa: PTH112
        for one in walked(distribution.editable, ends, looked):
            yield one._replace(distribution=name)
        return
    for path in listed(distribution, looked):
        module = "" if SPARE.search(os.fsencode(path)) else module_of(path, ends)
        full = os.path.normpath(f"{distribution.search_entry}/{path}")
        yield SharedObject(full, module, name)


def listed(distribution: Distribution, looked: Dict[str, None]) -> List[str]:
    """The shared objects in a distribution's list of files, from its search entry on.

    Where there is no list (an egg, `setup.py develop`), those in the folders of its modules. What
    was read is added to `looked`.
    """
    entry, folder = distribution.search_entry, distribution.path
    looked[f"{folder}/RECORD"] = None
    data = read_file(f"{folder}/RECORD", _MAX_LIST, [])
    inside = b""
    if not data and folder.startswith(entry + "/"):
        looked[f"{folder}/installed-files.txt"] = None
        data = read_file(f"{folder}/installed-files.txt", _MAX_LIST, [])
        inside = os.fsencode(folder[len(entry) + 1 :])
    if data:
        lines = FileList(data, inside).data if inside else data
        paths = [path_of(line).replace(b"\\", b"/") for line in lines_with(b".so", lines)]
        return [
            os.fsdecode(path) for path in paths if path and _VERSIONED.search(os.fsdecode(path))
        ]
    found: List[str] = []
    for module in distribution.modules:
        place = f"{entry}/{module}"
        if os.path.isdir(place):  # noqa: PTH112
            tree = Tree(place)
            found += [f"{module}/{path}" for path in tree.files((".so",))]
            looked.update(dict.fromkeys(map(tree.full, tree.folders)))
        else:
            files = {f"{module}{end}": f"{place}{end}" for end in (".so", ".abi3.so")}
            looked.update(dict.fromkeys(files.values()))
            found += [name for name, path in files.items() if os.path.exists(path)]  # noqa: PTH110
    return found


def walked(root: str, ends: Tuple[str, ...], looked: Dict[str, None]) -> Iterator[SharedObject]:
    """The shared objects in a tree, named by the packages that they lie in.

    The folders of the tree are added to `looked`.
    """
    tree = Tree(root)
    files = tree.files((".so",))
    looked.update(dict.fromkeys(map(tree.full, tree.folders)))
    for path in files:
        full = f"{root.rstrip('/')}/{path}"
        folder, _, file = full.rpartition("/")
        stem = module_of(file, ends)
        foreign = "" if stem or not _FOREIGN.search(file) else file.partition(".")[0]
        if foreign and any(_exists(f"{folder}/{foreign}{end}") for end in (*ends, ".py", "")):
            foreign = ""
        yield SharedObject(full, _qualified(folder, stem), wanted=_qualified(folder, foreign))


def _qualified(folder: str, stem: str) -> str:
    """The dotted name of a module in a folder, by the packages that this lies in; "" if none."""
    while stem and os.path.isfile(f"{folder}/__init__.py"):  # noqa: PTH113
        folder, _, package = folder.rpartition("/")
        stem = f"{package}.{stem}" if package.isidentifier() else ""
    return stem


def _exists(path: str) -> bool:
    return os.path.exists(path)  # noqa: PTH110


def is_foreign(path: str) -> bool:
    """Whether a file's name says that it is a module of one Python, whichever."""
    return bool(_FOREIGN.search(path))


def module_of(path: str, ends: Tuple[str, ...]) -> str:
    """The name under which this interpreter imports a file, from the search entry; "" if none."""
    folder, _, file = path.rpartition("/")
    if _FOREIGN.search(file) and not file.endswith(ends[0]):
        return ""
    stem = next((file[: -len(end)] for end in ends if file.endswith(end)), "")
    parts = [*folder.split("/"), stem] if folder else [stem]
    return ".".join(parts) if all(part.isidentifier() for part in parts) else ""


def _compiled_at_run_time(
    target: Target, ends: Tuple[str, ...], looked: Dict[str, None]
) -> Iterator[SharedObject]:
    """What torch.utils.cpp_extension.load compiled and kept, for this Python and torch.

    torch/utils/cpp_extension.py, get_default_build_root and _get_build_directory.
    """
    root = target.environ.get("TORCH_EXTENSIONS_DIR", "")
    if target.torch is None:
        return
    if not root:
        cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111
        cuda = target.torch.cuda.value
        if cuda is None or not cache.startswith("/"):
            return
        python = "".join(target.version.split(".")[:2])
        tag = "cpu" if cuda == "cpu" else "cu" + cuda.replace(".", "")
        root = f"{cache}/torch_extensions/py{python}_{tag}"
    looked[root] = None
    if os.path.isdir(root):  # noqa: PTH112
        yield from walked(root, ends, looked)
