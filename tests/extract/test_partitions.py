"""What a caller who sees one partition meets of the others in the graph: nothing, whatever it asks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.extract.coded import Coded, labels
from tests.operations.builder import VaultBox
from vault_kg.extract.backends.protocol import GraphBackend
from vault_kg.extract.backends.values import Finding
from vault_kg.extract.model import Node
from vault_kg.operations.caller import Caller

MAIN = Caller("public", partitions=frozenset({"main"}))
SECRET = Caller("other", partitions=frozenset({"secret"}))


def told(coded: Coded, caller: Caller) -> str:
    """Everything that a caller can have of the graph at once, and what it finds by words."""
    asked = [("graph_export", {"max_nodes": 5_000, "include_spine": True}), ("graph_doctor", {})]
    asked += [("graph_resolve", {"q": word, "top": 500}) for word in ("hush", "dark", "folder:")]
    asked += [("graph_search", {"query": word}) for word in ("hush", "dark")]
    return json.dumps([coded.ask(name, caller, **arguments) for name, arguments in asked])


def put(coded: Coded, path: str, text: str) -> None:
    file = coded.box.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


@pytest.mark.parametrize("kind", ["claim", "relationship"])
def test_a_statement_about_something_hidden_is_not_there(coded: Coded, kind: str) -> None:
    box = coded.box
    hidden = box.page("Ada", partition="secret")
    if kind == "claim":
        record = box.claim(hidden, "Hush now.", partition="main")
    else:
        record = box.relationship(box.page("Bob"), hidden, fact="Hush now.", partition="main")
    coded.index()
    for caller in (MAIN, SECRET):
        assert "Hush" not in told(coded, caller) and record not in told(coded, caller)
        found = coded.ask("graph_context", caller, uid=f"record:{record}")
        assert found["node"] is None
    assert record in told(coded, Caller("all"))


def test_folders_exist_with_what_is_in_them(coded: Coded) -> None:
    put(coded, "secret/pages/dark/code.tiny", "def f\n")
    coded.index()
    assert "dark" not in told(coded, MAIN) and "folder:secret" not in told(coded, MAIN)
    assert "folder:secret/pages/dark" in told(coded, SECRET)
    put(coded, "secret/open.tiny", "def g\n")
    coded.index()
    assert '"folder:secret"' in told(coded, MAIN) and "dark" not in told(coded, MAIN)


def test_names_of_nothing_are_seen_where_a_file_that_is_seen_says_them(coded: Coded) -> None:
    put(coded, "secret/pages/code.tiny", "def f\ncall hush\ncall both\n")
    put(coded, "main/pages/code.tiny", "def g\ncall both\n")
    coded.index()
    assert "hush" not in told(coded, MAIN).replace('"q": "hush"', "")
    for name, known in (("hush", False), ("both", True)):
        found = coded.ask("graph_resolve", MAIN, q=f"code:external::{name}")
        assert (found["total"] == 1) is known
    assert coded.ask("graph_resolve", SECRET, q="code:external::hush")["total"] == 1


def test_what_has_expired_leaves_the_graph(coded: Coded) -> None:
    claim = coded.box.claim(coded.box.page("Ada"), "Hush now.", expiresAt="2026-03-02")
    coded.index()
    assert labels(coded.ask("graph_resolve", q="hush")["results"]) == ["Hush now."]
    coded.box.clock.go_to("2026-04-01T00:00:00Z")  # type: ignore[attr-defined]
    assert coded.ask("graph_context", uid=f"record:{claim}")["node"] is None
    coded.index()
    assert coded.ask("graph_resolve", q="hush")["total"] == 0


def test_an_answer_about_a_record_says_whether_records_have_changed(coded: Coded) -> None:
    page = coded.box.page("Ada")
    coded.index()

    def state() -> str:
        found = coded.ask("graph_context", uid=f"record:{page}")["meta"]["freshness"]
        return str(found["state"])

    assert state() == "fresh"
    coded.box.page("Bob")
    assert state() == "stale"
    coded.index(queued_only=False)
    assert state() == "fresh"


def test_another_vocabulary_makes_the_edges_of_records_anew(coded: Coded) -> None:
    scenario = coded.box.page("Fast", "TestScenario")
    criterion = coded.box.page("Quick", "Criterion")
    coded.box.change(scenario, fields={"criteria": [criterion]})
    coded.index()
    assert coded.ask("graph_context", uid=f"record:{scenario}")["total"] == 1
    put(coded, "ontology.yaml", "page_types: {Extra: {}}\n")
    assert coded.ask("graph_context", uid=f"record:{scenario}")["meta"]["freshness"]["state"] == (
        "stale"
    )


def words(box: VaultBox, caller: Caller, query: str) -> str:
    """Everything that a caller is told of a word, whatever reads the files."""
    asked = [("graph_resolve", {"q": query}), ("graph_search", {"query": query})]
    asked += [("graph_doctor", {}), ("graph_export", {"include_spine": True})]
    return json.dumps([box.call(name, caller, **arguments)["data"] for name, arguments in asked])


def move(box: VaultBox, page: str, folder: str) -> Path:
    """Move a page's file as an editor does; returns where it was."""
    before = box.path(page)
    after = box.root / folder / before.name
    after.parent.mkdir(parents=True, exist_ok=True)
    before.rename(after)
    box.ws.scan()
    return before


