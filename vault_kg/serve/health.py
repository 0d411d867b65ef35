"""Whether the service is alive and ready, answered without waiting for anything.

| state | ok | healthy | |
| --- | --- | --- | --- |
| healthy | true | true | ready, nobody writes |
| busy | true | false | alive; a write or a rebuild is at work (`activity`, `progress`) |
| degraded | false | false | alive, and the vault cannot be served (`reason`) |

Source: the health check contract of the service seed.
"""

from __future__ import annotations

from typing import Any

from vault_kg.errors import VaultError
from vault_kg.serve.keeper import Keeper


class Health:
    """Answers `health_check` from what is in memory and one try of the lane's lock."""

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper

    def check(self) -> dict[str, Any]:
        """Return the state of the service."""
        try:
            workspace = self._keeper.opened()
        except VaultError as error:
            return {
                "ok": False, "healthy": False, "state": "degraded", "reason": error.message,
                "code": error.code,
            }  # fmt: skip
        if workspace is None:
            return {"ok": True, "healthy": False, "state": "busy", "activity": "opening"}
        job = workspace.job
        if job is not None:
            return {
                "ok": True, "healthy": False, "state": "busy", "activity": job.activity,
                "progress": {"done": job.done, "total": job.total},
            }  # fmt: skip
        if workspace.lane.is_held():
            return {"ok": True, "healthy": False, "state": "busy", "activity": "writing"}
        return {"ok": True, "healthy": True, "state": "healthy"}
