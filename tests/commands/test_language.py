"""In which language commands answer, from the command line to what is printed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable, Dict

import msgspec
import pytest
from rich.cells import cell_len

import envdoctor as package
from envdoctor.commands.options import language_of
from envdoctor.facts.snapshot import dump
from envdoctor.model.facts import Distribution, Facts, seen, unseen

ROOT = Path(__file__).resolve().parents[2]
HAN = re.compile("[\u3400-\u9fff]")


@pytest.fixture
def broken(tmp_path: Path, facts: Facts) -> str:
    """The path of a snapshot in which several findings are made."""
    replace = msgspec.structs.replace
    site = "/home/ann/envs/maptr/lib/python3.8/site-packages"

    def installed(name: str, version: str, **more: Any) -> Distribution:
        path = f"{site}/{name}-{version}.dist-info"
        return Distribution(
            name=name, version=version, path=path, search_entry=site, installer="pip", **more
        )

    target = replace(
        facts.target.value,
        path=(site,),
        implementation="cpython",
        distributions=(
            installed("torch", "2.4.1+cu121"),
            installed("torchvision", "0.15.2"),
            installed("numpy", "2.0.0"),
            installed("mmdet", "3.0.0", requires=("terminaltables",)),
        ),
    )
    path = tmp_path / "broken.json"
    path.write_bytes(dump(replace(facts, target=seen(target, "VIRTUAL_ENV"))))
    return str(path)


@pytest.mark.parametrize(
    ("arguments", "language"),
    [
        (["check", "--lang", "zh"], "zh"),
        (["--lang=zh", "check"], "zh"),
        (["check", "--lang", "zh", "--lang", "en"], "en"),
        (["check", "--lang"], "en"),
        (["check", "--lang", "fr"], "en"),
        (["explain", "--", "--lang=zh"], "en"),
        ([], "en"),
    ],
    ids=" ".join,
)
def test_lang_stands_anywhere(arguments: Any, language: str) -> None:
    assert language_of(arguments, {}) == language
    assert language_of(arguments, {"ENVDOCTOR_LANG": "zh"}) == (
        "zh" if "en" not in arguments else "en"
    )


#: Words that no name, version or command of the reports below holds.
ENGLISH = re.compile(
    r"(?<![\w/-])(?:the|of|was|for|is|not|none|unknown|from|and|which|requires|needs|will)(?![\w/-])"
)


def test_check_is_in_chinese(envdoctor: Callable[..., Any], broken: str) -> None:
    ended = envdoctor("check", "--facts", broken, "--lang", "zh")
    assert ended.code == 1
    lines = ended.out.splitlines()
    assert lines[0].startswith("2 个错误、1 个警告")
    assert lines[1] == (
        "环境：/home/ann/envs/maptr（VIRTUAL_ENV）  Python 3.8.18  torch 2.4.1+cu121"
    )
    assert "   最小改动：1 个包：torchvision 0.15.2 -> 0.19.1+cu121" in lines
    assert "   - mmdet 3.0.0 要求 terminaltables" in lines
    told = [line for line in lines if not line.startswith("     ")]  # commands and paths
    assert [line for line in told if ENGLISH.search(line)] == []
    assert all(cell_len(line) <= 80 for line in told)


def test_reasons_are_in_chinese(envdoctor: Callable[..., Any], broken: str) -> None:
    ended = envdoctor("check", "--facts", broken, "--verbose", "--lang", "zh")
    reasons = ended.out.partition("\n跳过：\n")[2].splitlines()
    assert "  ED210：numpy 2.0.0：无法确定是哪个构建" in reasons
    assert "  ED114：numpy 2.0.0、torch 2.4.1+cu121：glibc 未知" in reasons
    assert [reason for reason in reasons if ENGLISH.search(reason)] == []


def test_json_says_its_language(envdoctor: Callable[..., Any], broken: str) -> None:
    data = {
        language: json.loads(
            envdoctor("check", "--facts", broken, "--format", "json", "--lang", language).out
        )
        for language in ("en", "zh")
    }
    english, chinese = data["en"], data["zh"]
    assert [english["language"], chinese["language"]] == ["en", "zh"]
    for name in ("ruled_out", "target", "machine", "facts_digest"):
        assert english[name] == chinese[name]
    same = ("code", "name", "severity", "phase", "component", "relation", "verify")
    for one, other in zip(english["findings"], chinese["findings"]):
        assert [one[name] for name in same] == [other[name] for name in same]
        assert [fix["commands"] for fix in one["fixes"]] == [f["commands"] for f in other["fixes"]]
        assert not HAN.search(one["summary"] + one["why"])
        assert HAN.search(other["summary"])
        assert HAN.search(other["why"])
    assert [s["code"] for s in english["skipped"]] == [s["code"] for s in chinese["skipped"]]


def test_from_python(broken: str) -> None:
    report = package.check(facts=broken, language="zh")
    assert report.language == "zh"
    assert all(HAN.search(finding.summary) for finding in report.findings)
    assert package.check(facts=broken).language == "en"
    with pytest.raises(ValueError, match="language is one of en, zh"):
        package.check(facts=broken, language="fr")


def test_overview_is_in_chinese(envdoctor: Callable[..., Any], broken: str) -> None:
    ended = envdoctor("--facts", broken, "--lang", "zh")
    lines = ended.out.splitlines()
    assert lines[0].startswith("显卡     A100-SXM4-80GB (8.0)，驱动 535.129.03：可运行 CUDA 12.x")
    assert any(line.startswith("结论     2 个错误、1 个警告") for line in lines), ended.out
    assert any(line.startswith("下一步   envdoctor check") for line in lines)
    assert len(lines) <= 15
    assert all(cell_len(line) <= 80 or "envdoctor check" in line for line in lines)


@pytest.mark.parametrize("command", [(), ("check",), ("explain",), ("facts",)])
def test_help_is_in_chinese(envdoctor: Callable[..., Any], command: Any) -> None:
    for arguments in ((*command, "--help", "--lang", "zh"), ("--lang", "zh", *command, "-h")):
        ended = envdoctor(*arguments)
        assert ended.out.startswith("用法：envdoctor")
        assert "选项：" in ended.out
        assert "显示本帮助并退出。" in ended.out
        assert not re.search(r"\b(?:the|Usage|Options|Commands|default)\b", ended.out)
        assert max(map(cell_len, ended.out.splitlines())) <= 80


def test_pages_are_in_chinese(envdoctor: Callable[..., Any]) -> None:
    ended = envdoctor("explain", "ED412", "--lang", "zh")
    assert ended.out.startswith("ED412 torch-abi-mismatch（")
    assert "## 症状" in ended.out
    assert "## Symptom" not in ended.out
    data = json.loads(envdoctor("explain", "ED412", "--lang", "zh", "--format", "json").out)
    assert data["language"] == "zh"
    assert data["body"].startswith("## 症状")
    listed = json.loads(envdoctor("check", "--list-rules", "--lang=zh", "--format=json").out)
    assert listed["language"] == "zh"
    assert all(HAN.search(rule["title"]) for rule in listed["rules"])
    assert "## Symptom" in envdoctor("explain", "ED412").out
    assert "# 中文" not in envdoctor("explain", "ED412").out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("check", "--format", "x"),
            "错误：'--format' 的值无效：'x' 不是下列之一：'text', 'json'。\n",
        ),
        (("check", "--python"), "错误：选项 '--python' 需要一个值。\n"),
        (
            ("check", "--timeout", "0"),
            "错误：'--timeout' 的值无效：0 不在 0.001 到 86400 秒之间。\n",
        ),
        (("explain",), "错误：缺少参数 'WHAT...'。\n"),
        (
            ("explain", "x y"),
            "错误：没有名为 'x y' 的问题或软件包；列出全部：envdoctor check --list-rules\n",
        ),
        (("check", "--python", "a", "--env", "b"), "错误：--python 与 --env 不能同时使用\n"),
        (
            ("check", "--facts", "/nowhere.json"),
            "envdoctor: /nowhere.json：无法读取：没有那个文件或目录\n",
        ),
        (
            ("check", "--python", "/nowhere"),
            "envdoctor: --python 需要路径，而 /nowhere 不存在\n",
        ),
    ],
    ids=str,
)
def test_errors_are_in_chinese(envdoctor: Callable[..., Any], arguments: Any, said: str) -> None:
    ended = (
        envdoctor(*arguments, "--lang=zh")
        if arguments[-1] != "--python"
        else envdoctor("--lang=zh", *arguments)
    )
    assert ended.code in (2, 3)
    assert ended.err.endswith(said), ended.err


def test_no_environment(envdoctor: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "facts.json"
    reason = "/a/python (--python): is no Python, or none that can be started: exit status 1"
    path.write_bytes(dump(Facts(target=unseen(reason))))
    ended = envdoctor("check", "--facts", str(path), "--lang", "zh")
    assert ended.code == 3
    assert ended.out.startswith("未检查：没有 Python 环境")
    assert ended.err == (
        "envdoctor: 没有可检查的 Python 环境："
        "/a/python（--python）：不是 Python，或无法启动：退出码 1\n"
        "  请指定一个：envdoctor check --python PATH\n"
    )


def started(arguments: Any, environ: Dict[str, str]) -> subprocess.CompletedProcess[bytes]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("LANG", "LANGUAGE", "ENVDOCTOR_LANG") and not name.startswith("LC_")
    }
    return subprocess.run(
        [sys.executable, "-m", "envdoctor", *arguments],
        env={**kept, **environ},
        cwd=ROOT,
        capture_output=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("environ", "verdict"),
    [
        ({"LANG": "zh_CN.UTF-8"}, "2 个错误、1 个警告"),
        ({"LANG": "C", "ENVDOCTOR_LANG": "zh"}, "2 个错误、1 个警告"),
        ({"LANG": "C"}, "2 errors, 1 warning"),
        ({"LANG": "zh_CN.GBK"}, "2 errors, 1 warning"),
    ],
    ids=str,
)
def test_a_process_answers_in_the_language_of_its_locale(
    broken: str, environ: Dict[str, str], verdict: str
) -> None:
    done = started(["check", "--facts", broken], environ)
    assert done.stdout.decode("utf-8").startswith(verdict)
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("language", "warned"),
    [("de", True), ("de_DE.UTF-8", True), ("en_GB", False), ("zh-TW", False), ("C.UTF-8", False)],
)
def test_a_language_that_there_is_not_is_told_once(
    envdoctor: Callable[..., Any],
    snapshot: str,
    monkeypatch: pytest.MonkeyPatch,
    language: str,
    warned: bool,
) -> None:
    monkeypatch.setenv("ENVDOCTOR_LANG", language)
    ended = envdoctor("check", "--facts", snapshot, "--quiet")
    said = f"envdoctor: ENVDOCTOR_LANG={language} is neither en nor zh: answering in English\n"
    assert ended.err == (said if warned else "")
    assert envdoctor("check", "--facts", snapshot, "--quiet", "--lang", "en").err == ""
