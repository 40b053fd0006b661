"""What looks like a password or a token, in words that strangers print: it is nobody's business."""

from __future__ import annotations

import re
from typing import NamedTuple, Tuple

#: Where the middle of a long line was left out: both ends may be parts of a secret.
_LEFT_OUT = r" \u2026 (?<=[^\n]{500})"
#: Names of what holds a secret, in any case.
_NAMES = (
    r"token|passwd|password|passphrase|secret|api[_-]?key|access[_-]?key|secret[_-]?key"
    r"|private[_-]?key|account[_-]?key|encryption[_-]?key|signing[_-]?key"
)
#: What stands between a name and its value, in all that quotes: name = 'x', 'name': "x",
#: environ['name'] = "x", \"name\": \"x\".
_IS = r"\\{0,3}[\"']?\]?[ \t]{0,20}[=:](?![=:])[ \t]{0,20}\\{0,3}[\"']?"
#: A value: what is in quotes, as far as they go, or a word.
_VALUE = (
    r"(?:(?<=\\[\"'])[^\"'\\\n]+|(?<=\")(?:[^\"\\\n]|\\.)+|(?<=')(?:[^'\\\n]|\\.)+"
    r"|(?<![\"'])[^\s\"',;&\\]+)"
)
#: What is said of a value instead of it: its type, or that there is none.
_NO_VALUE = r"(?!(?:Optional|Union|str|bool|int|bytes|None|null|True|False|true|false)\b)"


class Kind(NamedTuple):
    """A kind of secret: how it looks, and what is told of it."""

    name: str
    pattern: str
    told: str = r"\1..."


