"""What needs a language model is refused plainly while there is none, and retains nothing."""

from __future__ import annotations

from typing import Any

import pytest

from tests.operations.graph.graphs import Graph
from vault_kg.errors import InvalidArgument, Unavailable
from vault_kg.serve import rpc

ASKED: dict[str, dict[str, Any]] = {
    "process_chunk": {"chunk_text": "Ada met Bob.", "chunk_id": "c1", "source_file": "a.md"},
    "add_episode": {"name": "e", "episode_body": "Ada met Bob."},
    "reprocess_entity_types": {"group_id": "main"},
    "reprocess_relation_types": {"group_id": "main", "scope": "all", "dry_run": True},
}  # fmt: skip


@pytest.mark.parametrize("name", ASKED)
def test_it_says_that_no_model_is_configured(graph: Graph, name: str) -> None:
    refused = graph.refusal(name, **ASKED[name])
    assert isinstance(refused, Unavailable)
    assert "no extraction model is configured" in refused.message
    answer = rpc.refusal(1, refused)["error"]
    assert answer["code"] == -32000, "the vault itself is available"
    assert answer["data"]["code"] == "unavailable" and "rpc_code" not in answer["data"]


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("process_chunk", {"chunk_text": "  \n"}), ("process_chunk", {"chunk_id": ""}),
        ("process_chunk", {"reference_time": "yesterday"}), ("add_episode", {"source": "video"}),
        ("add_episode", {"episode_body": " "}), ("reprocess_entity_types", {"scope": "some"}),
        ("reprocess_relation_types", {"group_id": None}), ("add_episode", {"attributes": 3}),
    ],
)  # fmt: skip
def test_a_client_learns_of_its_own_faults_first(
    graph: Graph, name: str, wrong: dict[str, Any]
) -> None:
    assert isinstance(graph.refusal(name, **ASKED[name] | wrong), InvalidArgument)
