"""torchrun and other launchers: ranks, exit codes, signals; shells."""

from __future__ import annotations

import re
from typing import Dict, Iterator, Sequence, Tuple

from envdoctor.diagnosis.event import Event
from envdoctor.diagnosis.line import Line
from envdoctor.diagnosis.structure.reader import Reader

_SIGNALS = {"6": "SIGABRT", "7": "SIGBUS", "9": "SIGKILL", "11": "SIGSEGV", "15": "SIGTERM"}
_WORDS = {
    "killed": "SIGKILL",
    "segmentation fault": "SIGSEGV",
    "aborted": "SIGABRT",
    "abort": "SIGABRT",
    "bus error": "SIGBUS",
    "terminated": "SIGTERM",
}
_DIED = r"(?P<word>Killed|Segmentation fault|Aborted|Bus error|Terminated)"
#: How processes are told to have ended badly. `word`, `signal` or `code` say how.
_ENDS: Sequence[Tuple[str, re.Pattern[str]]] = tuple(
    (by, re.compile(pattern))
    for by, pattern in (
        (
            "shell",
            rf"^(?:\S{{1,200}}: )?(?:line \d{{1,6}}: ){{1,2}} {{0,6}}(?P<pid>\d{{1,10}}) {_DIED}"
            rf"(?: \(core dumped\))?(?: {{1,60}}(?P<process>\S.*))?",
        ),
        (
            "shell",
            rf"^(?:\[\d{{1,4}}\][+-]? {{1,4}})?(?:\d{{1,10}} )?{_DIED}(?: \(core dumped\))?(?:"
            rf" {{2,60}}(?P<process>\S.*))?$",
        ),
        (
            "shell",
            r"^(?:zsh|fish|\S{1,100}/zsh): (?:\d{1,10} )?(?P<word>killed|segmentation fault|abort"
            r"|bus error|terminated)(?: \(core dumped\))?(?: {1,20}(?P<process>\S.*))?",
        ),
        ("shell", rf"^\S{{1,200}}\.(?:sh|bash): {_DIED}"),
        (
            "make",
            rf"^(?:g?make|gmake)(?:\[\d{{1,3}}\])?: \*\*\* \[[^\]]{{1,300}}\] (?:Error "
            rf"(?P<code>\d{{1,3}})|{_DIED})",
        ),
        (
            "torchrun",
            r"failed \(exitcode: (?P<code>-?\d{1,5})\) local_rank: (?P<rank>\d{1,5})(?: \(pid: "
            r"(?P<pid>\d{1,10})\))?",
        ),
        ("torchrun", r"^\s{0,4}exitcode {1,3}: (?P<code>-?\d{1,5}) \(pid: (?P<pid>\d{1,10})\)"),
        (
            "torchrun",
            r"Signal \d{1,3} \((?P<signal>SIG\w{2,6})\) received by PID (?P<pid>\d{1,10})",
        ),
        ("subprocess", r"died with <Signals\.(?P<signal>SIG\w{2,6}): \d{1,3}>"),
        ("subprocess", r"returned non-zero exit status (?P<code>-?\d{1,5})\b"),
        ("spawn", r"process (?P<rank>\d{1,5}) terminated with signal (?P<signal>SIG\w{2,6})"),
        ("spawn", r"process (?P<rank>\d{1,5}) terminated with exit code (?P<code>-?\d{1,5})"),
        ("deepspeed", r"exits with return code = (?P<code>-?\d{1,5})"),
        ("loader", rf"DataLoader worker \(pid (?P<pid>\d{{1,10}})\) is killed by signal: {_DIED}"),
        ("joblib", r"exit codes of the workers are \{(?P<signal>SIG\w{2,6})\("),
        (
            "mpirun",
            r"process rank (?P<rank>\d{1,6}) with PID (?P<pid>\d{1,10}) on node \S{1,100} exited"
            r" on signal (?P<number>\d{1,3})",
        ),
        ("shell", r"^Command terminated by signal (?P<number>\d{1,3})$"),
        ("mpirun", r"KILLED BY SIGNAL: (?P<number>\d{1,3})\b"),
        ("srun", rf"^srun: error: \S{{1,100}}: tasks? [\d,-]{{1,60}}: {_DIED}"),
        (
            "srun",
            r"^srun: error: \S{1,100}: tasks? [\d,-]{1,60}: Exited with exit code "
            r"(?P<code>\d{1,3})",
        ),
        ("pycharm", r"Process finished with exit code (?P<code>-?\d{1,12})\b"),
        ("container", r"(?:exited with|[Ee]xit) code:? {0,20}(?P<code>\d{1,3})\b"),
        ("horovod", r"^(?:Process name: \S{0,80}|Exit code:) {0,3}(?P<code>\d{1,3})\b"),
        ("ci", r"(?:completed|failed|exited) with (?:exit )?(?:code|status) (?P<code>\d{1,3})\b"),
    )
)
#: Who ran out of memory by their own account.
_MEMORY = re.compile(
    r"(?P<by>slurmstepd|srun|oom)[^\n]{0,60}"
    r"(?:[Dd]etected \d{1,6} oom[-_]kill|Exceeded (?:job|step) memory limit|task \d{1,6}: Out Of"
    r" Memory"
    r"|exceeded memory limit \()"
    r"|(?:Reason: {1,20}|reason: ?\"?|\b)(?P<kube>OOMKilled)\b"
    r"|(?P<ray>killed due to the node running low on memory|Workers \(tasks / actors\) killed due"
    r" to memory pressure)"
    r"|(?P<dask>Worker .{0,80}exceeded (?:\d{2,3}% )?memory budget)"
)


