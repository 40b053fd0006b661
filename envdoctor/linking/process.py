"""A process whose dynamic loader is simulated: what it has loaded, and what loading more would do.

What is simulated is glibc's: elf/dl-open.c, dl-load.c, dl-deps.c, dl-version.c and dl-lookup.c.
Names are bound when a library is loaded (RTLD_NOW), as Python and ctypes ask for.
"""

from __future__ import annotations

import contextlib
import os
import resource
from typing import Dict, FrozenSet, Iterable, Iterator, List, NamedTuple, Optional, Set, Tuple

from envdoctor.elf.image import ElfError, UnreadableError, failed
from envdoctor.elf.library import Library, open_library
from envdoctor.elf.symbols import Undefined
from envdoctor.linking.search import Place, Search

_MAX_OBJECTS = 2000  # that one library draws in
_MAX_LOOKED = 12
#: Files that are kept open, of the 1024 that most systems let a process have.
_MAX_OPEN = min(400, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2)

_Identity = Tuple[int, int]


class Lack(NamedTuple):
    """A library that is not found."""

    name: str  # as NEEDED has it
    by: str  # the file that needs it
    looked: Tuple[str, ...] = ()  # the folders that were named for it, without the system's own
    passed_over: Tuple[str, ...] = ()  # files of that name that the loader cannot take, and why


class Unversioned(NamedTuple):
    """A version that a file does not define."""

    version: str
    file: str  # the path of the file that was loaded
    origin: str  # what made the loader take it
    by: str  # the file that asks for it


class Unresolved(NamedTuple):
    """A symbol that nothing defines."""

    symbol: bytes
    version: str
    file: str  # the SONAME that its version is asked of
    by: str  # the file that asks for it


class Outcome(NamedTuple):
    """How loading a file ends. It is loaded if nothing is told."""

    path: str
    problem: str = ""  # why the file itself cannot be loaded
    lacks: Tuple[Lack, ...] = ()
    versions: Tuple[Unversioned, ...] = ()
    symbols: Tuple[Unresolved, ...] = ()
    unread: str = ""  # a file that could not be read, and why: then nothing is sure
    objects: Tuple[Loaded, ...] = ()  # the file and all that it draws in, as the loader orders them

    @property
    def loads(self) -> bool:
        """Whether it is loaded."""
        return not (self.problem or self.unread or self.lacks or self.versions or self.symbols)


class Loaded:
    """A file in the process."""

    def __init__(
        self,
        path: str,
        origin: str,
        identity: _Identity,
        library: Library,
        loader: Optional[Loaded],
    ) -> None:
        """A file that `loader` draws in; None for the program and what it opens by path."""
        self.path = path
        self.origin = origin
        self.identity = identity
        self.library = library
        self.loader = loader
        self.names: Set[str] = {path}
        if library.dynamic.soname:
            self.names.add(library.dynamic.soname)
        # $ORIGIN: of the path by which it was found, links in it left as they are (_dl_new_object).
        self.folder = os.path.dirname(path)  # noqa: PTH120
        self.needed: List[Loaded] = []

    def exports(self, one: Undefined) -> bool:
        """Whether a reference binds to it."""
        return self.library.symbols.exports(one.name, one.version)


