"""Recovery through an open vault: it is healthy then, so this says so and mends what is derived.

A vault whose state is lost cannot be opened; `vault-kg recover` rebuilds it from Git and the files.
"""

from __future__ import annotations

from typing import Literal

from vault_kg.errors import Unavailable
from vault_kg.index import episodes
from vault_kg.operations.caller import Caller
from vault_kg.operations.graph import journal_admin
from vault_kg.operations.graph.request import GraphModel, GraphRequest
from vault_kg.operations.registry import operation
from vault_kg.operations.workspace import Workspace


class Recover(GraphRequest):
    """How to recover."""

    strategy: Literal["drop_lbug_wal", "rebuild_from_workspace_wal", "restore_from_backup"]


class Recovered(GraphModel):
    """What was done."""

    strategy: str
    success: bool
    restart_required: bool
    message: str


class RecoverFull(GraphRequest):
    """Recovery by whatever is needed."""


class RecoveredFull(GraphModel):
    """Whether anything had to be recovered."""

    success: bool
    recovery_needed: bool
    episodes_before: int
    mutations_replayed: int
    episodes_after: int
    indexes_rebuilt: bool


@operation("admin", Recovered, toolset="graph", on_reading=True)
def knowledge_recover(ws: Workspace, request: Recover, caller: Caller) -> Recovered:
    """Recover a vault that is open: what is derived is derived anew; nothing else needs it.

    drop_lbug_wal rebuilds the index. The other strategies are for a vault whose state is lost, and
    are run with `vault-kg recover`, while nobody has it open.
    """
    if request.strategy != "drop_lbug_wal":
        raise Unavailable(
            f"{request.strategy} replaces the state of a vault, and this one is open and healthy. "
            "Stop what uses it, move its state away and run "
            f"`vault-kg recover --vault {ws.vault.root}`",
            strategy=request.strategy,
            rpc_code=-32000,
        )
    files = journal_admin.rebuild(ws, caller)
    return Recovered(
        strategy=request.strategy, success=True, restart_required=False,
        message=f"the index was derived anew from {files} files",
    )  # fmt: skip


@operation("admin", RecoveredFull, toolset="graph", on_reading=True)
def knowledge_recover_full(
    ws: Workspace,
    request: RecoverFull,
    caller: Caller,
) -> RecoveredFull:
    """Say that nothing has to be recovered: a vault that is open is healthy."""
    count = episodes.count(ws.database, episodes.Wanted(caller.partitions))
    return RecoveredFull(
        success=True, recovery_needed=False, episodes_before=count, mutations_replayed=0,
        episodes_after=count, indexes_rebuilt=False,
    )  # fmt: skip
