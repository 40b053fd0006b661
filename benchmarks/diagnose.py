"""Speed and memory of reading logs, beside `grep -E` with the same words.

    python -m benchmarks.diagnose [KIND ...] [--megabytes 100] [--long 2000]

For each kind of log: MB a second of reading alone, of the whole diagnosis, and of grep, each the
best of three, in CPU time; and how many lines came through. Then a log of `--long` megabytes
through a pipe, with the memory that its diagnosis took at most.
"""

from __future__ import annotations

import argparse
import base64
import io
import os
import random
import re
import resource
import subprocess
import sys
import time
from typing import Callable, Dict, Iterator, List

from envdoctor.diagnosis import diagnose, structure
from envdoctor.diagnosis.reading import read
from envdoctor.diagnosis.signs import Signs
from envdoctor.knowledge.failures import failures
from envdoctor.knowledge.load import load

Lines = Iterator[str]

FAILURE = """\
Traceback (most recent call last):
  File "/home/user/train.py", line 12, in <module>
    main()
RuntimeError: CUDA error: no kernel image is available for execution on the device
"""
WORDS = re.findall(
    r"\S+",
    "building wheel running build_ext copying creating gcc -pthread -Wno-unused-result -DNDEBUG"
    " -O2 -Wall -fPIC include src torch lib python3.10 site-packages cuda nvcc gencode arch"
    " compute bert model layer attention ops kernel template instantiation note required from"
    " here warning variable declared never referenced operator std namespace Tensor const",
)


def training(dice: random.Random) -> Lines:
    """A healthy training, until it fails at its very end."""
    while True:
        yield (
            f"2026-05-06 12:{dice.randrange(60):02}:{dice.randrange(60):02},"
            f"{dice.randrange(1000):03} - mmdet - INFO - Epoch [{dice.randrange(24)}]"
            f"[{dice.randrange(7000)}/7330]\tlr: {dice.random():.3e}, eta: 1:10:10,"
            f" time: {dice.random():.3f}, memory: {dice.randrange(9999)},"
            f" loss_cls: {dice.random():.4f}, loss_bbox: {dice.random():.4f}"
        )


def progress(dice: random.Random) -> Lines:
    """Bars of tqdm, all on one line."""
    while True:
        bars = (
            f"\rtrain:  {dice.randrange(100)}%|####      | {dice.randrange(42000)}/41999"
            f" [{dice.randrange(60)}:51<08:15, {dice.random() * 30:.2f}it/s]"
            for _ in range(1000)
        )
        yield "".join(bars)


def compiling(dice: random.Random) -> Lines:
    """A verbose build: commands, and a warning for every other."""
    while True:
        path = "/".join(dice.choice(WORDS) + str(dice.randrange(50)) for _ in range(5))
        flags = " ".join(dice.choice(WORDS) for _ in range(30))
        yield f"[{dice.randrange(99)}/99] /usr/local/cuda/bin/nvcc -I{path} -c {path}.cu {flags}"
        yield (
            f"{path}.h({dice.randrange(900)}): warning #177-D: variable"
            f' "{dice.choice(WORDS)}{dice.randrange(9)}" was declared but never referenced'
        )


def pip(dice: random.Random) -> Lines:
    """A verbose installation, twice as many lines as files."""
    while True:
        name = dice.choice(WORDS) + dice.choice("abcdefg") + str(dice.randrange(999))
        yield f"Collecting {name}=={dice.randrange(9)}.{dice.randrange(30)}"
        yield f"  Downloading {name}-1.{dice.randrange(9)}-py3-none-any.whl (17 kB)"
        for _ in range(20):
            yield f"  copying {name}/{dice.choice(WORDS)}.py -> build/lib/{name}"


def nccl(dice: random.Random) -> Lines:
    """NCCL_DEBUG=INFO of many ranks."""
    while True:
        yield (
            f"host{dice.randrange(16):02}:{dice.randrange(9999)}:{dice.randrange(9999)}"
            f" [{dice.randrange(8)}] NCCL INFO Channel {dice.randrange(24):02}/0 :"
            f" {dice.randrange(128)}[{dice.randrange(8)}] -> {dice.randrange(128)}"
            f"[{dice.randrange(8)}] [{dice.choice(['send', 'receive'])}] via NET/IB/0/GDRDMA"
        )


