"""The seed's part of knowledge_status: one set of keys in all states, unknown is null."""

from __future__ import annotations

import threading

import pytest

from tests.operations.builder import ANYBODY
from tests.operations.graph.graphs import Graph
from vault_kg.errors import InvalidArgument, Unavailable
from vault_kg.operations import inspection
from vault_kg.operations.caller import Caller
from vault_kg.serve.keeper import Keeper

SEED_KEYS = {
    "database_path", "embedding_model", "embedding_dim", "entity_count", "relationship_count",
    "episode_count", "last_index_time", "index_created_at", "context_graph_initialized",
    "connected", "queryable", "initializing", "degraded", "reason", "recovery_available",
    "indices_built", "wal", "wal_groups", "cross_group_pointers", "ontology",
    "group_ontology_drift", "group_identity_refusals", "dedup_mode",
}  # fmt: skip


def test_counts_are_of_what_stands(graph: Graph) -> None:
    graph.entity("Ada")
    gone = graph.entity("Gone")
    graph.entity("Bob", group="other")
    graph.edge("Ada", "is", "Ada")
    graph.withdraw(gone)
    status = graph.ask("status")
    assert set(status) >= SEED_KEYS
    assert (status["entity_count"], status["relationship_count"], status["episode_count"]) == (
        2,
        1,
        4,
    )
    assert status["connected"] and status["queryable"] and not status["initializing"]
    assert status["wal"]["default_group"] == "main" and status["wal"]["see"] == "wal_groups"


def test_each_group_has_its_own_position(graph: Graph) -> None:
    graph.entity("Ada")
    graph.entity("Bob", group="other")
    groups = graph.ask("status")["wal_groups"]
    assert set(groups) == {"main", "other"}
    assert groups["other"]["applied_seq"] == groups["other"]["max_seq"] == graph.position
    assert groups["main"]["applied_seq"] == graph.position - 1
    assert groups["main"]["hydration_status"] == "hydrated"


def test_an_unavailable_vault_has_the_same_keys_and_null_for_what_is_not_known(
    graph: Graph,
) -> None:
    told = inspection.unavailable(graph.root, "its state is gone")
    status = graph.ask("status")
    assert set(told) == set(status)
    known = {k for k, v in told.items() if v is not None}
    assert known == {
        "connected", "queryable", "initializing", "context_graph_initialized", "degraded",
        "reason", "recovery_available", "root", "version",
    }  # fmt: skip
    assert told["degraded"] is True and told["entity_count"] is None


def test_a_server_answers_for_a_vault_that_cannot_be_opened(graph: Graph) -> None:
    graph.entity("Ada")
    keys = set(graph.ask("status"))
    graph.ws.close()
    (graph.root / ".vault-kg/state.sqlite").rename(graph.root.parent / "away.sqlite")
    keeper = Keeper(graph.root, watch=False)
    told = keeper.call("knowledge_status", {}, ANYBODY)
    assert set(told) == keys and told["degraded"] is True and "recover" in told["reason"]
    for name, given, caller in (
        ("knowledge_list_entities", {}, ANYBODY), ("knowledge_status", {"x": 1}, ANYBODY),
        ("knowledge_status", {}, Caller("w", scopes=frozenset({"write"}))),
    ):  # fmt: skip
        with pytest.raises(Unavailable):
            keeper.call(name, given, caller)


def test_a_vault_that_was_not_looked_at_yet_has_no_counts(graph: Graph) -> None:
    from vault_kg.state import settings

    settings.remove(graph.ws.database, "scanned_at")
    status = graph.ask("status")
    assert (status["queryable"], status["initializing"], status["entity_count"]) == (
        False, True, None,
    )  # fmt: skip


def test_it_answers_while_somebody_writes(graph: Graph) -> None:
    graph.entity("Ada")
    held, done = threading.Event(), threading.Event()

    def write() -> None:
        with graph.ws.lane.hold(), graph.ws.database.write():
            held.set()
            done.wait(20)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert held.wait(10) and graph.ask("status")["entity_count"] == 1
    finally:
        done.set()
        writer.join()


def test_it_takes_no_arguments_and_tells_only_what_its_caller_sees(graph: Graph) -> None:
    assert isinstance(graph.refusal("status", x=1), InvalidArgument)
    graph.entity("Ada")
    graph.entity("Hub", group="secret")
    caller = Caller("c", partitions=frozenset({"secret"}))
    status = graph.ask("status", caller)
    assert (status["entity_count"], set(status["wal_groups"])) == (1, {"secret"})
    assert status["wal"] is None and status["ontology"] is None
