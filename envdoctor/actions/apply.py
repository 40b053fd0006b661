"""Carries out the steps of a repair, so that the environment is mended or as it was.

A snapshot is taken before the first step. Where a step fails, where what comes out of it is not
what was wanted, and where somebody stops it, the environment is put back and compared with the
snapshot. What was killed in the middle is taken back by a later call.
"""

# ruff: noqa: PTH112, PTH118, PTH119, PTH120, PTH123
# Paths are bytes, for names of files need be no text; pathlib has no such.

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import sys
import threading
import time
from types import FrameType
from typing import (
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Protocol,
    Sequence,
    Tuple,
)

from envdoctor.actions import process
from envdoctor.actions.refusal import (
    RefusedError,
    prefix_of,
    refuse,
    refuse_links,
    refuse_space,
    roots_of,
)
from envdoctor.actions.snapshot import (
    Differences,
    Entries,
    SnapshotError,
    compare,
    drop_untouched,
    listed,
    put_back,
    space_needed,
    take,
)
from envdoctor.actions.undo import DONE, RUNNING, TAKING, Journal, Undo, chosen, existing
from envdoctor.model.facts import Target

#: Ends a step with us, however we end: a step that goes on would change what is put back.
_WITH_US = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGKILL)
if os.getppid() != int(sys.argv[1]):
    sys.exit("envdoctor has ended")
try:
    os.execvp(sys.argv[2], sys.argv[2:])
except OSError as error:
    sys.exit("%s: %s" % (sys.argv[2], error.strerror))
