"""Whether the service is alive and ready, answered without waiting for anything.

| state | ok | healthy | |
| --- | --- | --- | --- |
| healthy | true | true | ready, nobody writes |
| busy | true | false | alive; a write or a rebuild is at work (`activity`, `progress`) |
| degraded | false | false | alive, and the vault cannot be served (`reason`, `code`) |

Source: the health check contract of the service seed. Activities: `opening`, `writing`, and the
names of long jobs, which have `progress` as soon as their extent is known. A vault is ready when
its files were looked at once. `failing` is there where work in the background (`index`, `vectors`,
`events`, `graph`) came to nothing when it was last tried: calls are answered all the same.
"""

from __future__ import annotations

from dataclasses import asdict
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
            return _degraded(error)
        if workspace is None:
            return _busy("opening")
        job = workspace.job
        failing = [asdict(one) for one in self._keeper.failing()]
        more: dict[str, Any] = {"failing": failing} if failing else {}
        if job is not None:
            progress = {"done": job.done, "total": job.total}
            return _busy(job.activity, progress=progress, **more)
        if not self._keeper.has_looked():
            return _busy("indexing", **more)
        if workspace.lane.is_held():
            return _busy("writing", **more)
        return {"ok": True, "healthy": True, "state": "healthy", **more}


def _busy(activity: str, **more: Any) -> dict[str, Any]:
    return {"ok": True, "healthy": False, "state": "busy", "activity": activity, **more}


def _degraded(error: VaultError) -> dict[str, Any]:
    return {
        "ok": False,
        "healthy": False,
        "state": "degraded",
        "reason": error.message,
        "code": error.code,
    }
