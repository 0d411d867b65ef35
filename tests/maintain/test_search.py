"""kg_search: both levels, every tier, within its room; and what a new node is told it may repeat."""

from __future__ import annotations

import json
import threading

import pytest

from tests.maintain.conftest import Garden, Talk
from vault_kg.maintain import tending
from vault_kg.operations.caller import Caller
from vault_kg.state import tiers


def test_both_levels_and_all_tiers_are_searched(garden: Garden, talk: Talk) -> None:
    talk.put("retry-policy", "Back off on errors.")
    talk.put("retry-queue", "Holds what failed.", level="project")
    tending.put(garden.box.ws, "user", {talk.node("retry-policy")["record"]: tiers.ORPHANED}, 0)
    found = talk.call("kg_search", query="retry")
    assert {one["id"] for one in found["full"]} == {"retry-policy", "retry-queue"}
    assert "retry-policy [user, orphaned, revision 1]" in found["text"]
    other = garden.talk("beta").call("kg_search", query="retry")
    assert [one["id"] for one in other["full"]] == ["retry-policy"]
    assert garden.box.call("kg_search", query="retry")["total"] == 1, "without a session the user's"


def test_five_come_in_full_and_ten_in_a_line(talk: Talk) -> None:
    for n in range(20):
        talk.put(f"node-{n}", f"Zugzwang number {n}.", notes=[f"Note {n}."])
    found = talk.call("kg_search", query="zugzwang")
    assert (len(found["full"]), len(found["more"]), found["total"]) == (5, 10, 20)
    assert "MORE:" in found["text"] and "… and 5 more" in found["text"]


def test_notes_are_shown_where_they_were_not_read(garden: Garden, talk: Talk) -> None:
    talk.put("a", "Zugzwang.", notes=["A note."])
    other = garden.talk()
    assert "A note." in other.call("kg_search", query="zugzwang")["text"]
    again = other.call("kg_search", query="zugzwang")
    assert "A note." not in again["text"] and again["full"][0]["notes"] == ["A note."]
    other.put("a", "Zugzwang!", notes=["Mine."])


def test_an_answer_keeps_within_its_room(talk: Talk) -> None:
    for n in range(15):
        talk.put(f"node-{n}", f"Zugzwang {n} " + "x" * 900, notes=["y" * 3_000])
    found = talk.call("kg_search", query="zugzwang")
    assert len(found["text"]) <= 10_000
    assert len(found["full"]) + len(found["more"]) < 15 and "more; say more words" in found["text"]


def test_nodes_between_the_best_are_named(talk: Talk) -> None:
    talk.put("first", "Zugzwang one.")
    talk.put("bridge", "Between.")
    talk.put("second", "Zugzwang two.")
    talk.join("first", "bridge")
    talk.join("bridge", "second")
    found = talk.call("kg_search", query="zugzwang")
    assert [one["id"] for one in found["connectors"]] == ["bridge"]
    assert "CONNECTING:\n  bridge [user, active]: Between." in found["text"]


def test_nothing_found_is_an_answer(talk: Talk) -> None:
    found = talk.call("kg_search", query="nothing like this")
    assert found["text"] == "Nothing found." and found["total"] == 0


def test_searching_is_no_use(garden: Garden, talk: Talk) -> None:
    talk.put("a", "Zugzwang.")
    record = talk.node("a", maintenance=True)["record"]
    garden.talk().call("kg_search", query="zugzwang")
    from vault_kg.state import usage

    assert usage.use_of(garden.box.ws.database, record).read_at is None


# Nudges


def test_a_new_node_that_says_what_another_says_is_told(talk: Talk) -> None:
    for n in range(10):
        talk.put(f"filler-{n}", f"Something else entirely, variant{n}.")
    talk.put("kubernetes-liveness-probe", "Liveness probes restart containers that hang.")
    said = talk.call(
        "kg_put_node", id="liveness-probes-restart", level="user",
        gist="Kubernetes liveness probes restart hanging containers.",
    )  # fmt: skip
    assert "kubernetes-liveness-probe may say the same" in said["warnings"][0]
    said = talk.call("kg_put_node", id="terraform-locks", gist="State locks expire.", level="user")
    assert said["warnings"] == []


def test_a_term_that_a_node_owns_is_to_be_linked(talk: Talk) -> None:
    talk.put("websocket-gateway", "Terminates connections.")
    for n in range(30):
        talk.put(f"filler-{n}", f"Variant{n} of something.")
    words = ["alpha", "bravo", "delta", "echoes", "foxtrot", "hotel"]
    for n, word in enumerate(words):
        talk.put(f"s{n}", f"Speaks {word} over websocket.")
    said = talk.call(
        "kg_put_node", id="metrics-push", level="user",
        gist="Metrics reach dashboards through websocket frames every second.",
    )  # fmt: skip
    assert said["warnings"] == [
        "websocket-gateway owns 'websocket'; link to it rather than describe it again"
    ]


def test_a_small_level_is_not_nudged(talk: Talk) -> None:
    talk.put("a", "Liveness probes restart containers.")
    said = talk.call(
        "kg_put_node", id="b", gist="Liveness probes restart containers.", level="user"
    )
    assert said["warnings"] == []


def test_nodes_of_other_partitions_connect_nothing(garden: Garden, talk: Talk) -> None:
    box = garden.box
    ends = [talk.node(talk.put(name, "Zugzwang."))["record"] for name in ("first", "last")]
    hidden = box.page("Between", "Entity", partition="secret", summary="A hidden gist.")
    for end in ends:
        box.relationship(end, hidden, "relates_to", "So it is.", partition="user")
    user = Caller("agent", partitions=frozenset({"user"}))
    found = box.call("kg_search", user, query="zugzwang")
    assert found["total"] == 2 and found["connectors"] == []
    assert "hidden gist" not in json.dumps(found)


@pytest.mark.parametrize("content", [None, "---\nformat: knowledge-record-v1\nid: [\n---\nx\n"])
def test_a_file_that_went_or_broke_costs_itself_only(
    garden: Garden, talk: Talk, content: str | None
) -> None:
    talk.put("sound", "Zugzwang.")
    path = garden.box.path(talk.node(talk.put("lost", "Zugzwang."))["record"])
    path.unlink() if content is None else path.write_text(content)
    for caller in (talk.call, garden.box.call):
        assert [one["id"] for one in caller("kg_search", query="zugzwang")["full"]] == ["sound"]


def test_a_file_that_went_while_somebody_writes_is_named_only(garden: Garden, talk: Talk) -> None:
    talk.put("sound", "Zugzwang.")
    garden.box.path(talk.node(talk.put("lost", "Zugzwang."))["record"]).unlink()
    held, done = threading.Event(), threading.Event()

    def write() -> None:
        with garden.box.ws.lane.hold():
            held.set()
            done.wait(10)

    writer = threading.Thread(target=write)
    writer.start()
    held.wait(10)
    try:
        found = garden.box.call("kg_search", query="zugzwang")
    finally:
        done.set()
        writer.join()
    assert [one["id"] for one in found["full"]] == ["sound"]
    assert [one["id"] for one in found["more"]] == ["lost"]
