"""What an NVIDIA driver serves, by its branch."""

from __future__ import annotations

from typing import Optional

from packaging.version import Version

from envdoctor.knowledge.load import Knowledge
from envdoctor.model.versions import WrittenVersion


def serves(driver: Version, knowledge: Knowledge) -> Optional[str]:
    """The newest CUDA that a driver serves natively: its branch's, else the next older one's.

    None where the matrices know no branch that old.
    """
    table = knowledge.tables.get("branch")
    served = {
        branch: str(row["serves"])
        for branch, row in (table.rows.items() if table else ())
        if isinstance(branch, Version) and branch.major <= driver.major and "serves" in row
    }
    return served[max(served)] if served else None


def of_branch(served: str, knowledge: Knowledge) -> Optional[Version]:
    """The oldest release of the branch that serves just this CUDA, told as "470 (CUDA 11.4)".

    Not one before the floor of its family: 450.36 serves 11.0, and 450.80 all of 11.
    """
    table, families = knowledge.tables.get("branch"), knowledge.tables.get("family")
    for branch, row in table.rows.items() if table else ():
        lowest = row.get("lowest")
        if str(row.get("serves")) == served and isinstance(lowest, Version):
            floors = [r["floor"] for r in families.rows.values()] if families else []
            own = [f for f in floors if isinstance(f, Version) and f.major == lowest.major]
            oldest = WrittenVersion(str(max([lowest, *own])))
            oldest.text = f"{branch} (CUDA {served})"
            return oldest
    return None
