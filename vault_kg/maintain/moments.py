"""Times before now, and days, as state keeps them."""

from __future__ import annotations

from datetime import datetime, timedelta

from vault_kg.operations.workspace import Workspace, instant

_SECONDS_A_DAY = 86_400


def before(ws: Workspace, ago: timedelta) -> str:
    """Return the time so long before now (UTC, RFC 3339, seconds)."""
    return instant(ws.clock() - ago)


def days_between(earlier: str, later: str) -> float:
    """Return how many days lie between two times; none where the first is the later one."""
    passed = datetime.fromisoformat(later) - datetime.fromisoformat(earlier)
    return max(0.0, passed.total_seconds() / _SECONDS_A_DAY)
