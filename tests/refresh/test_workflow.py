"""The weekly workflow: what it may, what it calls, and what its steps do to a repository."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, Dict, List

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / ".github" / "workflows"
STEPS = ROOT / "scripts" / "refresh-weekly"


def workflow(name: str) -> Dict[Any, Any]:
    content: Dict[Any, Any] = yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))
    return content


def test_it_runs_weekly_and_on_demand() -> None:
    triggers = workflow("refresh.yml")[True]  # YAML 1.1 reads `on` so
    assert set(triggers) == {"schedule", "workflow_dispatch"}
    (entry,) = triggers["schedule"]
    assert re.fullmatch(r"\d+ \d+ \* \* [0-6]", entry["cron"])


def test_it_may_no_more_than_it_needs() -> None:
    content = workflow("refresh.yml")
    assert content["permissions"] == {"contents": "read"}
    (job,) = content["jobs"].values()
    assert job["permissions"] == {"contents": "write", "pull-requests": "write"}
    assert job["timeout-minutes"] <= 90
    assert "default_branch" in job["if"]


def test_its_steps_exist_and_are_pinned_as_others_are() -> None:
    (job,) = workflow("refresh.yml")["jobs"].values()
    used = {step["uses"] for step in job["steps"] if "uses" in step}
    assert used == {
        step["uses"]
        for other in workflow("ci.yml")["jobs"].values()
        for step in other["steps"]
        if "uses" in step
    }
    runs = [step["run"] for step in job["steps"] if "run" in step]
    assert [run.split()[1] for run in runs] == ["read", "test", "propose", "conclude"]
    for run in runs:
        assert "${{" not in run  # nothing from elsewhere is made part of a command
        assert os.access(str(ROOT / run.split()[0]), os.X_OK)
    for path in re.findall(r"tests/\w+(?:/\w+)?(?:\.py)?", STEPS.read_text(encoding="utf-8")):
        assert (ROOT / path).exists()


GH = """#!/bin/sh
echo "$*" >>"$GH_SAYS"
case "$1 $2" in
"pr list") cat "$GH_OPEN" ;;
"pr view") cat "$GH_PEOPLE" ;;
"pr create" | "pr edit") cat "$NOTES/text" >"$GH_TEXT" ;;
esac
"""


class Clone:
    """A clone with the script, an origin beside it, and commands that stand for others."""

    def __init__(self, folder: Path) -> None:
        self.root, self.notes, self.says = folder / "clone", folder / "notes", folder / "says"
        (self.root / "scripts").mkdir(parents=True)
        (self.root / "matrices" / "packages").mkdir(parents=True)
        (folder / "bin").mkdir()
        shutil.copy(str(STEPS), str(self.root / "scripts"))
        self.file = self.root / "matrices" / "packages" / "demo.yaml"
        self.file.write_text("old\n", encoding="utf-8")
        self.page = self.root / "docs" / "coverage.md"
        self.page.parent.mkdir()
        self.page.write_text("old\n", encoding="utf-8")
        self.command(self.root / "scripts" / "pages", "#!/bin/sh\necho new >>docs/coverage.md\n")
        self.command(folder / "bin" / "gh", GH)
        for name in ("open", "people", "text", "says"):
            (folder / name).write_text("", encoding="utf-8")
        self.environment = {
            **os.environ,
            "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "NOTES": str(self.notes),
            "GIT_CONFIG_GLOBAL": os.devnull,
            **{
                f"GH_{name.upper()}": str(folder / name)
                for name in ("open", "people", "text", "says")
            },
        }
        self.git("init", "--quiet", "--initial-branch", "main")
        self.git("init", "--quiet", "--bare", str(folder / "origin"))
        self.git("remote", "add", "origin", str(folder / "origin"))
        self.refreshes(0)
        self.tests(0)
        self.git("add", ".")
        who = ("-c", "user.name=who", "-c", "user.email=who@host")
        self.git(*who, "commit", "--quiet", "--message", "first")
        self.git("push", "--quiet", "origin", "main")

    def command(self, path: Path, text: str) -> None:
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)

    def refreshes(self, status: int, said: str = "") -> None:
        news = "echo new >>matrices/packages/demo.yaml; echo 'demo: 1 lines more'\n"
        text = f"#!/bin/sh\n{news}echo 'Setting up' >&2\n{said}\nexit {status}\n"
        self.command(self.root / "scripts" / "refresh", text)

    def tests(self, status: int) -> None:
        text = f"#!/bin/sh\necho 'tested: ```'\nexit {status}\n"
        self.command(self.root / "scripts" / "test", text)

    def git(self, *arguments: str) -> str:
        command = ["git", *arguments]
        done = subprocess.run(
            command,
            cwd=str(self.root),
            env=self.environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def step(self, *arguments: str) -> int:
        command = ["sh", str(self.root / "scripts" / "refresh-weekly"), arguments[0]]
        command += [str(self.notes), *arguments[1:]]
        return subprocess.run(
            command, env=self.environment, capture_output=True, text=True, check=False
        ).returncode

    def all(self) -> List[int]:
        steps = (["read"], ["test"], ["propose", "refresh"], ["conclude"])
        return [self.step(*step) for step in steps]

    def text(self) -> str:
        return Path(self.environment["GH_TEXT"]).read_text(encoding="utf-8")


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path)


def test_what_has_changed_is_proposed(clone: Clone) -> None:
    main = clone.git("rev-parse", "main")
    assert clone.all() == [0, 0, 0, 0]
    assert "pr create --base main --head refresh" in clone.says.read_text(encoding="utf-8")
    assert "    demo: 1 lines more\n" in clone.text()
    assert "tests of the matrices pass" in clone.text()
    assert "could not be read" not in clone.text()
    assert clone.git("ls-remote", "origin", "main").split()[0] == main.strip()
    assert clone.git("diff", "--name-only", "main", "origin/refresh").split() == [
        "docs/coverage.md",
        "matrices/packages/demo.yaml",
    ]


def test_what_could_not_be_read_and_what_fails_is_said(clone: Clone) -> None:
    clone.refreshes(3, "echo 'refresh: demo: ``` <b>' >&2")
    clone.tests(1)
    assert clone.all() == [0, 0, 0, 1]
    assert "    refresh: demo: ``` <b>\n" in clone.text()
    assert "    tested: ```\n" in clone.text()
    assert "Setting up" not in clone.text()


def test_nothing_is_proposed_without_news(clone: Clone) -> None:
    clone.command(clone.root / "scripts" / "refresh", "#!/bin/sh\n")
    assert clone.all() == [0, 0, 0, 0]
    assert clone.says.read_text(encoding="utf-8") == ""


def test_a_program_that_fails_ends_it(clone: Clone) -> None:
    clone.refreshes(2)
    assert clone.step("read") == 2


def test_an_open_request_is_renewed_unless_people_work_on_it(clone: Clone) -> None:
    Path(clone.environment["GH_OPEN"]).write_text("7\n", encoding="utf-8")
    assert clone.all() == [0, 0, 0, 0]
    assert "pr edit 7 --body-file" in clone.says.read_text(encoding="utf-8")
    clone.git("switch", "--quiet", "main")
    before = clone.git("ls-remote", "origin", "refresh")
    Path(clone.environment["GH_PEOPLE"]).write_text("anna\n", encoding="utf-8")
    assert clone.all()[:3] == [0, 0, 1]
    assert clone.git("ls-remote", "origin", "refresh") == before


def test_main_is_never_pushed_to(clone: Clone) -> None:
    assert clone.step("read") == 0
    assert clone.step("propose", "main") == 2
    assert clone.says.read_text(encoding="utf-8") == ""
