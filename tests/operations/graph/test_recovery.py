"""Recovery through an open vault."""

from __future__ import annotations

from tests.operations.graph.graphs import Graph
from vault_kg.errors import InvalidArgument, Unavailable


def test_a_healthy_vault_needs_no_recovery(graph: Graph) -> None:
    graph.entity("Ada")
    with graph.nothing_changes():
        done = graph.ask("recover_full")
    assert done == {
        "success": True, "recovery_needed": False, "episodes_before": 1, "mutations_replayed": 0,
        "episodes_after": 1, "indexes_rebuilt": False,
    }  # fmt: skip


def test_the_index_can_be_recovered_and_the_state_only_while_it_is_closed(graph: Graph) -> None:
    graph.entity("Ada")
    done = graph.ask("recover", strategy="drop_lbug_wal")
    assert done["success"] and not done["restart_required"] and graph.names() == {"Ada"}
    for strategy in ("rebuild_from_workspace_wal", "restore_from_backup"):
        refused = graph.refusal("recover", strategy=strategy)
        assert isinstance(refused, Unavailable) and "vault-kg recover" in refused.message
    assert isinstance(graph.refusal("recover", strategy="pray"), InvalidArgument)
