"""Messages of docker, its builder, its runtime, and apt in images."""

from __future__ import annotations

import re
from typing import Iterator, Sequence, Tuple

from envdoctor.diagnosis.event import Event
from envdoctor.diagnosis.line import Line
from envdoctor.diagnosis.structure.reader import Reader

#: Who speaks, and what it says.
_SAID: Sequence[Tuple[str, re.Pattern[str]]] = (
    ("docker", re.compile(r"Error response from daemon: (?P<message>.*)")),
    ("compose", re.compile(r"ERROR: for \S{1,100} {1,4}(?P<message>Cannot (?:start|create) .*)")),
    (
        "buildkit",
        re.compile(r"(?:ERROR: )?failed to solve(?: with frontend \S{1,60})?: (?P<message>.*)"),
    ),
    (
        "buildkit",
        re.compile(
            r"^ERROR(?: \[[^\]]{1,200}\])?: (?P<message>(?:failed to|process \"|docker\.io"
            r"|nvcr\.io|pull access).*)"
        ),
    ),
    (
        "podman",
        re.compile(
            r"^Error: (?P<message>(?:crun|OCI|runc|container|setting up CDI|initializing source"
            r"|unable to copy|unresolvable CDI|stat /dev|could not).*)"
        ),
    ),
    ("runtime", re.compile(r"(?P<message>nvidia-container-(?:cli|runtime)(?:\.real)?: .*)")),
    ("singularity", re.compile(r"^(?:FATAL|ERROR|WARNING): {1,6}(?P<message>.*)")),
    ("apt", re.compile(r"^(?:E|W|Err|Err:\d{1,5}|N): ?(?P<message>\S.*)")),
    (
        "kubernetes",
        re.compile(
            r"(?P<message>Failed to pull image .*|Error: failed to create containerd task.*"
            r"|FailedCreatePodSandBox.*)"
        ),
    ),
)
_FAILED = re.compile(
    r"' returned a non-zero code: \d{1,3}"
    r"|did not complete successfully: exit code: \d{1,3}"
    r"|executor failed running \["
    r"|^ERRO\[\d{1,6}\] error waiting for container"
)


class Containers(Reader):
    """Recognises them."""

    triggers = (
        "error response from daemon",
        "error: for ",
        "failed to solve",
        "nvidia-container",
        "non-zero code",
        "did not complete successfully",
        "executor failed running",
        "waiting for container",
        "gpg error",
        "no_pubkey",
        "is not signed",
        "release file",
        "release' does not",
        "failed to fetch",
        "containerd task",
        "pull image",
        "unresolvable cdi",
        "fatal:   ",
        "manifest",
        "crun:",
        "oci runtime",
    )
    _words = tuple(triggers)

    def feed(self, line: Line) -> Iterator[Event]:
        """What a line says of a container or of apt."""
        text = line.text
        lower = text.lower()
        if not any(word in lower for word in self._words):
            return
        if _FAILED.search(text):
            yield Event("failed", line.number, text, {"what": "a step of an image"})
            return
        for tool, pattern in _SAID:
            found = pattern.search(text)
            if found:
                fatal = not text.startswith(("W:", "N:", "WARNING:"))
                fields = {"tool": tool, "message": found.group("message")}
                yield Event("container", line.number, text, fields, fatal=fatal)
                return
