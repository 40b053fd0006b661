"""Marks and colours of severities."""

from __future__ import annotations

MARKS = {"error": "x", "warning": "!", "info": "i"}
STYLES = {"error": "bold red", "warning": "bold yellow", "info": "blue"}
