"""Writes what `apply_patches.py` reads."""

from __future__ import annotations

import json
from typing import Dict, Iterable, Mapping

from envdoctor.knowledge.patches import Patch


def patches_json(names: Iterable[str], known: Mapping[str, Patch]) -> str:
    """The PATCHES.json of some patches, which are applied in this order to one source.

    Raises KeyError for a name that is not known.
    """
    return json.dumps({"patches": [_told(known[name]) for name in names]}, indent=1) + "\n"


def by_source(names: Iterable[str], known: Mapping[str, Patch]) -> Dict[str, Dict[str, Patch]]:
    """Patches by the source that they are for, a package or a profile, each in the order given.

    Raises KeyError for a name that is not known.
    """
    found: Dict[str, Dict[str, Patch]] = {}
    for name in names:
        found.setdefault(known[name].of, {})[name] = known[name]
    return found


def _told(patch: Patch) -> Dict[str, object]:
    return {
        "patch": patch.patch,
        "edits": [
            {
                "files": edit.files,
                "find": edit.find,
                "put": edit.put,
                "least": edit.places,
                "done": edit.done,
            }
            for edit in patch.edits
        ],
    }
