from __future__ import annotations

import sys
from pathlib import Path

# Test modules here use one another's helpers.
sys.path.insert(0, str(Path(__file__).parent))
