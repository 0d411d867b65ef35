"""Endorsements, news of others, and the memory of tasks."""

from __future__ import annotations

import pytest

from tests.maintain.conftest import Garden, Talk
from tests.operations.builder import Clock, made_id, record_file
from vault_kg.errors import Ambiguous
from vault_kg.maintain import tending
from vault_kg.operations.caller import Caller
from vault_kg.state import tiers, usage


def reasons(answer: dict[str, object]) -> list[object]:
    return [one["reason"] for one in answer["results"]]  # type: ignore[index, attr-defined]


# kg_useful


def test_a_session_endorses_a_node_once_and_ten_in_all(talk: Talk) -> None:
    ids = [talk.put(f"n{n}") for n in range(12)]
    assert reasons(talk.call("kg_useful", ids=[ids[0], "nope"])) == [None, "not found"]
    assert reasons(talk.call("kg_useful", ids=[ids[0]])) == ["endorsed already in this session"]
    answer = talk.call("kg_useful", ids=ids[1:])
    assert reasons(answer) == [None] * 9 + ["cap: 10 given in this session"] * 2
    assert answer["left"] == 0 and "about 5" in answer["text"]


def test_an_id_that_means_two_nodes_stops_all_of_a_call(garden: Garden, talk: Talk) -> None:
    ids = [talk.put("first"), talk.put("twin")]
    garden.box.put("user/pages/other/twin.md", record_file(made_id(1)))
    garden.box.scan()
    assert isinstance(talk.refused("kg_useful", ids=ids), Ambiguous)
    assert talk.call("kg_useful", ids=["first"])["left"] == 9, "nothing was given before"


def test_credits_are_for_a_pass(garden: Garden, talk: Talk) -> None:
    ids = [talk.put(f"n{n}") for n in range(7)]
    assert "bad credits" in str(reasons(talk.call("kg_useful", ids=[ids[0]], credits=2))[0])
    gardener = garden.talk(maintenance=True)
    assert reasons(gardener.call("kg_useful", ids=ids[:1], credits=2)) == [None]
    assert "cap" in str(reasons(gardener.call("kg_useful", ids=ids[:1], credits=2))[0])
    assert "bad credits" in str(reasons(gardener.call("kg_useful", ids=ids[1:2], credits=4))[0])
    answer = gardener.call("kg_useful", ids=ids[1:], credits=3)
    assert [r["given"] for r in answer["results"]] == [True] * 4 + [False] * 2
    assert answer["left"] == 1


def test_every_try_is_logged_with_how_the_node_was_met(garden: Garden, talk: Talk) -> None:
    talk.put("a")
    other = garden.talk()
    other.call("kg_useful", ids=["a", "nope"])
    rows = garden.box.ws.database.rows("SELECT via, refused FROM kg_credit ORDER BY id")
    assert rows == [("read", None), ("unseen", "not found")]


def test_a_credited_orphan_returns_to_the_archive(garden: Garden, talk: Talk) -> None:
    talk.put("a")
    record = talk.node("a")["record"]
    tending.put(garden.box.ws, "user", {record: tiers.ORPHANED}, 0)
    garden.talk(maintenance=True).call("kg_useful", ids=["a"], credits=3)
    assert garden.talk(maintenance=True).node("a")["tier"] == "archived"


def test_a_case_added_by_another_session_endorses_the_lesson(garden: Garden, talk: Talk) -> None:
    talk.put("lesson", notes=["One."])
    record = talk.node("lesson")["record"]
    talk.put("lesson", notes=["One.", "Two."])
    assert usage.credits_of(garden.box.ws.database, [record]) == {}
    other = garden.talk()
    other.read("lesson")
    other.put("lesson", notes=["One.", "Two.", "Three."])
    assert len(usage.credits_of(garden.box.ws.database, [record])[record]) == 1


def test_a_younger_instance_endorses_its_lesson_once_at_its_own_time(
    garden: Garden, talk: Talk, clock: Clock
) -> None:
    talk.put("old-case")
    clock.go_to("2026-03-02T12:00:00+00:00")
    talk.put("lesson")
    clock.go_to("2026-03-03T12:00:00+00:00")
    talk.put("new-case")
    clock.go_to("2026-03-09T12:00:00+00:00")
    for case in ("old-case", "new-case"):
        talk.join(case, "lesson", "instance-of")
    talk.call("kg_delete_edge", **{"from": "new-case", "to": "lesson"}, rel="instance-of")
    talk.join("new-case", "lesson", "instance-of")
    record = talk.node("lesson")["record"]
    found = usage.credits_of(garden.box.ws.database, [record])[record]
    assert [at[:10] for at, _ in found] == ["2026-03-03"]


# kg_sync, and what comes with answers


