"""What is said of the vault to a caller who takes something long back after a part of it was written."""

from __future__ import annotations

import pytest

from tests.operations.graph.graphs import Graph
from vault_kg.errors import Cancelled
from vault_kg.operations.caller import Caller


def once_written(graph: Graph) -> Caller:
    """Return a caller who takes back what it asked for as soon as anything is written."""
    before = graph.position
    return Caller("c", cancelled=lambda: graph.position > before)


def test_corrections_that_are_applied_are_named(graph: Graph) -> None:
    for name in ("Ada", "Adda", "Bob", "Bobb"):
        graph.entity(name)
    entry = "- {{id: {}, type: same_as, canonical: {}, aliases: [{}]}}\n"
    graph.put(
        "corrections.yaml",
        "corrections:\n" + entry.format("a1", "Ada", "Adda") + entry.format("b1", "Bob", "Bobb"),
    )
    with pytest.raises(Cancelled) as caught:
        graph.ask("apply_corrections", once_written(graph))
    assert "nothing was changed" not in caught.value.message
    assert "a1" in caught.value.message and "b1" not in caught.value.message
    assert graph.names() == {"Ada", "Bob", "Bobb"}
    done = graph.ask("apply_corrections")
    assert (done["applied"], done["skipped"]) == (1, 1), "and the rest is applied as it says"


def test_a_rebuild_that_is_written_is_told(graph: Graph) -> None:
    graph.entity("Ada")
    bob = graph.entity("Bob")
    path = graph.path(bob)
    with pytest.raises(Cancelled) as caught:
        graph.ask("rebuild_from_wal", once_written(graph), to_seq=1)
    assert not path.exists()
    assert "nothing was changed" not in caught.value.message
    assert "'main' is rebuilt" in caught.value.message
    assert "knowledge_build_indices" in caught.value.message
    assert graph.names() == {"Ada"}


def test_before_anything_is_written_nothing_is_changed(graph: Graph) -> None:
    graph.entity("Ada")
    stop = Caller("c", cancelled=lambda: True)
    graph.put(
        "corrections.yaml", "corrections:\n- {id: a, type: same_as, canonical: A, aliases: [B]}\n"
    )
    for name in ("apply_corrections", "rebuild_from_wal"):
        assert "nothing was changed" in graph.refusal(name, stop).message
