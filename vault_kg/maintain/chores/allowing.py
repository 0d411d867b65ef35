"""What an agent may call that does a chore or a pass: enough for the runbook, and nothing else.

The list goes with the prompt. `vault-kg mcp` and every command keep to it where they find it in their
environment; what else an agent can do is for its own configuration to say.
"""

from __future__ import annotations

from typing import Final

CHORE: Final = (
    "kg_read", "kg_search", "kg_put_node", "kg_put_edge", "kg_rename_node", "kg_useful",
    "kg_progress",
)  # fmt: skip
"""What a chore takes: it deletes nothing."""

PASS: Final = (*CHORE, "kg_sync", "kg_delete_node", "kg_delete_edge", "maintain_status")
"""What a full pass takes: it also merges, which ends with a deletion."""


def tools(kind: str) -> list[str]:
    """Return the names of the tools for the kind of a dispatch."""
    return list(PASS if kind == "pass" else CHORE)
