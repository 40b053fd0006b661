"""Folds what is known of each release into few ranges of releases."""

from __future__ import annotations

from typing import Dict, List, Mapping, Optional, Sequence, Tuple, TypeVar

from packaging.version import Version

from envdoctor.model.versions import satisfies

T = TypeVar("T")


def ranges(releases: Sequence[Version], values: Mapping[Version, Optional[T]]) -> Dict[str, T]:
    """{specifier: value}: the first that a release satisfies is its value; None is left out.

    `releases` are sorted. The last range has no upper end, so that a release which is like the
    one before it changes no range. Raises ValueError where no specifiers can tell them apart.
    """
    found: Dict[str, T] = {}
    runs = _runs(releases, values)
    for place, (run, value) in enumerate(runs):
        if value is not None:
            following = runs[place + 1][0][0] if place + 1 < len(runs) else None
            found[_specifier(run, following)] = value
    for release in releases:
        said = next((v for text, v in found.items() if satisfies(release, text)), None)
        if said != values.get(release):
            raise ValueError(f"no range of releases tells {release} from its neighbours")
    return found


def _runs(
    releases: Sequence[Version], values: Mapping[Version, Optional[T]]
) -> List[Tuple[List[Version], Optional[T]]]:
    runs: List[Tuple[List[Version], Optional[T]]] = []
    for release in releases:
        value = values.get(release)
        if runs and runs[-1][1] == value:
            runs[-1][0].append(release)
        else:
            runs.append(([release], value))
    return runs


def _specifier(run: Sequence[Version], following: Optional[Version]) -> str:
    if following is None:
        return f">={run[0]}"
    # By PEP 440 "<2.0" leaves out 2.0rc1, which may be the last of the run.
    below = f">={run[0]},<{following}"
    if all(satisfies(release, below) for release in run):
        return below
    return f">={run[0]},<={run[-1]}"