class Launchers(Reader):
    """Recognises how processes ended, whoever tells."""

    triggers = (
        "killed",
        "segmentation fault",
        "aborted",
        "bus error",
        "terminated",
        "exitcode",
        "received by pid",
        "died with <signals",
        "non-zero exit status",
        "return code =",
        "exit codes of the workers",
        "exited on signal",
        "by signal:",
        "exited with",
        "exit code",
        "failed with code",
        "with status",
        "oom-kill",
        "oom_kill",
        "oomkilled",
        "out of memory",
        "memory limit",
        "low on memory",
        "memory pressure",
        "memory budget",
        "childfailederror",
        "unrecognized arguments",
    )
    _words = tuple(triggers)

    def feed(self, line: Line) -> Iterator[Event]:
        """The end of a process, where a line tells of one."""
        text = line.text
        lower = text.lower()
        if not any(word in lower for word in self._words):
            return
        if "childfailederror" in lower:
            fields = {"what": "a rank"}
            yield Event("failed", line.number, text, fields)
        memory = _MEMORY.search(text)
        if memory:
            named = {name: value for name, value in memory.groupdict().items() if value}
            by = named.get("by") or next(iter(named))
            fields = {"signal": "SIGKILL", "reason": "memory", "by": by, "message": memory.group()}
            yield Event("exit", line.number, text, fields)
            return
        for by, pattern in _ENDS:
            found = pattern.search(text)
            if found:
                ended = _ended(by, found)
                if ended:
                    yield Event("exit", line.number, text, ended)
                return


def _ended(by: str, found: re.Match[str]) -> Dict[str, str]:
    """The fields of a bad end; none of a good one."""
    fields = {name: value for name, value in found.groupdict().items() if value}
    code, number = fields.get("code", ""), fields.pop("number", "")
    word = fields.pop("word", "").lower()
    if code == "0":
        return {}
    if code.startswith("-"):
        number = code[1:]
    elif code.isdecimal() and 128 < int(code) < 160:
        number = str(int(code) - 128)
    signal = fields.get("signal") or _WORDS.get(word) or _SIGNALS.get(number, "")
    return {**fields, "signal": signal, "by": by}
