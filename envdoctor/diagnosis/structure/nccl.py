"""Messages of NCCL, and of what watches over it in torch."""

from __future__ import annotations

import re
from typing import Dict, Iterable, Iterator, Sequence, Tuple

from envdoctor.diagnosis.event import Event
from envdoctor.diagnosis.line import Line
from envdoctor.diagnosis.structure.reader import Reader

_MESSAGE = re.compile(
    r"(?:(?P<file>[\w./]{1,100}\.(?:cc?|h|cu):\d{1,6}) )?NCCL (?P<level>WARN|INFO|ERROR) "
    r"(?P<message>.*)"
)
#: What is worth telling, the more specific first: topic and pattern. Groups become fields.
_TOPICS: Sequence[Tuple[str, re.Pattern[str]]] = (
    (
        "connect",
        re.compile(
            r"(?i:\bconnect(?:ion)?(?: to| from)? (?P<peer>\S{3,200}?)(?:<\d{1,6}>)? "
            r"(?:failed|returned)\W{0,4}(?:\d{1,4}\()?(?P<reason>(?:no route|network is un"
            r"|connection timed"
            r"|connection refused|host is|software caused)[\w ]{0,30}))"
        ),
    ),
    (
        "connect",
        re.compile(
            r"(?i:call to (?:recv|send) (?:from|to) (?P<peer>\S{3,200}?)(?:<\d{1,6}>)? failed"
            r"\W{0,4}(?P<reason>(?:no route|network is un|host is)[\w ]{0,30}))"
        ),
    ),
    (
        "connect",
        re.compile(
            r"connect returned (?P<reason>(?:No route|Network is un|Connection timed|Connection"
            r" refused)[\w ]{0,30})"
        ),
    ),
    (
        "no-interface",
        re.compile(
            r"(?i:no socket interface found|no interface found in the same subnet"
            r"|no usable (?:listening )?interface|bootstrap : no (?:usable )?interface)"
        ),
    ),
    (
        "shm",
        re.compile(
            r"(?P<extend>failed to extend /dev/shm)"
            r"|(?P<call>posix_fallocate|ftruncate|fallocate|shm_open|extend /dev/shm\S{0,60}"
            r"|creating shared memory segment"
            r"|attaching to shared memory segment|allocat\w{1,4} shared memory)"
            r".{0,200}(?:No space left on device|\(size \d{1,20}\)|Bus error|Cannot allocate"
            r" memory)"
        ),
    ),
    (
        "p2p-fault",
        re.compile(
            r"(?i:peer access is not supported|peer mapping resources exhausted|enable peer access"
            r"|cudaIpc\w{1,20} (?:failed|returned)|could not (?:open|import) (?:cuda )?ipc"
            r"|failed to (?:open|import|map) .{0,40}\b(?:ipc|peer)\b)"
        ),
    ),
    (
        "ib",
        re.compile(
            r"NET/IB ?:.{0,80}(?:completion (?:from peer .{1,80} )?with (?:error|status=?)"
            r" ?(?P<status>\d{1,3}))"
        ),
    ),
    ("ib", re.compile(r"\bibv_(?:modify_qp|reg_mr|create_\w{2})\w{0,12} failed")),
    ("p2p", re.compile(r"\bvia (?P<way>P2P/\S{1,40}|direct pointer|P2P)")),
    ("interfaces", re.compile(r"(?:NET/Socket|Bootstrap) ?: Using (?P<interfaces>\S.{1,600})")),
)
_PLAIN: Sequence[Tuple[str, re.Pattern[str]]] = (
    (
        "timeout",
        re.compile(
            r"caught collective operation timeout: WorkNCCL\((?:SeqNum=(?P<number>\d{1,12}))?"
            r".{0,40}?OpType=(?P<operation>\w{1,40})"
        ),
    ),
    (
        "connect",
        re.compile(
            r"(?:socket\w{1,40}|bootstrap\w{0,30}): [Cc]onnect(?:ion)? to (?P<peer>\S{3,200}?)"
            r"(?:<\d{1,6}>)? "
            r"(?:failed|returned)\W{0,4}(?:\d{1,4}\()?(?P<reason>(?:[Nn]o route|[Nn]etwork is un"
            r"|[Cc]onnection timed|[Cc]onnection refused)[\w ]{0,30})"
        ),
    ),
    ("p2p-fault", re.compile(r"'peer access is not supported between these two devices'")),
    (
        "shm",
        re.compile(
            r"(?P<call>Error while creating shared memory segment|failed to extend)"
            r" ?\S{0,100}.{0,60}(?:No space left|\(size \d{1,20}\))"
        ),
    ),
)


class Nccl(Reader):
    """Recognises messages of NCCL that tell of interfaces, transports and failures."""

    triggers = (
        "last error:",
        "nccl warn",
        "nccl error",
        "nccl info bootstrap",
        "nccl info net/",
        "via p2p",
        "collective operation timeout",
        "connect to",
        "connect returned",
        "peer access",
        "shared memory segment",
        "failed to extend",
    )
    _words = tuple(triggers)

    def __init__(self) -> None:
        self._is_last_error = False  # the next line is NCCL's last message, as torch repeats it

    def feed(self, line: Line) -> Iterable[Event]:
        """The event of a line that is one."""
        text = line.text
        is_repeated, self._is_last_error = (
            self._is_last_error,
            text.rstrip().endswith("Last error:"),
        )
        if is_repeated and not line.gap:
            return self._repeated(line)
        found = _MESSAGE.search(text) if "NCCL " in text else None
        if found:
            return self._told(line, found)
        lower = text.lower()
        if not any(word in lower for word in self._words):
            return ()
        return self._plain(line)

    def _repeated(self, line: Line) -> Iterator[Event]:
        fields = {"level": "WARN", "message": line.text, **_topic(line.text)}
        yield Event("nccl", line.number, line.text, fields)

    def _told(self, line: Line, found: re.Match[str]) -> Iterator[Event]:
        level, message = found.group("level"), found.group("message")
        fields = {
            "level": level,
            "message": message,
            "file": found.group("file") or "",
            **_topic(message),
        }
        if level == "INFO" and not fields["topic"]:
            return
        fatal = level != "INFO" and "retrying" not in message
        yield Event("nccl", line.number, line.text, fields, fatal=fatal)

    def _plain(self, line: Line) -> Iterator[Event]:
        for topic, pattern in _PLAIN:
            told = pattern.search(line.text)
            if told:
                named = {name: value for name, value in told.groupdict().items() if value}
                fields = {"level": "", "message": told.group(), "topic": topic, **named}
                yield Event("nccl", line.number, line.text, fields)
                return


def _topic(message: str) -> Dict[str, str]:
    """What a message of NCCL is about, with what it names."""
    for topic, pattern in _TOPICS:
        told = pattern.search(message)
        if told:
            return {
                **{name: value for name, value in told.groupdict().items() if value},
                "topic": topic,
            }
    return {"topic": ""}