@pytest.mark.parametrize("again", [False, True], ids=["alone", "another in its place"])
def test_a_page_that_went_to_another_partition_is_told_to_nobody_who_does_not_see_that(
    vault: VaultBox, again: bool
) -> None:
    both = Caller("both", partitions=frozenset({"main", "secret"}))
    page = vault.page("Hush", "Topic", summary="Dark.", body="# Darkening\n\nx\n")
    vault.call("graph_index")
    assert "Dark." in words(vault, MAIN, "hush") and "Darkening" in words(vault, MAIN, "darken")
    place = move(vault, page, "secret/pages/topic")
    if again:
        place.write_text("# Other\n")
        vault.ws.scan()
    for index in (None, {"paths": []}, {}):
        if index is not None:
            vault.call("graph_index", **index)
        told = words(vault, MAIN, "hush") + words(vault, MAIN, "darken")
        assert not [word for word in (page, "Dark", "Hush") if word in told], index
        assert page in words(vault, both, "hush") and page in words(vault, Caller("all"), "hush")
    assert page in words(vault, SECRET, "hush")


def test_a_statement_goes_with_what_it_is_about(coded: Coded) -> None:
    box = coded.box
    ada = box.page("Ada")
    claim = box.claim(ada, "Hush now.")
    coded.index()
    assert claim in told(coded, MAIN)
    move(box, ada, "secret/pages/person")
    assert claim not in told(coded, MAIN) and "Hush" not in told(coded, MAIN)
    assert claim in told(coded, Caller("all"))


def test_findings_of_what_is_hidden_are_hidden(graph: GraphBackend) -> None:
    with graph.writing():
        nodes = [Node(f"record:{name}", "record", name, None) for name in ("a", "b")]
        keys = graph.put_nodes("records", nodes, "main")
        graph.put_findings(None, [Finding("x", uid, "", "", "main") for uid in keys])
    for partitions in (None, frozenset({"main"})):
        found = graph.reader(partitions, frozenset({keys["record:a"]})).findings()
        assert [each.subject for each in found] == ["record:b"]


def test_a_note_that_went_to_another_partition_is_told_to_nobody_who_does_not_see_that(
    vault: VaultBox,
) -> None:
    note = vault.root / "main/hush/dark.md"
    note.parent.mkdir(parents=True)
    note.write_text("# Darkening\n\nWords.\n")
    (vault.root / "main/open.md").write_text("# Open\n\n[it](hush/dark.md)\n")
    vault.ws.scan()
    vault.call("graph_index")
    assert "Darkening" in words(vault, MAIN, "darken")
    after = vault.root / "secret/pages/hush/dark.md"
    after.parent.mkdir(parents=True)
    note.rename(after)
    note.parent.rmdir()
    vault.ws.scan()
    for index in (None, {"paths": []}, {}):
        if index is not None:
            vault.call("graph_index", **index)
        told = words(vault, MAIN, "darken") + words(vault, MAIN, "hush")
        assert not [w for w in ("Darkening", "folder:main/hush", "doc:file:main/hush") if w in told]
        assert "Open" in words(vault, MAIN, "open")
        if index is None:  # the graph is as it was, for who sees everything
            assert "Darkening" in words(vault, Caller("all"), "darken")
    assert "Darkening" in words(vault, SECRET, "darken")


def test_the_doctor_tells_nobody_of_the_place_that_a_file_left_for_another_partition(
    vault: VaultBox,
) -> None:
    page = vault.page("Hush", "Topic")
    note = vault.root / "main/note-dark.md"
    note.write_text("---\nformat: [\n---\n# Dark\n")
    vault.ws.scan()
    vault.call("graph_index")
    place = move(vault, page, "secret/pages/topic").relative_to(vault.root).as_posix()
    note.rename(vault.root / "secret/pages" / note.name)
    vault.ws.scan()
    told = json.dumps(vault.call("graph_doctor", MAIN))
    assert place not in told and "note-dark" not in told
    issues = vault.call("graph_doctor")["data"]["issues"]
    stale = next(issue for issue in issues if issue["category"] == "stale_paths")
    assert stale["sample"] == ["vault:main/note-dark.md", f"vault:{place}"]
