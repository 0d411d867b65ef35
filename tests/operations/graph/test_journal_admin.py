"""Deriving the index anew, and what else looks after the journal."""

from __future__ import annotations

import dataclasses
from typing import Any

from tests.operations.builder import ANYBODY
from tests.operations.graph.graphs import Graph
from vault_kg.errors import Cancelled, Unavailable


def everything(graph: Graph) -> dict[str, Any]:
    return {
        "nodes": graph.nodes(include_inactive=True),
        "edges": graph.edges(include_inactive=True),
        "episodes": graph.ask("get_episodes")["episodes"],
        "found": graph.ask("find_entities", query="Ada analyst"),
        "findings": graph.findings(),
    }


def filled(graph: Graph) -> None:
    graph.entity("Ada", "Person", summary="An analyst.")
    graph.entity("Bob", "Person")
    graph.edge("Ada", "knows", "Bob")
    graph.entity("Countess", "Person")
    graph.ask("merge_entities", canonical_name="Ada", alias_names=["Countess"], kind="Person")
    graph.pointer(graph.nodes()[0]["uuid"], "hub", "Nobody")


def test_an_index_derived_anew_gives_the_same_answers(graph: Graph) -> None:
    filled(graph)
    before = everything(graph)
    said: list[tuple[int, int, str]] = []
    caller = dataclasses.replace(ANYBODY, report=lambda *told: said.append(told))
    with graph.nothing_changes():
        done = graph.ask("build_indices", caller)
    assert done["status"] == "ok" and done["indices_built"] and done["files"] > 0
    assert everything(graph) == before
    assert said[-1][0] == said[-1][1] > 0, "progress was reported to the end"


def test_taken_back_it_leaves_the_index_as_it_was(graph: Graph) -> None:
    filled(graph)
    before, said = everything(graph), []
    caller = dataclasses.replace(
        ANYBODY, report=lambda *told: said.append(told), cancelled=lambda: len(said) > 1
    )
    assert isinstance(graph.refusal("build_indices", caller), Cancelled)
    assert everything(graph) == before and not graph.ws.lane.is_held() and graph.ws.job is None


def test_an_edit_is_taken_in_along(graph: Graph) -> None:
    uuid = graph.entity("Ada")
    graph.edit(uuid, "title: Ada", "title: Adah")
    graph.ask("build_indices")
    assert graph.names() == {"Adah"} and graph.get(uuid)["revision"] == 2


def test_a_checkpoint_leaves_nothing_waiting(graph: Graph) -> None:
    filled(graph)
    lock = graph.root / ".git/index.lock"
    lock.touch()
    graph.entity("Dora")
    waiting = graph.ask("prepare_checkpoint")
    assert waiting["success"] is False and waiting["files_total"] == 1 and waiting["reason"]
    lock.unlink()
    done = graph.ask("prepare_checkpoint")
    assert (done["success"], done["files_flushed"], done["files_total"]) == (True, 1, 1)
    assert graph.ask("prepare_checkpoint")["files_total"] == 0


def test_a_checkpoint_tells_how_far_it_is_and_can_be_taken_back(graph: Graph) -> None:
    lock = graph.root / ".git/index.lock"
    graph.entity("Ada")
    lock.touch()
    graph.entity("Bob")
    graph.entity("Cy")
    lock.unlink()
    gone = dataclasses.replace(ANYBODY, cancelled=lambda: True)
    assert isinstance(graph.refusal("prepare_checkpoint", gone), Cancelled)
    said: list[tuple[int, int, str]] = []
    caller = dataclasses.replace(ANYBODY, report=lambda *told: said.append(told))
    assert graph.ask("prepare_checkpoint", caller)["files_flushed"] == 2
    assert said == [(0, 2, "committing")]


def test_there_are_no_vectors_to_strip(graph: Graph) -> None:
    filled(graph)
    with graph.nothing_changes():
        done = graph.ask("strip_wal_embeddings", dry_run=False)
    assert (
        done["files_rewritten"] == done["bytes_before"] == 0 and "never vectors" in done["reason"]
    )


def test_embedding_without_a_model_is_refused_and_counted_in_a_rehearsal(graph: Graph) -> None:
    filled(graph)
    refused = graph.refusal("backfill_summary_embeddings", group_id="main")
    assert isinstance(refused, Unavailable) and refused.data["missing"] == "embedding_model"
    plan = graph.ask("backfill_summary_embeddings", group_id="main", dry_run=True)
    assert (plan["total_entities"], plan["backfilled"]) == (1, 0)
    graph.refusal("backfill_summary_embeddings")


def test_no_rebuild_is_known(graph: Graph) -> None:
    assert graph.ask("rebuild_status", job_id="x")["status"] == "not_found"