#: The kinds, in the order in which they are looked for. Compiled when they are used: that takes
#: milliseconds, and few answers need it. Each takes linear time.
KINDS: Tuple[Kind, ...] = (
    Kind(
        "a user and password before a host",
        r"(://)(?:[^\s/@:\"'\[]*:(?!\d{1,5}/)[^\s\"'@:\u2026]*@|[^/\s@\u2026]*@)(?:[^\s/@\"']*@)*",
        r"\1",
    ),
    Kind(
        "the same, cut before its end",
        r"(://)[^/\s@:\u2026]*:(?!\d{1,5} ?\u2026)[^/\s@\u2026]*(?= ?\u2026)",
    ),
    Kind("a host, or who is before it", rf"(://)[^/\s@:\u2026]+(?=\u2026|{_LEFT_OUT})"),
    Kind("what goes on after a cut", rf"({_LEFT_OUT})[^\s\"'\u2026]+"),
    Kind(
        "a token of a service",
        r"\b(gh[pousr]_|github_pat_|glpat-|glptt-|sk-|AKIA|ASIA|xox[abeprs]-|xapp-|AIza|nvapi-"
        r"|dckr_pat_|ya29\.|hv[sb]\.|SG\.|GOCSPX-|sk_live_|sk_test_|rk_live_|whsec_|dop_v1_)"
        r"[\w.-]{8,}",
    ),
    Kind(
        "a token of letters and digits",
        r"\b(hf_(?=[A-Za-z0-9]{12})|npm_(?=[A-Za-z0-9]{30})|gsk_(?=[A-Za-z0-9]{16})"
        r"|r8_(?=[A-Za-z0-9]{30})|pypi-(?=Ag[\w-]{8}))[\w-]+",
    ),
    Kind("a JSON web token", r"\beyJ[\w-]{8,}(?:\.[\w-]+){0,2}", "eyJ..."),
    Kind("a bearer's token", r"(?i)\b(bearer) +[\w.~+/-]{16,}=*", r"\1 ..."),
    Kind("a cookie", r"(?i)\b((?:set-)?cookie[\"']?[ \t]{0,9}:[ \t]{0,9}[\"']?)[^\"'\s][^\"'\n]*"),
    Kind(
        "an authorization",
        rf"(?i)(?<![\w-])([\w-]*authorization{_IS})(?:(?:bearer|basic|token|digest)[ ])?{_VALUE}",
    ),
    Kind(
        "a value by its name",
        rf"(?i)(?<![\w-])([\w-]*(?:{_NAMES})(?:_base|_?\d{{1,2}})?{_IS}){_NO_VALUE}{_VALUE}",
    ),
    Kind(
        "a value by a short name",
        rf"(?i)(?<![\w-])((?:[\w-]*[_-])?(?:pass|pwd)\\{{0,3}}[\"']?\]?[ ]?=(?!=)[ ]?[\"']?)"
        rf"(?![/~.$]|\d{{1,6}}(?!\w)|[A-Za-z]:[/\\]){_NO_VALUE}{_VALUE}",
    ),
    Kind(
        "what npm and docker keep", rf"(?<![\w-])(_auth{_IS}|\"auth\": ?\"(?=[\w+/=]{{8}})){_VALUE}"
    ),
    Kind(
        "a variable that a call sets",
        r"(?i)((?:setdefault|putenv|setenv)\([\"'][\w-]{0,100}"
        rf"(?:{_NAMES})[\"'], ?[\"']){_VALUE}",
    ),
    Kind(
        "an option's value, --password x",
        rf"(?i)((?<![\w-])--?[\w-]*(?:{_NAMES})[ ]+[\"']?)(?!-)[^\s\"']+",
    ),
    Kind(
        "a variable of a Dockerfile",
        r"(\b(?:ENV|ARG)[ ]+\w*(?:TOKEN|PASSWD|PASSWORD|SECRET|KEY)[ ]+)\S+",
    ),
    Kind(
        "a user's password, as curl is given it",
        r"((?<![\w-])(?:-u|-U|--user|--proxy-user)[ =]+[\"']?)(?!\d+:\d+(?![\w.]))"
        r"([^\s:\"'/]{1,100}:)[^\s\"']+",
        r"\1\2...",
    ),
    Kind(
        "the same in one word",
        r"(\bcurl\b[^\n|;]{0,200}?\s-[uU])([^\s:\"'/-][^\s:\"'/]{0,99}:)[^\s\"']+",
        r"\1\2...",
    ),
    Kind(
        "a password after -p",
        r"(\b(?:login|twine upload|sshpass)\b[^\n|;]{0,200}?\s-p[ =]?[\"']?)(?![-\"'])[^\s\"']+",
    ),
    Kind("the same of mysql", r"(\bmysql(?:dump|admin)?\b[^\n|;]{0,200}?\s-p)[^\s\"']+"),
    Kind(
        "a setting that a command writes",
        r"(?i)(\bconfig(?:ure)?[ ]+set[ ]+(?=\S{0,100}(?:key|token|password|secret|auth))\S{1,200}"
        r"[ ]+[\"']?)(?!-)[^\s\"']+",
    ),
    Kind("a line of netrc", r"(\blogin[ \t]+\S{1,200}[ \t]+password[ \t]+)\S+"),
    Kind("a line of netrc alone", r"(?m)^([ \t]{0,20}password[ \t]{1,9})[^\s:=]+$"),
    Kind("a token of wandb", r"\b(wandb(?:\.login| login)\W[^\n]{0,60}?)\b[0-9a-f]{40}\b"),
    Kind("a hook of Slack", r"(hooks\.slack\.com/\w{1,20}/)[^\s\"']+"),
    Kind("a hook of Discord", r"(discord(?:app)?\.com/api/webhooks/)[^\s\"']+"),
    Kind("a token of a conda channel", r"(://[^\s/\"'@:]{1,200}/t/)[^\s/\"'<]+"),
    Kind(
        "what signs an address",
        r"(?i)([?&](?:sig|signature|x-amz-[a-z-]+|awsaccesskeyid|key|code)=)[^\s&\"']+",
    ),
    Kind("a private key", r"(-----BEGIN (?:[A-Z0-9]{1,10} ){0,3}PRIVATE KEY-----)[^-]+"),
    Kind(
        "a line of a key",
        r"(?m)^([ \t]{0,20})(?=[^0-9\n]{0,76}[0-9])(?=[^A-Z\n]{0,76}[A-Z])(?=[^g-z\n]{0,76}[g-z])"
        r"(?!/)[A-Za-z0-9+/]{60,76}={0,2}$",
    ),
)


def without_secrets(text: str) -> str:
    """What a program said, without what looks like a password or a token."""
    for kind in KINDS:
        text = re.sub(kind.pattern, kind.told, text)
    return text