def errors(dice: random.Random) -> Lines:
    """Nothing but errors, each with other words and numbers."""
    while True:
        words = " ".join(dice.choice(WORDS) + dice.choice(WORDS) for _ in range(6))
        yield f"ERROR: sample {dice.randrange(10**6)} failed: RuntimeError: {words}"


def noise(dice: random.Random) -> Lines:
    """Base64: words that no log has."""
    while True:
        yield base64.b64encode(dice.getrandbits(8 * 57).to_bytes(57, "big")).decode()


KINDS: Dict[str, Callable[[random.Random], Lines]] = {
    made.__name__: made for made in (training, progress, compiling, pip, nccl, errors, noise)
}


def log(kind: str, size: int) -> bytes:
    """A log of about so many bytes, whose last lines are a failure."""
    made: List[str] = []
    length = 0
    for line in KINDS[kind](random.Random(1)):
        made.append(line)
        length += len(line) + 1
        if length > size:
            break
    return ("\n".join(made) + "\n" + FAILURE).encode()


def logs(size: int) -> Iterator[bytes]:
    """What is measured of all kinds."""
    yield from (log(kind, size) for kind in KINDS)
    yield os.urandom(size)
    yield b"error " * (size // 6)
    yield b"\0" * size


def best(work: Callable[[], object]) -> float:
    """The least CPU seconds of three turns, children included."""
    took = []
    for _ in range(3):
        before = os.times()
        work()
        after = os.times()
        took.append(sum(after[:4]) - sum(before[:4]))
    return max(min(took), 1e-3)


def measure(kind: str, data: bytes, words: List[str]) -> None:
    """Print the speeds for one log."""
    knowledge = load()
    came = sum(1 for _ in read(io.BytesIO(data), words))
    reading = best(lambda: sum(1 for _ in read(io.BytesIO(data), words)))
    whole = best(lambda: diagnose([("log", io.BytesIO(data))], knowledge))
    pattern = "|".join("".join("\\" + c if c in ".[]()*+?{}|^$\\" else c for c in w) for w in words)
    command = ["grep", "-a", "-c", "-i", "-E", pattern]
    grep = best(
        lambda: subprocess.run(
            command, input=data, capture_output=True, check=False, env={"LC_ALL": "C", **os.environ}
        )
    )
    size = len(data) / 1e6
    print(
        f"{kind:10} {size / reading:8.0f} {size / whole:8.0f} {size / grep:8.0f}  {came:7,} lines",
        flush=True,
    )


def stream(megabytes: int) -> None:
    """Diagnose a long log that comes through a pipe, in a process of its own."""
    piece = log("compiling", 4 << 20)
    command = [sys.executable, "-m", "benchmarks.diagnose", "--from-pipe"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as child:
        if child.stdin is not None:
            child.stdin.writelines(
                piece.replace(b"attention", b"attention%c" % (97 + turn % 26))
                for turn in range(megabytes // 4)
            )
            child.stdin.close()


def from_pipe() -> None:
    """Diagnose what comes, and print what that took."""
    began = time.process_time()
    found = diagnose([("log", sys.stdin.buffer)], load()).logs[0]
    took = time.process_time() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    size = found.bytes / 1e6
    print(
        f"\n{size:,.0f} MB through a pipe: {found.lines:,} lines, {size / took:.0f} MB/s,"
        f" {memory} MB of memory"
    )


def main() -> None:
    """Print all that is measured."""
    parser = argparse.ArgumentParser(prog="benchmarks.diagnose", description=__doc__)
    parser.add_argument("kinds", nargs="*")
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--long", type=int, default=2000)
    parser.add_argument("--from-pipe", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.from_pipe:
        from_pipe()
        return
    words = [*structure.triggers(), *Signs(failures().values()).words]
    print(f"{len(words)} words are looked for")
    print(f"{'MB/s':10} {'reading':>8} {'diagnose':>8} {'grep -E':>8}")
    names = [*KINDS, "random", "one line", "NULs"]
    for name, data in zip(names, logs(options.megabytes << 20)):
        if not options.kinds or name in options.kinds:
            measure(name, data, words)
    if options.long:
        stream(options.long)


if __name__ == "__main__":
    main()
