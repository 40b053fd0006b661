"""Fuzzes every input that a check reads: `./scripts/fuzz --inputs 250000 --seed 1`.

The same seed gives the same inputs. Each target runs in a process of its own, bounded in memory; an
input has two seconds of CPU time, more if it is longer than 100 KB. What breaks a promise is told
with what it takes to see it again, and its bytes are kept under --keep.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import re
import resource
import signal
import sys
import time
import traceback
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from types import FrameType
from typing import Dict, Iterator, List, NamedTuple, Optional

sys.path.append(str(Path(__file__).resolve().parent))

from mutation import Mutator
from targets import TARGETS

SECONDS = 2.0  # of CPU time, for an input of up to 100 KB
STUCK = 60.0  # of wall time, after which the process is taken for hung
MEMORY = 2 << 30  # bytes of address space
MOST_FINDS = 40  # of one target, each from another place


class Find(NamedTuple):
    """A promise that was broken, and by which input."""

    target: str
    seed: int
    number: int
    place: str  # of the code, by which finds are told apart
    said: str


class Done(NamedTuple):
    """How far a target came."""

    inputs: int
    cpu: float
    slowest: float
    memory: int  # KB that were held at most
    finds: List[Find]


def made(target: str, seed: int, number: int) -> bytes:
    """The input of a number."""
    entry = TARGETS[target]
    return Mutator(Random(f"{target} {seed} {number}"), entry.seeds(), entry.structured).make()


class _TooLong(BaseException):
    """Not an Exception, so that nothing on the way takes it for one of its own."""


@contextlib.contextmanager
def _within(seconds: float) -> Iterator[None]:
    def ring(_: int, __: Optional[FrameType]) -> None:
        raise _TooLong

    previous = signal.signal(signal.SIGVTALRM, ring)
    # Again and again: it may ring where exceptions are lost.
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, 0.5)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, previous)


def tried(target: str, data: bytes) -> Optional[str]:
    """What is broken by an input, as a traceback; None if nothing is."""
    try:
        with _within(SECONDS * max(1.0, len(data) / 100_000)):
            TARGETS[target].enter(data)
    except _TooLong:
        return "took too long:\n" + traceback.format_exc()
    except Exception:
        return traceback.format_exc()
    return None


_FRAME = re.compile(r'File "([^"]+)", line (\d+), in (\S+)')


def _place(said: str) -> str:
    """The last frame in envdoctor, and the kind of the error."""
    frames = [f for f in _FRAME.findall(said) if "/envdoctor/" in f[0]] or _FRAME.findall(said)
    file, line, _ = frames[-1] if frames else ("", "", "")
    last = said.strip().splitlines()[-1]
    kind = last.partition(":")[0] if "Promise" not in last else last.partition(":")[2][:60]
    if said.startswith("took too long"):
        kind, line = "took too long", ""
    return f"{Path(file).name}:{line} {re.sub('[0-9]+', '0', kind)}"


def _work(pipe: Connection, target: str, seed: int, numbers: range) -> None:
    """Try inputs, telling each number before it is tried."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sys.setrecursionlimit(1000)
    places: Dict[str, Find] = {}
    slowest = 0.0
    begun = time.process_time()
    TARGETS[target].enter(TARGETS[target].seeds()[0])  # what is read once
    for number in numbers:
        pipe.send(number)
        data = made(target, seed, number)
        started = time.process_time()
        said = tried(target, data)
        slowest = max(slowest, time.process_time() - started)
        if said is not None:
            place = _place(said)
            if place not in places and len(places) < MOST_FINDS:
                places[place] = Find(target, seed, number, place, said)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    cpu = time.process_time() - begun
    pipe.send(Done(len(numbers), cpu, slowest, memory, list(places.values())))


def fuzz(target: str, seed: int, inputs: int, first: int = 0) -> Done:
    """Try inputs in processes; one that dies or hangs is a find, and another goes on after it."""
    finds: List[Find] = []
    cpu, slowest, memory = 0.0, 0.0, 0
    number, end = first, first + inputs
    while number < end:
        here, there = multiprocessing.Pipe()
        worker = multiprocessing.get_context("fork").Process(
            target=_work, args=(there, target, seed, range(number, end)), daemon=True
        )
        worker.start()
        there.close()
        said: object = number
        problem = ""
        try:
            while not isinstance(said, Done):
                if not here.poll(STUCK):
                    problem = f"hung for {STUCK:g} s"
                    break
                said = here.recv()
                if isinstance(said, int):
                    number = said
        except EOFError:
            worker.join(5)
            problem = f"the process died ({worker.exitcode})"
        if isinstance(said, Done):
            finds += said.finds
            cpu, slowest = cpu + said.cpu, max(slowest, said.slowest)
            memory, number = max(memory, said.memory), end
        else:
            worker.kill()
            finds.append(Find(target, seed, number, problem, problem))
            number += 1
        worker.join()
        here.close()
    return Done(inputs, cpu, slowest, memory, finds)


def main() -> int:
    """Run the targets that were asked for; 1 if any promise was broken."""
    parser = argparse.ArgumentParser(prog="scripts/fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", help="names, or how they begin; all without any")
    parser.add_argument("--inputs", type=int, default=20_000, help="of all targets together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, metavar="NUMBER", help="the one input of that number")
    parser.add_argument("--keep", metavar="FOLDER", help="write what broke a promise there")
    options = parser.parse_args()
    wanted = tuple(options.targets) or ("",)
    names = [name for name in TARGETS if name.startswith(wanted)]
    if not names:
        parser.error(f"no such target; there are {', '.join(TARGETS)}")
    if options.only is not None:
        data = made(names[0], options.seed, options.only)
        print(f"{names[0]}, {len(data)} bytes: {data[:2000]!r}")
        said = tried(names[0], data)
        print(said or "nothing is broken")
        return 1 if said else 0
    shares = sum(TARGETS[name].share for name in names)
    total, broken, took = 0, 0, 0.0
    print(f"{'target':<40}{'inputs':>8}{'CPU s':>8}{'slowest':>9}{'MB':>6}  finds")
    for name in names:
        inputs = max(20, options.inputs * TARGETS[name].share // shares)
        done = fuzz(name, options.seed, inputs)
        total, took, broken = total + inputs, took + done.cpu, broken + len(done.finds)
        print(
            f"{name:<40}{inputs:>8}{done.cpu:>8.1f}{done.slowest:>8.2f}s{done.memory >> 10:>6}"
            f"  {len(done.finds)}",
            flush=True,
        )
        for find in done.finds:
            print(f"  --only {find.number}: {find.place}")
            print("    " + find.said.strip().replace("\n", "\n    ")[-3000:], flush=True)
            if options.keep:
                folder = Path(options.keep)
                folder.mkdir(parents=True, exist_ok=True)
                file = f"{name.replace('/', '-')}-{find.seed}-{find.number}"
                (folder / file).write_bytes(made(name, find.seed, find.number))
    print(f"{total} inputs, {took:.0f} s of CPU time, {broken} promises broken")
    return 1 if broken else 0


if __name__ == "__main__":
    os.environ["ENVDOCTOR_LANG"] = "en"
    sys.exit(main())
