"""The maintenance memory is isolated: in the render, in search, in what is told, and in the debt."""

from __future__ import annotations

import pytest

from tests.maintain.conftest import Garden, Talk
from vault_kg.operations.caller import Caller

LESSON = "A rename that drops the term prompts use costs recall."


@pytest.fixture
def learned(garden: Garden) -> Talk:
    """A session that has learned something about maintenance."""
    gardener = garden.talk(maintenance=True)
    gardener.put("rename-keeps-terms", LESSON, level="maintain", notes=["Zugzwang."])
    gardener.put("thin-gists", "Zugzwang again.", level="maintain")
    gardener.join("rename-keeps-terms", "thin-gists", level="maintain")
    return gardener


def test_it_is_read_by_naming_it(learned: Talk) -> None:
    answer = learned.read(level="maintain")
    assert f"  rename-keeps-terms: {LESSON}\n" in answer["text"]
    assert "HEALTH" not in answer["text"] and "DEBT" not in answer["text"]
    assert learned.node("thin-gists", level="maintain")["edges"][0]["rel"] == "relates-to"


def test_it_is_not_in_the_render(garden: Garden, learned: Talk) -> None:
    for reader in (learned, garden.talk()):
        assert LESSON not in reader.read()["text"]
        assert "rename-keeps-terms" in str(reader.refused("kg_read", ids=["rename-keeps-terms"]))


def test_it_is_not_searched(garden: Garden, learned: Talk) -> None:
    for found in (
        learned.call("kg_search", query="Zugzwang rename-keeps-terms"),
        garden.box.call("kg_search", query="Zugzwang"),
    ):
        assert found["total"] == 0 and "Zugzwang again" not in found["text"]


def test_it_is_never_told_to_other_sessions(garden: Garden, talk: Talk) -> None:
    gardener = garden.talk(maintenance=True)
    gardener.put("rename-keeps-terms", LESSON, level="maintain")
    assert LESSON not in talk.call("kg_put_node", id="a", gist="x", level="user")["text"]
    assert LESSON not in talk.call("kg_search", query="recall")["text"]
    assert talk.call("kg_sync")["total"] == 0


def test_it_owes_nothing(garden: Garden, learned: Talk) -> None:
    learned.put("one-two-three-four-five-six", "x" * 400, level="maintain")
    surveyed = garden.box.call("maintain_status", targets=True)
    assert "maintain" not in {graph["partition"] for graph in surveyed["graphs"]}
    for level in learned.read()["levels"]:
        assert level["nodes"] == 0 and "oversized" not in level["debt_line"]


def test_its_ids_are_its_own(garden: Garden, learned: Talk) -> None:
    talk = garden.talk()
    talk.put("thin-gists", "Of the user.")
    assert talk.node("thin-gists")["gist"] == "Of the user."
    assert learned.node("thin-gists", level="maintain")["gist"] == "Zugzwang again."
    talk.put("other")
    talk.join("thin-gists", "other")
    assert talk.refused("kg_put_edge", **{"from": "other", "to": "rename-keeps-terms"},
                        rel="is", level="user")  # fmt: skip


def test_a_prompt_tells_it_to_those_only_for_whom_it_exists(garden: Garden, learned: Talk) -> None:
    learned.put("alone", "x" * 400)
    user = Caller("agent", partitions=frozenset({"user"}))
    assert LESSON in garden.box.call("maintain_chore")["prompt"]
    assert LESSON not in garden.box.call("maintain_chore", user)["text"]
