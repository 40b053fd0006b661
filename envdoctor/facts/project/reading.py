"""Reads the source tree of a project into a record of what it needs of its environment."""

from __future__ import annotations

import os
import posixpath
import re
import sys
import sysconfig
import threading
from pathlib import Path
from typing import Callable, Dict, Iterable, List, Optional, Sequence, Set, Tuple

from envdoctor.facts.project import scripts, tree
from envdoctor.facts.project.cxx import CxxReader
from envdoctor.facts.project.python import PythonReader
from envdoctor.facts.project.tree import Tree
from envdoctor.model.facts import InterfaceUse, Project
from envdoctor.model.interface import OPTION, Interface
from envdoctor.model.text import clean

#: Places that are kept of each interface; how many there are in all is counted.
KEPT = 3
#: Interfaces that are kept of a project; where it uses more, those that it uses most.
MOST = 200
_KEPT_IMPORTS = 40
_KEPT_SUBMODULES = 20
_KEPT_PACKAGES = 100
#: Folders whose files people start, besides the root.
_ENTRIES = ("", "tools", "scripts", "bin")
_SETUP = ("setup.py", "pyproject.toml")
#: Files in which a package tells its version.
_VERSIONS = ("version.py", "_version.py", "__version__.py", "__about__.py", "__init__.py")
_VERSION = re.compile(
    r"^__version__[ \t]*(?::[ \t]*str[ \t]*)?=[ \t]*"
    r"(?P<quote>['\"])(?P<version>[\w.+!-]{1,60})(?P=quote)",
    re.MULTILINE,
)
#: For syntax trees that are nested deeply, which Python builds by recursion in C.
_STACK = 512 * 1024 * 1024
_LONGEST = 200


class ProjectError(Exception):
    """A source tree cannot be read; the message is one sentence for the user."""


def read(
    root: str, interfaces: Iterable[Interface], path: Optional[Sequence[str]] = None
) -> Project:
    """What the source tree at `root` uses of `interfaces`, and what it lacks itself.

    `path` is the search path of the environment on this machine; without it no module is said to
    be missing. Raises ProjectError if `root` is no folder that can be listed.
    """
    try:
        full = os.path.normpath(Path(root).absolute())
        os.scandir(full).close()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ProjectError(f"--project {root}: cannot be read: {reason}") from error
    except ValueError as error:
        raise ProjectError(f"--project {root!r}: cannot be read: {error}") from error
    return _with_room(lambda: _Reading(full, tuple(interfaces), path).project())


