"""Lines of the kernel's log: processes that it killed, and what stops them."""

from __future__ import annotations

import re
from typing import Iterator

from envdoctor.diagnosis.event import Event
from envdoctor.diagnosis.line import Line
from envdoctor.diagnosis.structure.reader import Reader

_KILLED = re.compile(
    r"(?P<of>Memory cgroup out of memory|Out of memory)(?: \([\w.]{1,30}\))?: Kill(?:ed)? process "
    r"(?P<pid>\d{1,10}),? (?:UID \d{1,10} )?\((?P<process>[^)]{1,40})\)"
)
_CONSTRAINT = re.compile(
    r"oom-kill:constraint=(?P<of>CONSTRAINT_\w{1,30}).{0,2000}?\btask=(?P<process>[^,]{1,40}),pid="
    r"(?P<pid>\d{1,10})"
)
_INVOKED = re.compile(r"(?P<process>\S{1,40}) invoked oom-killer")
_OOMD = re.compile(r"Killed (?P<process>/\S{1,200}) due to memory (?:used|pressure)")
_FAULT = re.compile(
    r"(?P<message>AMD-Vi: .{0,40}IO_PAGE_FAULT|DMAR: \[DMA \w{4,5}\w* ?[\w ]{0,40}\])"
)


class Kernel(Reader):
    """Recognises what the kernel says of memory and of the IOMMU."""

    triggers = (
        "out of memory",
        "oom-kill",
        "due to memory",
        "io_page_fault",
        "dmar: [dma",
    )

    def feed(self, line: Line) -> Iterator[Event]:
        """The event of a line that is one."""
        text = line.text
        if not self.concerns(text):
            return
        for topic, pattern in (
            ("oom", _KILLED),
            ("oom", _CONSTRAINT),
            ("oom-invoked", _INVOKED),
            ("oom", _OOMD),
            ("iommu", _FAULT),
        ):
            found = pattern.search(text)
            if found:
                fields = {name: value for name, value in found.groupdict().items() if value}
                fields = {"message": found.group(), **fields, "topic": topic}
                yield Event("kernel", line.number, text, fields)
                return