class Binaries:
    """The ELF files of one examination, each opened once. Close it, or use `with`."""

    def __init__(self) -> None:
        """Nothing is open."""
        self._open: Dict[_Identity, Library] = {}
        self._undefined: Dict[_Identity, Tuple[Undefined, ...]] = {}
        self._failed: Dict[str, str] = {}
        self.looked: Dict[str, None] = {}  # every path that was looked at

    def library(self, path: str) -> Tuple[_Identity, Library]:
        """A file by path. Raises ElfError if it cannot be read or is no ELF file."""
        self.looked[path] = None
        if path in self._failed:
            raise ElfError(self._failed[path])
        try:
            try:
                status = os.stat(path)  # noqa: PTH116
            except (OSError, ValueError) as error:
                raise failed(error) from None
            identity = (status.st_dev, status.st_ino)
            if identity not in self._open:
                self._open[identity] = open_library(path)
        except ElfError as error:
            self._failed[path] = str(error)
            raise
        return identity, self._open[identity]

    def undefined(self, identity: _Identity, library: Library) -> Tuple[Undefined, ...]:
        """What a file leaves undefined. Raises ElfError."""
        found = self._undefined.get(identity)
        if found is None:
            found = self._undefined[identity] = library.undefined()
        return found

    def release(self, keep: Iterable[Loaded]) -> None:
        """Close what is not in `keep`, where many files are open."""
        if len(self._open) < _MAX_OPEN:
            return
        kept = {one.identity for one in keep}
        for identity in [one for one in self._open if one not in kept]:
            self._open.pop(identity).close()
            self._undefined.pop(identity, None)

    def close(self) -> None:
        """Close all."""
        for library in self._open.values():
            library.close()
        self._open.clear()

    def __enter__(self) -> Binaries:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Process:
    """What a process has loaded. `fork` gives another that begins with the same."""

    def __init__(self, search: Search, binaries: Binaries, machine: str, bits: int = 64) -> None:
        """An empty process of a machine ("x86_64")."""
        self.search = search
        self.binaries = binaries
        self.machine = machine
        self.bits = bits
        self.objects: List[Loaded] = []
        self.scope: List[Loaded] = []  # the global one
        self._main: Optional[Loaded] = None
        self._by_name: Dict[str, Loaded] = {}
        self._by_identity: Dict[_Identity, Loaded] = {}
        self._bound: Dict[Tuple[bytes, str], bool] = {}  # by the global scope
        self._whole: Dict[_Identity, FrozenSet[_Identity]] = {}

    def fork(self) -> Process:
        """Another process that has loaded the same."""
        other = Process(self.search, self.binaries, self.machine, self.bits)
        other.objects = list(self.objects)
        other.scope = list(self.scope)
        other._main = self._main
        other._by_name = dict(self._by_name)
        other._by_identity = dict(self._by_identity)
        other._bound = self._bound  # the same scope: `_extend` gives it one of its own
        other._whole = dict(self._whole)
        return other

    # --- starting

    def start(self, program: str, preloads: Tuple[str, ...] = ()) -> Outcome:
        """Load the program, which is first in the global scope with all that it needs.

        Its symbols are bound when they are used, so of it only libraries and versions are missed.
        """
        outcome, added = self._map(program, "the program", None, tuple(preloads))
        outcome = outcome._replace(versions=self._check_versions(added))
        if outcome.loads:
            self._add(added)
            self._main = added[0]
            self._extend(added)
        return outcome

    # --- loading

    def open(self, path: str, is_global: bool = False, keep: bool = True) -> Outcome:
        """Load a file by its path, as `dlopen` with RTLD_NOW; what fails leaves nothing behind.

        `keep`: False to ask what would come of it, and leave the process as it is.
        """
        outcome, added = self._map(path, "its path", self._main)
        if not (outcome.problem or outcome.lacks or outcome.unread):
            versions = self._check_versions(added)
            symbols: Tuple[Unresolved, ...] = ()
            if not versions:
                symbols = tuple(self._unresolved(added, outcome.objects))
            outcome = outcome._replace(versions=versions, symbols=symbols)
        if outcome.loads and keep:
            self._add(added)
            if is_global:
                self._extend(outcome.objects)
        return outcome

    def _add(self, added: List[Loaded]) -> None:
        for one in added:
            self.objects.append(one)
            self._by_identity[one.identity] = one
            for name in one.names:
                self._by_name.setdefault(name, one)

    def _extend(self, objects: Iterable[Loaded]) -> None:
        held = {id(one) for one in self.scope}
        self.scope += [one for one in objects if id(one) not in held]
        self._bound = {}

    def _map(
        self, path: str, origin: str, loader: Optional[Loaded], preloads: Tuple[str, ...] = ()
    ) -> Tuple[Outcome, List[Loaded]]:
        """Find a file and all that it needs, the breadth first; also what of it is new here."""
        names: Dict[str, Loaded] = {}
        added: List[Loaded] = []
        try:
            root = self._take(Place(path, origin), loader, names, added)
        except ElfError as error:
            return Outcome(path, str(error)), []
        if root is None:
            return Outcome(path, self._unfit(path)), []
        order: List[Loaded] = [root]
        found: Optional[Loaded] = None
        for preload in preloads:
            found = None
            with contextlib.suppress(UnreadableError):
                found, _ = self._find(preload, root, names, added)
            if found is not None and found not in order:
                found.origin = "LD_PRELOAD"
                order.append(found)
        lacks: List[Lack] = []
        unread = ""
        seen = {id(one) for one in order}
        position = 0
        while position < len(order) and len(order) < _MAX_OBJECTS:
            one = order[position]
            position += 1
            is_new = one.identity not in self._by_identity
            if not is_new:
                children = one.needed
            else:
                children = []
                for name in one.library.dynamic.needed:
                    if not name:
                        continue
                    try:
                        found, lack = self._find(name, one, names, added)
                    except UnreadableError as error:
                        unread = unread or f"{name}: {error}"
                        continue
                    if found is not None:
                        children.append(found)
                    elif lack is not None:
                        lacks.append(lack)
                one.needed = children
            for child in children:
                if id(child) not in seen:
                    seen.add(id(child))
                    order.append(child)
        return Outcome(path, lacks=tuple(lacks), unread=unread, objects=tuple(order)), added

    def _find(
        self, name: str, by: Loaded, names: Dict[str, Loaded], added: List[Loaded]
    ) -> Tuple[Optional[Loaded], Optional[Lack]]:
        """What a name that `by` needs is served with."""
        held = self._by_name.get(name) or names.get(name)
        if held is not None:
            return held, None
        passed_over: List[str] = []
        for place in self._places(name, by):
            try:
                found = self._take(place, by, names, added)
            except UnreadableError:
                raise
            except ElfError as error:
                # The loader gives up at a file that is no library at all, and goes on past none.
                return None, Lack(name, by.path, (), (f"{place.path}: {error}",))
            if found is not None:
                found.names.add(name)
                (self._by_name if found.identity in self._by_identity else names)[name] = found
                return found, None
            if os.path.exists(place.path):  # noqa: PTH110
                passed_over.append(f"{place.path}: {self._unfit(place.path)}")
        folders = () if "/" in name else self._named_folders(by)
        return None, Lack(name, by.path, folders[:_MAX_LOOKED], tuple(passed_over[:4]))

    def _take(
        self, place: Place, by: Optional[Loaded], names: Dict[str, Loaded], added: List[Loaded]
    ) -> Optional[Loaded]:
        """The object of a file, loaded already or new; None if the loader passes it over.

        Raises ElfError if the loader gives up at it.
        """
        try:
            identity, library = self.binaries.library(place.path)
        except UnreadableError:
            raise
        except ElfError as error:
            if "cannot be read" in str(error) and place.origin != "its path":
                return None  # gone in the meantime: it looks further
            raise
        held = self._by_identity.get(identity)
        if held is None:
            held = next((one for one in added if one.identity == identity), None)
        if held is not None:
            return held
        if library.machine != self.machine or library.bits != self.bits:
            return None
        if not library.is_loadable:
            raise ElfError("it is no shared library: it has no dynamic section")
        if not library.image.is_whole:
            raise ElfError("its end is missing")
        one = Loaded(place.path, place.origin, identity, library, by)
        added.append(one)
        for name in one.names:
            names.setdefault(name, one)
        return one

    def _unfit(self, path: str) -> str:
        try:
            _, library = self.binaries.library(path)
        except ElfError as error:
            return str(error)
        return f"it is for {library.machine} with {library.bits} bits"

    # --- searching

    def _places(self, name: str, by: Loaded) -> Iterator[Place]:
        """The files that the loader tries for a name that `by` needs, in its order."""
        search = self.search
        if "/" in name:
            (folder,) = search.folders(name, by.folder) or ("",)
            if folder:
                yield Place(folder, "the path in it")
            return
        dynamic = by.library.dynamic
        if dynamic.runpath is None:
            yield from search.in_folders(self._rpath(by), name, "RPATH")
        yield from search.in_library_path(name)
        if dynamic.runpath is not None:
            folders = search.folders(dynamic.runpath, by.folder)
            yield from search.in_folders(folders, name, "RUNPATH")
        yield from search.in_system(name, without_defaults="NODEFLIB" in dynamic.flags)

    def _rpath(self, by: Loaded) -> Tuple[str, ...]:
        """The RPATH of a file, of what loaded it, and so on, and of the program.

        One that has a RUNPATH gives none, and of a file with a RUNPATH none counts.
        """
        found: List[str] = []
        one: Optional[Loaded] = by
        chain: List[Loaded] = []
        while one is not None and one not in chain:
            chain.append(one)
            one = one.loader
        if self._main is not None and self._main not in chain:
            chain.append(self._main)
        for each in chain:
            dynamic = each.library.dynamic
            if dynamic.rpath and dynamic.runpath is None:
                found += self.search.folders(dynamic.rpath, each.folder)
        return tuple(dict.fromkeys(found))

    def _named_folders(self, by: Loaded) -> Tuple[str, ...]:
        """The folders that files and variables name for what `by` needs."""
        dynamic = by.library.dynamic
        named = self._rpath(by) if dynamic.runpath is None else ()
        run = self.search.folders(dynamic.runpath or "", by.folder)
        folders = (*named, *self.search.library_path, *run)
        return tuple(dict.fromkeys(map(os.path.normpath, folders)))

    # --- versions and symbols

    def _check_versions(self, added: Iterable[Loaded]) -> Tuple[Unversioned, ...]:
        """The versions that new files ask of others that do not define them."""
        found = []
        for one in added:
            by_name = {name: child for child in one.needed for name in child.names}
            for need in one.library.versions.needs:
                other = by_name.get(need.file) or self._by_name.get(need.file)
                if other is None or need.weak:
                    continue
                defined = {*other.library.versions.defined.values(), *other.names}
                # A file without versions is taken with a warning. The first version of others has
                # the name of the file.
                if other.library.has_versions and need.version not in defined:
                    found.append(Unversioned(need.version, other.path, other.origin, one.path))
        return tuple(found)

    def _unresolved(
        self, added: Iterable[Loaded], objects: Tuple[Loaded, ...]
    ) -> Iterator[Unresolved]:
        """The symbols of new files that neither the global scope nor this one defines."""
        for one in added:
            own = _below(one)
            closure = frozenset(each.identity for each in own)
            if self._whole.get(one.identity) == closure:
                continue
            gone = self._not_in(one, own)
            if not gone:
                # In every scope that holds as much it is whole, too.
                self._whole[one.identity] = closure
                continue
            gone = [each for each in gone if not _bound(each, objects)]
            if not gone:
                continue
            named = one.library.symbols.referenced({each.number for each in gone})
            for each in gone:
                if each.number in named:
                    yield Unresolved(each.name, each.version, each.file, one.path)

    def _not_in(self, one: Loaded, objects: List[Loaded]) -> List[Undefined]:
        """What a file leaves undefined that the global scope and these do not define."""
        gone = []
        bound = self._bound
        by_name = {name: other for other in objects for name in other.names}
        likely: Optional[Loaded] = None  # what served the last one may serve the next, too
        for each in self.binaries.undefined(one.identity, one.library):
            if each.weak:
                continue
            key = (each.name, each.version)
            known = bound.get(key)
            if known is None:
                known = bound[key] = _bound(each, self.scope)
            if known:
                continue
            if each.file:
                likely = by_name.get(each.file, likely)
            if likely is not None and likely.exports(each):
                continue
            likely = next((other for other in objects if other.exports(each)), likely)
            if likely is None or not likely.exports(each):
                gone.append(each)
        return gone


def _below(one: Loaded) -> List[Loaded]:
    """A file and all that it needs."""
    found = [one]
    seen = {id(one)}
    for each in found:
        for child in each.needed:
            if id(child) not in seen:
                seen.add(id(child))
                found.append(child)
    return found


def _bound(one: Undefined, objects: Iterable[Loaded]) -> bool:
    """Whether any of these defines a symbol. Which one is first plays no part."""
    return any(each.exports(one) for each in objects)
