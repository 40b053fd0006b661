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
    """The oldest release of the branch that serves just this CUDA, told as "470 (CUDA 11.4)"."""
    table = knowledge.tables.get("branch")
    for branch, row in table.rows.items() if table else ():
        if str(row.get("serves")) == served and "lowest" in row:
            oldest = WrittenVersion(str(row["lowest"]))
            oldest.text = f"{branch} (CUDA {served})"
            return oldest
    return None
