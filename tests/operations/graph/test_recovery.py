"""Recovery through an open vault."""

from __future__ import annotations

from typing import Any

import pytest

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


@pytest.mark.parametrize(
    "wrong",
    [{"from_seq": -1}, {"from_seq": True}, {"from_seq": "3"}, {"from_seq": 4, "to_seq": 3},
     {"to_seq": 1.5}],
)  # fmt: skip
def test_bounds_of_a_rebuild_are_checked_first(graph: Graph, wrong: dict[str, Any]) -> None:
    assert isinstance(graph.refusal("rebuild_from_wal", **wrong), InvalidArgument)


def test_a_rebuild_from_the_journal_says_that_it_is_not_there_yet(graph: Graph) -> None:
    graph.entity("Ada")
    for given in ({}, {"dry_run": True}, {"force_clear": True}, {"to_seq": 1}):
        refused = graph.refusal("rebuild_from_wal", **given)
        assert isinstance(refused, Unavailable) and "vault-kg recover" in refused.message