"""
#: Variables that lead installers to another place than the environment.
_LEADING_AWAY = (
    *("PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER", "PIP_PYTHON", "PIP_DRY_RUN"),
    *("PIP_REQUIRE_VIRTUALENV", "PIP_IGNORE_INSTALLED", "PIP_SRC", "PIP_QUIET"),
    *("PYTHONPATH", "PYTHONHOME", "PYTHONUSERBASE", "PYTHONSTARTUP", "PYTHONINSPECT"),
    *("UV_TARGET", "UV_PREFIX", "UV_PYTHON", "UV_SYSTEM_PYTHON", "UV_PROJECT_ENVIRONMENT"),
)
_LINES = 12  # that are told of a step that failed
_EACH = 1.0  # seconds until anything is told of progress, and between two words
_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class BrokenOffError(RefusedError):
    """An earlier change was broken off, and is to be taken back first."""


class Listener(Protocol):
    """Is told what goes on."""

    def keeping(self, done: int, of: int) -> None:
        """So many files are kept."""

    def begun(self, number: int, of: int, command: str) -> None:
        """A step begins."""

    def heard(self, line: str) -> None:
        """A step said something, for the first time in a while."""

    def checking(self) -> None:
        """What came of it is looked at."""

    def putting_back(self) -> None:
        """What was there is put back."""


class Carried(NamedTuple):
    """What became of steps: `reason` is empty exactly if all went well."""

    reason: str
    done: int  # steps that ended well
    output: Tuple[str, ...] = ()  # the last lines of the step that failed
    others: Tuple[str, ...] = ()  # files that something else changed meanwhile
    files: int = 0  # that were kept
    problems: Tuple[str, ...] = ()  # what could not be put back


class _Stopped(BaseException):
    """Somebody stops us. Not an Exception: nothing on the way is to take it for its own."""


class Change:
    """A change of an environment that can be taken back."""

    def __init__(self, target: Target, steps: Sequence[Sequence[str]]) -> None:
        """Of `steps`, words of commands, in an environment. Raises RefusedError."""
        self.target = target
        self.steps = steps
        self.prefix = prefix_of(target)
        self.roots = roots_of(target, self.prefix)
        refuse(target, self.prefix, steps)
        left = existing(self.prefix)
        journal = left.journal() if left is not None else None
        if journal is not None and journal.state == RUNNING:
            raise BrokenOffError(
                "an earlier change of this environment was broken off: take it back"
            )

    def carry_out(
        self,
        check: Callable[[], str],
        listener: Listener,
        keep_going: bool,
        kept: Sequence[str] = (),
    ) -> Carried:
        """Take a snapshot, run the steps, check; put everything back where anything fails.

        `check` returns why what came of it is not what was wanted, "" if it is; with `keep_going`
        that is no reason to put it back. `kept` are lines of constraints for what must stay.
        Raises RefusedError and SnapshotError before anything is changed.
        """
        undo, is_near = chosen(self.prefix)
        with undo.locked(), _stoppable():
            try:
                entries = self._snapshot(undo, is_near, listener)
            except BaseException:
                with _unstoppable():
                    undo.remove()
                raise
            return self._run(undo, entries, check, listener, keep_going, kept)

    def _snapshot(self, undo: Undo, is_near: bool, listener: Listener) -> Entries:
        prefix, roots = os.fsencode(self.prefix), _bytes(self.roots)
        there = listed(prefix, roots)
        refuse_links(there, self.prefix, self.target, self.steps)
        try:
            undo.forget()
            refuse_space(undo, space_needed(there, is_near))
            journal = Journal(self.prefix, self.roots, TAKING, tuple(map(shlex.join, self.steps)))
            undo.begin(journal)
            entries = take(prefix, roots, undo.files, _Counted(listener).advance)
            undo.keep(entries)
            journal.state = RUNNING
            undo.note(journal)
        except OSError as error:
            raise SnapshotError(
                f"the snapshot cannot be written to {undo.place}: {error.strerror or error}"
            ) from None
        return entries

    def _run(
        self,
        undo: Undo,
        entries: Entries,
        check: Callable[[], str],
        listener: Listener,
        keep_going: bool,
        kept: Sequence[str],
    ) -> Carried:
        prefix, roots = os.fsencode(self.prefix), _bytes(self.roots)
        done, reason = 0, ""
        output: Tuple[str, ...] = ()
        others: Tuple[str, ...] = ()
        files = len(entries)
        try:
            environ = _environ(undo, kept)
            for number, step in enumerate(self.steps, 1):
                ended = _step(step, number, len(self.steps), environ, undo, listener)
                if ended.failure:
                    command = shlex.join(step)
                    reason = f"{command}: {ended.failure}"
                    output = _last(ended)
                    break
                done += 1
            if not reason:
                listener.checking()
                failed = check()
                reason = "" if keep_going else failed
            others = self._others(entries)
        except (KeyboardInterrupt, _Stopped, SystemExit):
            reason = "it was stopped"
        except BaseException as error:
            reason = f"{type(error).__name__}: {error}".strip(": ")
            if not isinstance(error, Exception):
                reason = "it took too long"
        with _unstoppable():
            if not reason:
                self._keep_for_later(undo, entries)
                return Carried("", done, others=others, files=files)
            listener.putting_back()
            problems = put_back(prefix, roots, entries, undo.files)
            if not problems:
                undo.remove()
            return Carried(reason, done, output, others, files, tuple(problems))

    def _keep_for_later(self, undo: Undo, entries: Entries) -> None:
        """Keep of the snapshot what takes the change back later; without it there is no way back.

        What cannot be written is not: the change itself went well.
        """
        prefix, roots = os.fsencode(self.prefix), _bytes(self.roots)
        try:
            drop_untouched(prefix, roots, entries, undo.files)
            undo.keep(listed(prefix, roots), after=True)
            undo.keep(entries)
            undo.note(Journal(self.prefix, self.roots, DONE, tuple(map(shlex.join, self.steps))))
        except (OSError, SnapshotError):
            undo.remove()

    def _others(self, entries: Entries) -> Tuple[str, ...]:
        """Files that changed and that no step changed, by what distributions claim now and before.

        pip and uv write down what they install; of what is gone, the record that was kept says it.
        """
        prefix, roots = os.fsencode(self.prefix), _bytes(self.roots)
        difference = compare(prefix, roots, entries)
        moved = {*difference.new, *difference.gone, *difference.changed}
        mine = _claimed(prefix, moved)
        folders = {os.path.dirname(path) for path in moved if path.endswith(b".dist-info/METADATA")}
        found = []
        for path in sorted(moved):
            entry = entries.get(path)
            if path in mine or _is_compiled(path) or os.path.dirname(path) in folders:
                continue
            if (entry is None or entry.kind == "d") and os.path.isdir(os.path.join(prefix, path)):
                continue
            if path in difference.gone:
                continue  # of what was removed nobody knows whose it was
            found.append(os.path.join(self.prefix, os.fsdecode(path)))
        return tuple(found)


def roll_back(prefix: str, listener: Listener) -> Carried:
    """Take back the change of an environment that was broken off, or the last that was made.

    Raises RefusedError where there is none, where a step of it still runs, and where the
    environment was changed since.
    """
    undo = existing(prefix)
    journal = undo.journal() if undo is not None else None
    if undo is None or journal is None:
        raise RefusedError(f"no change of {prefix} is there to be taken back")
    with undo.locked(), _unstoppable():
        left = undo.running()
        if left is not None:
            raise RefusedError(f"a step of the change still runs: process {left}")
        if journal.state == TAKING:
            undo.remove()
            return Carried("nothing had been changed yet", 0)
        entries = undo.entries()
        root, roots = os.fsencode(prefix), _bytes(journal.roots)
        if journal.state == DONE:
            _refuse_changed(compare(root, roots, undo.entries(after=True)))
        listener.putting_back()
        problems = put_back(root, roots, entries, undo.files)
        if not problems:
            undo.remove()
        return Carried("it was asked for", 0, files=len(entries), problems=tuple(problems))


def is_broken_off(prefix: str) -> bool:
    """Whether a change of an environment was begun and not ended, and nobody is at it."""
    undo = existing(os.path.realpath(prefix)) if prefix else None
    journal = undo.journal() if undo is not None else None
    return journal is not None and journal.state == RUNNING


def _refuse_changed(difference: Differences) -> None:
    """Raise RefusedError where more was changed since than what Python compiles by itself."""
    every = (*difference.new, *difference.gone, *difference.changed)
    since = [path for path in every if not _is_compiled(path)]
    if since:
        raise RefusedError(
            f"the environment was changed since, {os.fsdecode(since[0])} among others: taking the "
            "change back would undo that, too"
        )


def _is_compiled(path: bytes) -> bool:
    """Whether Python writes a path by itself: compiled modules and their folders."""
    folder, name = os.path.split(path)
    return os.path.basename(folder) == b"__pycache__" or name == b"__pycache__"


def _claimed(prefix: bytes, moved: Iterable[bytes]) -> Dict[bytes, None]:
    """What the records among changed files claim, as paths below the prefix."""
    found: Dict[bytes, None] = {}
    for path in moved:
        if not path.endswith((b".dist-info/RECORD", b".egg-info/installed-files.txt")):
            continue
        site = os.path.dirname(os.path.dirname(path))
        with contextlib.suppress(OSError), open(os.path.join(prefix, path), "rb") as stream:
            for line in stream:
                name = line.rsplit(b",", 2)[0].strip(b'"\n')
                found[os.path.normpath(os.path.join(site, name))] = None
    return found


def _bytes(roots: Sequence[str]) -> List[bytes]:
    return [os.fsencode(root) for root in roots]


def _environ(undo: Undo, kept: Sequence[str]) -> Dict[str, str]:
    """The variables of a step: those of the user, but for what leads it elsewhere."""
    environ = {name: text for name, text in os.environ.items() if name not in _LEADING_AWAY}
    environ.update(
        PIP_DISABLE_PIP_VERSION_CHECK="1",
        PIP_NO_INPUT="1",
        PYTHONNOUSERSITE="1",
        PYTHONDONTWRITEBYTECODE="1",
    )
    if kept:
        file = undo.place / "constraints.txt"
        file.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")
        for name in ("PIP_CONSTRAINT", "UV_CONSTRAINT"):
            if " " not in str(file):
                environ[name] = f"{environ.get(name, '')} {file}".strip()
    return environ


def _step(
    step: Sequence[str],
    number: int,
    of: int,
    environ: Mapping[str, str],
    undo: Undo,
    listener: Listener,
) -> process.Ended:
    """Run a step; what it says is told after a second, a line now and then."""
    last = time.monotonic()

    def heard(_: str, line: str) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _EACH:
            last = now
            listener.heard(line)

    listener.begun(number, of, shlex.join(step))
    with_us = [sys.executable, "-I", "-S", "-B", "-c", _WITH_US, str(os.getpid()), *step]
    return process.run(with_us, 0, environ, cwd=str(undo.work), tell=heard)


def _last(ended: process.Ended) -> Tuple[str, ...]:
    """The last lines that a step printed, errors last."""
    text = f"{ended.out}\n{ended.err}" if not ended.err.strip() else ended.err
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    return tuple(lines[-_LINES:])


class _Counted:
    """Tells after a second how much is done."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._next = time.monotonic() + _EACH

    def advance(self, done: int, of: int) -> None:
        """Say so, if the last word is some time ago."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _EACH
            self._listener.keeping(done, of)


@contextlib.contextmanager
def _stoppable() -> Iterator[None]:
    """Within, signals that would end us raise instead, so that all can be put back."""

    def stop(_number: int, _frame: Optional[FrameType]) -> None:
        raise _Stopped

    with _handled(stop, _STOPPING[1:]):
        yield


@contextlib.contextmanager
def _unstoppable() -> Iterator[None]:
    """Within, nothing stops us but what stops everything. An alarm that was set is over."""
    if _is_main():
        signal.setitimer(signal.ITIMER_REAL, 0)
    with _handled(signal.SIG_IGN, _STOPPING):
        yield


@contextlib.contextmanager
def _handled(handler: object, numbers: Sequence[int]) -> Iterator[None]:
    before = {}
    try:
        if _is_main():
            for number in numbers:
                # who ignores a signal, as nohup does, goes on ignoring it
                if signal.getsignal(number) is not signal.SIG_IGN:
                    before[number] = signal.signal(number, handler)  # type: ignore[arg-type]
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def _is_main() -> bool:
    return threading.current_thread() is threading.main_thread()
