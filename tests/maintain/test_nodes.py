"""Nodes: pages under readable ids, written whole or in part, and never over what was not read."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.maintain.conftest import Garden, Talk
from vault_kg.errors import InvalidArgument, NotFound, StaleRevision
from vault_kg.operations.caller import Caller


def test_a_node_is_a_page_whose_file_is_called_by_its_id(garden: Garden, talk: Talk) -> None:
    talk.put(
        "auth-401-event", "A 401 in a log is an event.", notes=["One.", "Two."], touches=["a.py"]
    )
    path = garden.box.root / "user/pages/entity/auth-401-event.md"
    text = path.read_text()
    assert "summary: A 401 in a log is an event.\n" in text
    assert text.endswith("---\n\n- One.\n- Two.\n")
    record = talk.node("auth-401-event")["record"]
    view = garden.box.get(record)
    assert view["touches"] == ["a.py"] and view["partition"] == "user" and view["revision"] == 1


def test_a_list_that_is_left_out_stays_and_one_that_is_sent_replaces(talk: Talk) -> None:
    talk.put("a", notes=["One."], touches=["a.py"])
    talk.put("a", "Other.")
    assert talk.node("a")["notes"] == ["One."] and talk.node("a")["touches"] == ["a.py"]
    talk.put("a", "Other.", notes=["Two."])
    assert talk.node("a")["notes"] == ["Two."] and talk.node("a")["touches"] == ["a.py"]
    talk.put("a", "Other.", notes=[], touches=[])
    assert talk.node("a")["notes"] == [] and talk.node("a")["touches"] == []


def test_other_text_of_the_page_is_kept(garden: Garden, talk: Talk) -> None:
    talk.put("a", notes=["One."])
    record = talk.node("a")["record"]
    garden.box.edit(record, "- One.\n", "Written by a person.\n\n- One.\n\n## More\n\nText.\n")
    garden.box.scan()
    talk.read("a")
    talk.put("a", notes=["Two."])
    body = garden.box.path(record).read_text().split("---\n", 2)[2]
    assert body == "\nWritten by a person.\n\n- Two.\n\n## More\n\nText.\n"


def test_the_same_again_changes_nothing(garden: Garden, talk: Talk) -> None:
    talk.put("a", notes=["One."])
    with garden.box.nothing_changes():
        answer = talk.call("kg_put_node", id="a", gist="Something.", level="user", notes=["One."])
    assert answer["text"].startswith("Unchanged: a") and not answer["changed"]


def test_a_gist_is_one_line(talk: Talk) -> None:
    talk.put("a", "One\nline,\n  not three. ")
    assert talk.node("a")["gist"] == "One line, not three."
    talk.refused("kg_put_node", id="b", gist=" \n ", level="user")


# Writes over what was not read


def test_what_another_session_wrote_since_is_not_written_over(garden: Garden, talk: Talk) -> None:
    talk.put("a", notes=["One."])
    other = garden.talk()
    other.read("a")
    talk.put("a", "Mine.", notes=["One.", "Two."])
    refused = other.refused("kg_put_node", id="a", gist="Theirs.", level="user")
    assert refused.code == "stale_revision"
    assert refused.data["current"]["gist"] == "Mine." and "    - Two.\n" in refused.message


def test_two_writers_append_to_one_list(garden: Garden, talk: Talk) -> None:
    """C30: a list sent replaces what the sender never saw."""
    talk.put("a", notes=["One."])
    other = garden.talk()
    other.read("a")
    talk.put("a", notes=["One.", "Mine."])
    refused = other.refused(
        "kg_put_node", id="a", gist="Something.", level="user", notes=["One.", "Theirs."]
    )
    assert refused.data["current"]["notes"] == ["One.", "Mine."]
    other.put("a", notes=["One.", "Mine.", "Theirs."])
    assert talk.node("a")["notes"] == ["One.", "Mine.", "Theirs."]


def test_a_list_may_not_be_replaced_by_one_who_saw_the_gist_only(
    garden: Garden, talk: Talk
) -> None:
    talk.put("a", notes=["One."], touches=["a.py"])
    other = garden.talk()
    other.read()
    for lists in ({"notes": ["Two."]}, {"touches": []}):
        refused = garden.talk().refused("kg_put_node", id="a", gist="x", level="user", **lists)
        assert refused.data["current"]["notes"] == ["One."]
    other.put("a", "A sharper gist.")
    assert talk.node("a")["notes"] == ["One."]


def test_a_node_that_was_never_read_is_not_written_over(garden: Garden, talk: Talk) -> None:
    other = garden.talk()
    talk.put("a")
    refused = other.refused("kg_put_node", id="a", gist="x", level="user")
    assert "has not read it" in refused.message
    other.put("a", "x")


def test_a_persons_edit_is_not_written_over(garden: Garden, talk: Talk) -> None:
    talk.put("a", notes=["One."])
    garden.box.edit(talk.node("a")["record"], "- One.", "- One, says a person.")
    with pytest.raises(StaleRevision, match="says a person"):
        talk.put("a", notes=["Two."])
    assert talk.node("a")["notes"] == ["One, says a person."]


def test_own_writes_are_known(talk: Talk) -> None:
    talk.put("a", notes=["One."])
    for number in range(3):
        talk.put("a", f"Gist {number}.", notes=[f"Note {number}."])
    assert talk.node("a")["revision"] == 4


# Ids


@pytest.mark.parametrize("id", ["", "-a", "a/b", "a b", "a" * 129, "ä", "con", "a:b", ".a"])
def test_an_id_that_cannot_be_a_file_name_is_refused(talk: Talk, id: str) -> None:
    assert isinstance(talk.refused("kg_put_node", id=id, gist="x", level="user"), InvalidArgument)


def test_long_and_dated_ids_are_told_and_very_long_ones_refused(talk: Talk) -> None:
    said = talk.call("kg_put_node", id="one-two-three-four-five-six", gist="x", level="user")
    assert "6 words" in said["warnings"][0]
    said = talk.call("kg_put_node", id="review-2026-01-05", gist="x", level="user")
    assert "carries a date" in said["warnings"][0]
    talk.refused("kg_put_node", id="a-401-in-a-log-is-an-event", gist="x", level="user")


def test_a_long_gist_is_told(talk: Talk) -> None:
    said = talk.call("kg_put_node", id="a", gist="x" * 301, level="user")
    assert "301 characters" in said["text"]


def test_ids_that_differ_in_case_only_are_one(talk: Talk) -> None:
    talk.put("Retry-Policy")
    talk.put("retry-policy", "Changed.")
    assert talk.node("RETRY-POLICY")["id"] == "Retry-Policy"


def test_pages_with_one_file_name_are_named_by_their_record_id(garden: Garden, talk: Talk) -> None:
    first = garden.box.page("Ada", "Person", partition="user")
    second = garden.box.page("Ada", "Project", partition="user")
    refused = talk.refused("kg_read", ids=["ada"])
    assert {one["id"] for one in refused.data["candidates"]} == {first, second}
    assert talk.node(first)["id"] == first
    assert f"  {second}: " in talk.read()["text"]


# Deleting


def test_deleting_withdraws_the_node_and_its_edges_everywhere(garden: Garden, talk: Talk) -> None:
    talk.put("a")
    talk.put("b")
    talk.put("p", level="project")
    talk.join("a", "b")
    talk.join("p", "a", level="project")
    record = talk.node("a")["record"]
    answer = talk.call("kg_delete_node", id="a")
    assert answer["edges_deleted"] == 2 and "2 edge(s)" in answer["text"]
    assert garden.box.get(record)["lifecycle"] == "withdrawn"
    assert len({row["revision"] for row in garden.box.history(record)}) == 2
    assert talk.node("p")["edges"] == [] and talk.node("b")["edges"] == []
    assert isinstance(talk.refused("kg_read", id="a"), NotFound)


def test_a_node_that_was_not_read_in_full_is_not_deleted(garden: Garden, talk: Talk) -> None:
    talk.put("a", notes=["One."])
    other = garden.talk()
    assert other.refused("kg_delete_node", id="a").code == "stale_revision"
    other.call("kg_delete_node", id="a")


def test_a_deleted_id_may_be_given_anew(garden: Garden, talk: Talk) -> None:
    talk.put("a", "Old.")
    old = talk.node("a")["record"]
    talk.call("kg_delete_node", id="a")
    answer = talk.call("kg_put_node", id="a", gist="New.", level="user")
    assert any(old in said and "withdrawn" in said for said in answer["warnings"])
    assert f"{old} of this title" in answer["text"]
    node = talk.node("a")
    assert node["gist"] == "New." and node["record"] != old
    assert garden.box.get(old)["lifecycle"] == "withdrawn"
    assert garden.box.get(old)["revision"] == 2, "it was moved aside, and not changed"
    garden.box.scan()
    assert not garden.box.findings()
    garden.box.reopen()
    assert talk.node("a")["gist"] == "New."


# Callers


def test_levels_that_a_caller_does_not_see_do_not_exist(garden: Garden, talk: Talk) -> None:
    talk.put("a")
    talk.put("p", level="project")
    talk.join("p", "a", level="project")
    caller = Caller("narrow", partitions=frozenset({"project-alpha"}))
    narrow = garden.talk(caller=caller)
    text = narrow.read()["text"]
    assert "USER GRAPH" not in text and "→" not in text
    assert narrow.node("p")["edges"] == []
    assert isinstance(narrow.refused("kg_read", ids=["a"]), NotFound)
    narrow.refused("kg_put_node", id="b", gist="x", level="user")
    assert not narrow.call("kg_search", query="Something")["text"].count("[user")
    nobody = Caller("nobody", partitions=frozenset({"main"}))
    with pytest.raises(InvalidArgument, match="sees neither"):
        garden.talk(caller=nobody)


def test_sessions_write_side_by_side(garden: Garden) -> None:
    def work(talk: Talk, letter: str) -> None:
        for n in range(6):
            talk.put(f"{letter}{n}", notes=[f"Note {n}."])
            talk.join(f"{letter}{n}", f"{letter}0") if n else None
            talk.read()

    with ThreadPoolExecutor(4) as pool:
        done = [pool.submit(work, garden.talk(), letter) for letter in "abcd"]
        for one in done:
            one.result()
    assert "HEALTH: 24 nodes, 20 edges, 0 orphans" in garden.talk().read()["text"]
    requests = garden.box.ws.database.rows(
        "SELECT request_id FROM journal WHERE request_id LIKE 'kg-%'"
    )
    assert len(set(requests)) == len(requests) == 44
