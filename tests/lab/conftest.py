from __future__ import annotations

import sys
from pathlib import Path

# What makes environments and wheels is shared with the acceptance tests.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "acceptance"))