def test_sync_lists_what_others_changed_once(garden: Garden, talk: Talk) -> None:
    other = garden.talk()
    other.put("a", "By another.")
    other.put("p", level="project")
    other.join("p", "a", "uses", level="project")
    answer = talk.call("kg_sync")
    assert answer["text"].splitlines() == [
        "3 change(s) by others:", "  a [user]: By another.", "  p [project]: Something.",
        "  p → uses → a [project]",
    ]  # fmt: skip
    assert talk.call("kg_sync")["text"] == "No changes by others."
    talk.put("mine")
    assert talk.call("kg_sync")["total"] == 0
    other.read("a")
    other.call("kg_delete_node", id="a")
    gone = talk.call("kg_sync")["changes"]
    assert {(one["id"], one["gone"]) for one in gone} >= {("a", True)}


def test_news_of_others_comes_once_with_an_answer(garden: Garden, talk: Talk) -> None:
    other = garden.talk()
    for n in range(5):
        other.put(f"n{n}", f"News {n}.")
    said = talk.call("kg_put_node", id="mine", gist="x", level="user")["text"]
    assert "MEANWHILE, others wrote:\n  n2 [user]: News 2.\n" in said and "2 more" in said
    assert "MEANWHILE" not in talk.call("kg_search", query="mine")["text"]


def test_a_persons_edit_is_news_too(garden: Garden, talk: Talk) -> None:
    talk.put("a", "Gist.")
    garden.box.edit(talk.node("a")["record"], "summary: Gist.", "summary: Edited by a person.")
    garden.box.scan()
    assert "Edited by a person." in talk.call("kg_sync")["text"]


# kg_progress


def test_the_time_of_a_stamp_is_the_servers(talk: Talk) -> None:
    """C32: a stamp dated six days ahead."""
    stamped = talk.call("kg_progress", task_id="maintain", state={"last_ts": "2026-03-07", "n": 1})
    assert stamped["last_ts"].startswith("2026-03-01T12:") and stamped["state"]["n"] == 1
    assert stamped["state"]["last_ts"] == stamped["last_ts"]
    assert "2026-03-07" not in stamped["text"]
    read = talk.call("kg_progress", task_id="maintain")
    assert read["last_ts"] == stamped["last_ts"] and read["trail"] == stamped["trail"]


def test_the_trail_is_twenty_long_and_newest_last(talk: Talk) -> None:
    for n in range(25):
        talk.call("kg_progress", task_id="job", state={"n": n})
    trail = talk.call("kg_progress", task_id="job")["trail"]
    assert [stamp["n"] for stamp in trail] == list(range(5, 25))


def test_the_trail_is_bounded_and_the_state_whole(talk: Talk) -> None:
    state = {"declined": [f"line {n}" for n in range(12)], "long": "x" * 1_000}
    answer = talk.call("kg_progress", task_id="job", state=state)
    assert {k: answer["state"][k] for k in state} == state
    shown = answer["trail"][0]
    assert shown["declined"][8:] == ["… and 4 more"] and len(shown["long"]) == 240


def test_tasks_of_levels_are_apart(talk: Talk) -> None:
    talk.call("kg_progress", task_id="job", state={"n": 1}, level="project")
    assert talk.call("kg_progress", task_id="job")["state"] is None
    assert talk.call("kg_progress", task_id="job", level="project")["state"]["n"] == 1


def test_a_pass_makes_the_session_maintenance(garden: Garden, talk: Talk) -> None:
    talk.call("kg_progress", task_id="maintain")
    talk.put("a")
    assert reasons(talk.call("kg_useful", ids=["a"], credits=3)) == [None]


def test_a_stamp_resets_staleness(garden: Garden, talk: Talk, clock: Clock) -> None:
    talk.put("a")
    assert "never maintained" in talk.debt()
    talk.call("kg_progress", task_id="maintain", state={})
    assert "untended 0d" in talk.debt() and "DEBT: LOW (0.00)" in talk.debt()
    clock.go_to("2026-03-08T12:10:00+00:00")
    fresh = garden.talk()
    assert "untended 6d" in fresh.debt() or "untended 7d" in fresh.debt()


@pytest.mark.parametrize("state", [{"x": "y" * 100_001}, "[1]", 3])
def test_a_state_is_an_object_of_a_sane_size(talk: Talk, state: object) -> None:
    talk.refused("kg_progress", task_id="job", state=state)


def test_an_edge_to_what_is_hidden_goes_unnoticed(garden: Garden, talk: Talk) -> None:
    talk.put("secret-plan")
    talk.put("public", level="project")
    talk.join("public", "secret-plan", level="project")
    project = next(p.name for p in garden.box.root.iterdir() if p.name.startswith("project-"))
    other = garden.talk(caller=Caller("other", partitions=frozenset({project})))
    everything = garden.talk()
    talk.call("kg_delete_edge", **{"from": "public", "to": "secret-plan"}, rel="relates-to")
    assert other.call("kg_sync")["changes"] == []
    assert [one["gone"] for one in everything.call("kg_sync")["changes"]] == [True]