def _with_room(work: Callable[[], Project]) -> Project:
    """The result of `work`, done on a stack that no source exhausts; raises what it raises."""
    results: List[Project] = []
    errors: List[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # raised again in the caller's thread
            errors.append(error)

    previous = threading.stack_size()
    for size in (_STACK, _STACK // 8, 0):
        try:
            threading.stack_size(size)
            thread = threading.Thread(target=run, daemon=True)
            thread.start()
            break
        except (RuntimeError, ValueError, MemoryError):  # a limit of address space
            continue
        finally:
            threading.stack_size(previous)
    else:
        run()
        thread = threading.current_thread()
    if thread is not threading.current_thread():
        thread.join()
    if errors:
        raise errors[0]
    return results[0]


class _Reading:
    """One reading of one tree."""

    def __init__(
        self, root: str, interfaces: Tuple[Interface, ...], path: Optional[Sequence[str]]
    ) -> None:
        self.root = root
        self.path = path
        self.tree = Tree(root)
        self.files = self.tree.files((*tree.PYTHON, *tree.CXX, *tree.SHELL))
        self.paths = set(self.files)
        self.own = self._own_modules()
        self.python = PythonReader(i for i in interfaces if i.name.split(".")[0] not in self.own)
        self.cxx = CxxReader(interfaces)
        self.options = {i.name for i in interfaces if i.kind == OPTION}
        self.places: Dict[str, List[str]] = {}
        self.patched: Set[str] = set()
        self.imports: Dict[str, str] = {}
        self.launches: List[scripts.Launch] = []
        self.read = 0

    def project(self) -> Project:
        """What was read of it."""
        unread = 0
        for path in self.files:
            text = self.tree.text(path)
            if text is None:
                continue
            self.read += 1
            if path.endswith(tree.PYTHON):
                unread += not self._python(path, text)
            elif path.endswith(tree.CXX):
                uses, defined = self.cxx.uses(text)
                self._keep(path, uses)
                self.patched |= defined
            else:
                self.launches += scripts.launches(path, text)
        self.launches += scripts.launches("README.md", self.tree.text_if_there("README.md"))
        if unread:
            self.tree.note("some Python files have a syntax that is not understood here")
        return Project(
            root=self.root,
            files=self.read,
            uses=tuple(self._uses()),
            submodules=self._submodules(),
            packages=self._packages(),
            unresolved=self._unresolved(),
            sought=self.path is not None,
            problems=tuple(self.tree.reasons()),
        )

    def _python(self, path: str, text: str) -> bool:
        """Note what a Python file uses; return whether its syntax was understood."""
        folder = posixpath.dirname(path)
        is_entry = folder in _ENTRIES and posixpath.basename(path) not in _SETUP
        found = self.python.read(text, is_entry)
        self._keep(path, [use for use in found.uses if not self._is_beside(folder, use.name)])
        self.patched.update(found.patched)
        for module, line in found.imports:
            if not self._is_beside(folder, module):
                self.imports.setdefault(module, f"{path}:{line}")
        return found.is_read

    def _is_beside(self, folder: str, name: str) -> bool:
        """Whether a script's own folder has a module of that name, which comes first."""
        module = posixpath.join(folder, name.split(".")[0])
        return f"{module}.py" in self.paths or f"{module}/__init__.py" in self.paths

    def _keep(self, path: str, uses: Iterable[Tuple[str, int]]) -> None:
        for name, line in uses:
            self.places.setdefault(name, []).append(f"{clean(path, _LONGEST)}:{line}")

    def _own_modules(self) -> Set[str]:
        """Top-level modules that the project itself provides, as far as its layout shows."""
        tops = {"", "src"}
        for path in self.paths:
            if posixpath.basename(path) == "setup.py":
                tops |= {posixpath.dirname(path), posixpath.join(posixpath.dirname(path), "src")}
        own = set()
        for path in self.paths:
            folder, name = posixpath.split(path)
            if name == "__init__.py" and posixpath.dirname(folder) in tops and folder:
                own.add(posixpath.basename(folder))
        return own

    def _uses(self) -> Iterable[InterfaceUse]:
        used = [name for name in self.places if name not in self.patched]
        if len(used) > MOST:
            used = sorted(used, key=lambda name: -len(self.places[name]))[:MOST]
            self.tree.note("of more names than are kept, those that are used most were kept")
        for name in sorted(used):
            if name not in self.options:
                places = self.places[name]
                yield InterfaceUse(name, len(places), tuple(places[:KEPT]))
                continue
            started: Dict[str, List[str]] = {}
            for place in self.places[name]:
                by = scripts.launched(place.rpartition(":")[0], self.launches)
                started.setdefault(by, []).append(place)
            for by, places in started.items():
                if by:
                    yield InterfaceUse(name, len(places), tuple(places[:KEPT]), by)
            if set(started) == {""}:
                yield InterfaceUse(name, len(started[""]), tuple(started[""][:KEPT]))

    def _submodules(self) -> Dict[str, str]:
        """{folder of a git submodule that is not there or empty: the line that names it}."""
        found: Dict[str, str] = {}
        text = self.tree.text_if_there(".gitmodules")
        for number, line in enumerate(text.split("\n"), 1):
            key, sign, value = line.partition("=")
            if key.strip() != "path" or not sign or len(found) == _KEPT_SUBMODULES:
                continue
            folder = posixpath.normpath(value.strip().strip('"'))
            if folder.startswith(("/", "..")) or folder == "." or not folder.isprintable():
                continue
            try:
                filled = any(True for _ in os.scandir(self.tree.full(folder)))
            except FileNotFoundError:
                filled = False
            except OSError:
                continue  # it is there, and not ours to read
            if not filled:
                found[folder] = f".gitmodules:{number}"
        return found

    def _packages(self) -> Dict[str, str]:
        """{package that lies at the root: its version, as its files tell it}."""
        found: Dict[str, str] = {}
        for path in sorted(self.paths):
            folder, name = posixpath.split(path)
            if name != "__init__.py" or not folder or "/" in folder:
                continue
            if len(found) < _KEPT_PACKAGES:
                found[folder] = self._version_of(folder)
        return found

    def _version_of(self, package: str) -> str:
        for name in _VERSIONS:
            path = f"{package}/{name}"
            if path in self.paths:
                match = _VERSION.search(self.tree.text_if_there(path))
                if match is not None:
                    return match["version"]
        return ""

    def _unresolved(self) -> Dict[str, str]:
        """{module that entry files import and nothing on the search path serves: the place}."""
        if self.path is None:
            return {}
        anywhere = {posixpath.basename(posixpath.dirname(path)) for path in self.paths}
        anywhere |= {posixpath.basename(path)[: -len(".py")] for path in self.paths}
        anywhere |= {posixpath.basename(folder) for folder in self.tree.folders}
        served = _Served(self.path)
        if not served.is_whole:
            return {}
        found: Dict[str, str] = {}
        for module, place in self.imports.items():
            if len(found) < _KEPT_IMPORTS and module not in anywhere and module not in served:
                found[module] = place
        return found


class _Served:
    """The modules that a search path serves, by the names of its files."""

    def __init__(self, path: Sequence[str]) -> None:
        self.names: Set[str] = set(sys.builtin_module_names)
        self.names |= set(getattr(sys, "stdlib_module_names", ()))
        self.is_whole = True
        for entry in (*path, sysconfig.get_paths()["stdlib"]):
            try:
                with os.scandir(entry or ".") as scan:
                    listed = [one.name for one in scan]
            except FileNotFoundError:
                continue  # python38.zip of the standard library, which most have not
            except OSError:
                self.is_whole = False  # an archive, or nobody's to read
                continue
            self.names.update(name.split(".")[0] for name in listed)

    def __contains__(self, module: str) -> bool:
        return module in self.names
