"""Writes what public indexes list into the generated part of the files in matrices/packages.

Nothing else of a file is touched, and a part that says the same is left as it is, date and all.
Exit status: 0 done, or nothing to do; 1 with --check, where a file is out of date; 3 where an
index could not be read (the files of other packages are written all the same); 2 for a package
that has no file.

PyPI is the index that pip is configured with: index-url, of PIP_INDEX_URL or pip's files, with its
cert, client-cert and proxy, and a login in the address or in netrc. extra-index-url and find-links
are not used: what they list is not what PyPI lists.
"""

from __future__ import annotations

import argparse
import datetime as dt
import difflib
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Dict, List, Optional, Sequence, Tuple, TypeVar

import msgspec

from envdoctor.knowledge.document import DocumentError
from envdoctor.knowledge.load import Knowledge, load
from envdoctor.knowledge.package import Package
from envdoctor.knowledge.schema import Listing, PyPIFiles
from envdoctor.model.versions import parse
from indexes import pages, pypi
from indexes.block import check, written
from indexes.connection import Connection, SettingsError, UnreachableError

ROOT = Path(__file__).resolve().parent.parent.parent

T = TypeVar("T", PyPIFiles, Listing)


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Run the program; returns its exit status."""
    given = _parser().parse_args(arguments)
    try:
        knowledge = load(given.matrices)
    except DocumentError as error:
        print(f"refresh: {error}", file=sys.stderr)
        return 3
    unknown = sorted(set(given.packages) - set(knowledge.packages))
    if unknown:
        print(f"refresh: no file of {', '.join(unknown)}", file=sys.stderr)
        return 2
    try:
        connection = Connection()
    except SettingsError as error:
        print(f"refresh: {error}", file=sys.stderr)
        return 3
    today = dt.datetime.now(dt.timezone.utc).date().isoformat()
    status = 0
    for name in given.packages or sorted(knowledge.packages):
        package = knowledge.packages[name]
        path = given.matrices / "packages" / f"{name}.yaml"
        listed, listings, failures = _read(package, knowledge, connection, today, given.only)
        if listed is not None or listings:
            try:
                before = path.read_bytes().decode("utf-8")
                after = written(before, listed, listings)
                check(path.name, after, listed, listings)
                if after != before and not given.check:
                    _replace(path, after)
            except (DocumentError, OSError, UnicodeDecodeError) as error:
                failures.append(str(error))
            else:
                if after != before:
                    news = _news(package.file.pypi, listed)
                    print(f"{name}: {news}{_summary(before, after)}", flush=True)
                if after != before and given.check:
                    sys.stdout.writelines(_difference(path, before, after))
                    status = status or 1
        for failure in failures:
            print(f"refresh: {name}: {_shown(failure)}", file=sys.stderr, flush=True)
            status = 3
    return status


def _replace(path: Path, text: str) -> None:
    """Write a file at once: who reads it meanwhile, or after a failure, finds the old one whole."""
    target = path.resolve()
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=str(target.parent))
    try:
        with open(handle, "wb") as file:  # noqa: PTH123 - it is open already
            file.write(text.encode("utf-8"))
        shutil.copymode(str(target), name)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink()
        raise


def _shown(text: str) -> str:
    """A text from elsewhere for a terminal, on one line."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "scripts/refresh",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", help="these only (default: all)")
    parser.add_argument(
        "--check", action="store_true", help="write nothing, show what would change"
    )
    parser.add_argument(
        "--only", choices=("pypi", "pages"), help="read PyPI only, or projects' own pages only"
    )
    parser.add_argument("--matrices", type=Path, default=ROOT / "matrices", metavar="DIR")
    return parser


def _read(
    package: Package, knowledge: Knowledge, connection: Connection, today: str, only: Optional[str]
) -> Tuple[Optional[PyPIFiles], Dict[str, Listing], List[str]]:
    """What the indexes list now; what could not be read stays as it was, and is said."""
    index, old, listings = package.file.index, package.file.pypi, dict(package.file.pages)
    failures: List[str] = []
    listed = old
    if index.since and only != "pages":
        try:
            listed = _dated(old, pypi.read(package.name, index, connection, today))
        except UnreachableError as error:
            failures.append(str(error))
    releases = {*package.releases, *(map(parse, listed.releases) if listed else ())}
    for name, page in index.pages.items():
        if only == "pypi":
            continue
        try:
            new = pages.read(package, page, releases, knowledge, connection, today)
            listings[name] = _dated(listings.get(name), new)
        except UnreachableError as error:
            failures.append(str(error))
    return listed, listings, failures


def _dated(old: Optional[T], new: T) -> T:
    """What was read, with the old date where it says the same."""
    if old is not None and msgspec.structs.replace(new, checked=old.checked) == old:
        return old
    return new


def _news(old: Optional[PyPIFiles], new: Optional[PyPIFiles]) -> str:
    """Releases that are new, gone or withdrawn since the last time."""
    if old is None or new is None:
        return ""
    told = {
        "new": [text for text in new.releases if text not in old.releases],
        "gone": [text for text in old.releases if text not in new.releases],
        "withdrawn": [text for text in new.yanked if text not in old.yanked],
    }
    return "".join(f"{what} {', '.join(texts)}; " for what, texts in told.items() if texts)


def _summary(before: str, after: str) -> str:
    changed = list(difflib.unified_diff(before.splitlines(), after.splitlines(), n=0))[2:]
    added = sum(line.startswith("+") for line in changed)
    removed = sum(line.startswith("-") for line in changed)
    return f"{added} lines more, {removed} lines less"


def _difference(path: Path, before: str, after: str) -> List[str]:
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    return list(difflib.unified_diff(old, new, fromfile=path.name, tofile=path.name))


if __name__ == "__main__":
    sys.exit(main())
