"""What is said of a new page that has the title and type of one that was withdrawn."""

from __future__ import annotations

from vault_kg.index import matching
from vault_kg.index.listing import Filter
from vault_kg.operations.caller import Caller
from vault_kg.operations.workspace import Workspace
from vault_kg.records.frontmatter import parse
from vault_kg.state import guards
from vault_kg.state.guards import Guard
from vault_kg.state.sessions import undo_request
from vault_kg.store.plan import Change


def withdrawn(ws: Workspace, caller: Caller, change: Change) -> list[str]:
    """Return a warning where a page like this new one was withdrawn from its partition, else none."""
    if change.kind != "page" or change.after is None or not caller.sees(change.partition):
        return []
    fields = parse(change.after).fields
    wanted = Filter(
        ws.now(), kinds=("page",), types=(str(fields.get("type")),),
        partitions=(change.partition,), lifecycle="withdrawn",
    )  # fmt: skip
    rows = matching.by_title(ws.database, wanted, [str(fields.get("title"))])
    guarded = guards.of_each(ws.database, [row.id for _, row in rows]).values()
    judged = [g[guards.WITHDRAWN] for g in guarded if is_judged(g.get(guards.WITHDRAWN))]
    if not judged:
        return []
    last = max(judged, key=lambda one: (one.at, one.record_id))
    others = f", and {len(judged) - 1} more before" if len(judged) > 1 else ""
    said = f"{last.record_id} of this title and type was withdrawn on {last.at[:10]}"
    return [f"{said} ({last.reason}){others}; it stays so, and this is a new record"]


def is_judged(guard: Guard | None) -> bool:
    """Say whether somebody withdrew a record for what it is, and not a whole session with it."""
    return guard is not None and not guard.request_id.startswith(undo_request(""))
