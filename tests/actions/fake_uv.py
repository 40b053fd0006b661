"""Stands in for uv: resolves a small world in the same way, and says what uv says.

Its world is a JSON file, WORLD: {package: {version: [requirement, ...]}}. A version "sdist:1.0" has
sources only. Folders of UV_FIND_LINKS hold more wheels. Each call is noted in WORLD.calls.
"""

from __future__ import annotations

import json
import os
import sys
import zipfile
from email.parser import Parser
from pathlib import Path
from typing import Dict, List, Optional, Tuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

World = Dict[str, Dict[Version, Tuple[List[str], str]]]


def world() -> Tuple[World, Dict[str, List[Version]]]:
    said = json.loads(Path(os.environ["WORLD"]).read_text())
    found: World = {}
    sources: Dict[str, List[Version]] = {}
    for name, releases in said.items():
        found[name] = {}
        for text, requires in releases.items():
            kind, _, version = text.rpartition(":")
            if kind:
                sources.setdefault(name, []).append(Version(version))
            else:
                url = f"https://files.example.org/{name}-{version}-py3-none-any.whl"
                found[name][Version(version)] = (requires, url)
    for folder in os.environ.get("UV_FIND_LINKS", "").split(","):
        for path in Path(folder).glob("*.whl"):
            with zipfile.ZipFile(path) as archive:
                (name,) = [n for n in archive.namelist() if n.endswith("METADATA")]
                metadata = Parser().parsestr(archive.read(name).decode())
            package, version = canonicalize_name(metadata["Name"]), Version(metadata["Version"])
            requires = metadata.get_all("Requires-Dist") or []
            found.setdefault(package, {}).setdefault(version, (requires, str(path)))
    return found, sources


class Solver:
    def __init__(self, python: str, constraints: List[str], overrides: List[str]) -> None:
        self.world, self.sources = world()
        self.environment = {"python_version": ".".join(python.split(".")[:2]), "extra": ""}
        self.constraints = [Requirement(text) for text in constraints]
        self.overrides: Dict[str, List[Requirement]] = {}
        for text in overrides:
            line = Requirement(text)
            self.overrides.setdefault(canonicalize_name(line.name), []).append(line)
        self.reason = ""

    def lines(self, texts: List[str], owner: str) -> List[Tuple[Requirement, str]]:
        found = []
        for text in texts:
            line = Requirement(text)
            name = canonicalize_name(line.name)
            found += [
                (one, owner)
                for one in self.overrides.get(name, [line])
                if one.marker is None or one.marker.evaluate(self.environment)
            ]
        return found

    def solve(
        self, todo: List[Tuple[Requirement, str]], chosen: Dict[str, Version]
    ) -> Optional[Dict[str, Version]]:
        for line, owner in todo:
            name = canonicalize_name(line.name)
            if name in chosen and chosen[name] not in line.specifier:
                by = f"{owner} depends on" if owner else "you require"
                self.reason = self.reason or (
                    f"Because {by} {name}{line.specifier} and you require {name}=={chosen[name]}, "
                    "we can conclude that your requirements are unsatisfiable."
                )
                return None
        todo = [one for one in todo if canonicalize_name(one[0].name) not in chosen]
        if not todo:
            return chosen
        name = canonicalize_name(todo[0][0].name)
        wanted = [line.specifier for line, _ in todo if canonicalize_name(line.name) == name]
        wanted += [c.specifier for c in self.constraints if canonicalize_name(c.name) == name]
        fitting = [v for v in self.world.get(name, {}) if all(v in w for w in wanted)]
        for version in sorted(fitting, reverse=True):
            owner = f"{name}=={version}"
            more = self.lines(self.world[name][version][0], owner)
            found = self.solve([*todo, *more], {**chosen, name: version})
            if found is not None:
                return found
        if not fitting:
            spec = ",".join(map(str, wanted))
            has = [v for v in self.sources.get(name, []) if all(v in w for w in wanted)]
            what = f"there is no version of {name}{spec}"
            what = f"{name}=={has[0]} has no usable wheels" if has else what
            by = f"{todo[0][1]} depends on" if todo[0][1] else "you require"
            self.reason = self.reason or (
                f"Because {what} and {by} {name}{spec}, we can conclude that your requirements are "
                "unsatisfiable."
            )
        return None


def option(name: str) -> str:
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else ""


def lines_of(path: str) -> List[str]:
    return Path(path).read_text().splitlines() if path else []


def main() -> int:
    if "--version" in sys.argv:
        print(os.environ.get("FAKE_VERSION", "uv 0.13.9 (x86_64-unknown-linux-gnu)"))
        return 0
    asked = sys.stdin.read().splitlines()
    constraints, overrides = lines_of(option("--constraint")), lines_of(option("--override"))
    call = {
        "argv": sys.argv[1:],
        "asked": asked,
        "constraints": constraints,
        "overrides": overrides,
        "environ": {n: v for n, v in os.environ.items() if n.startswith(("UV_", "SSL_"))},
    }
    with Path(os.environ["WORLD"] + ".calls").open("a") as calls:
        calls.write(json.dumps(call) + "\n")
    if os.environ.get("FAKE_SAYS"):
        print(os.environ["FAKE_SAYS"], file=sys.stderr)
        return 2
    solver = Solver(option("--python-version"), constraints, overrides)
    found = solver.solve(solver.lines(asked, ""), {})
    if found is None:
        print("error: No solution found when resolving dependencies", file=sys.stderr)
        print(f"  cause: {solver.reason}", file=sys.stderr)
        return 1
    print('lock-version = "1.0"')
    for name, version in sorted(found.items()):
        url = solver.world[name][version][1]
        kind = "url" if "://" in url else "path"
        print(f'[[packages]]\nname = "{name}"\nversion = "{version}"')
        print(f'wheels = [{{ {kind} = "{url}", hashes = {{ sha256 = "{"0" * 64}" }} }}]')
    return 0


if __name__ == "__main__":
    sys.exit(main())
