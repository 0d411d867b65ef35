"""A new edition changes what its edited paragraphs say, and nothing else; a removed one, its own."""

from __future__ import annotations

import pytest

from tests.ingest.conftest import Library
from tests.ingest.oracle import Oracle
from vault_kg.operations import care
from vault_kg.operations.caller import Caller
from vault_kg.operations.workspace import Workspace

ADA = "Ada Lovelace wrote the notes in 1843."
BOB = "Charles Babbage designed the engine."
MET = "Ada Lovelace met Charles Babbage."
TEXT = f"# Notes\n\n{ADA}\n\n{BOB}\n\n{MET}\n"


@pytest.fixture
def taught(oracle: Oracle) -> Oracle:
    oracle.thing("Ada Lovelace").thing("Charles Babbage")
    oracle.claim("Ada Lovelace", ADA).claim("Charles Babbage", BOB)
    oracle.claim("Charles Babbage", "Charles Babbage built the engine.")
    oracle.relation("Ada Lovelace", "knows", "Charles Babbage", MET)
    return oracle


def test_editing_a_paragraph_changes_only_what_it_supported(vault: Library, taught: Oracle) -> None:
    vault.ingest(TEXT)
    old = vault.id_of(BOB, "claim")
    before = vault.files()
    done = vault.ingest(TEXT.replace("designed", "built"))
    assert [item["uuid"] for item in done["withdrawn"]] == [old]
    assert [item["text"] for item in done["written"]] == ["Charles Babbage built the engine."]
    changed = {path for path, content in vault.files().items() if before.get(path) != content}
    assert {path for path in changed if "/sources/" not in path} == {
        vault.relative(vault.path(old)), vault.relative(vault.path(done["written"][0]["uuid"])),
    }  # fmt: skip
    assert vault.titles("claim") == {ADA, "Charles Babbage built the engine."}
    assert vault.titles("relationship") == {MET}


def test_editing_a_paragraph_in_a_way_that_says_the_same_changes_no_record(
    vault: Library, taught: Oracle
) -> None:
    vault.ingest(TEXT)
    done = vault.ingest(TEXT.replace(BOB, f"{BOB} It was large."))
    assert done["written"] == done["withdrawn"] == done["updated"] == []


def test_only_the_edited_paragraphs_count_whatever_the_model_says_of_the_others(
    vault: Library, taught: Oracle
) -> None:
    vault.ingest(TEXT)
    taught.thing("notes", "Document").claim(
        "Ada Lovelace", ADA, statement="Ada wrote notes in 1843."
    )
    done = vault.ingest(TEXT.replace("designed", "built"))
    assert [item["text"] for item in done["written"]] == ["Charles Babbage built the engine."]


def test_an_older_edition_is_kept_as_long_as_something_cites_it(
    vault: Library, taught: Oracle
) -> None:
    first = vault.ingest(TEXT)["episode_uuid"]
    second = vault.ingest(TEXT.replace("designed", "built"))["episode_uuid"]
    assert {e["uuid"] for e in vault.ask("get_episodes")["episodes"]} == {first, second}
    third = vault.ingest("Nobody is left.\n")
    assert [e["uuid"] for e in vault.ask("get_episodes")["episodes"]] == [third["episode_uuid"]]
    assert vault.titles("claim") == vault.titles() == set()
    assert len(third["withdrawn"]) == 5


def test_an_edit_that_is_taken_back_brings_the_fact_back(vault: Library, taught: Oracle) -> None:
    first = vault.ingest(TEXT)["episode_uuid"]
    vault.ingest(TEXT.replace("designed", "built"))
    done = vault.ingest(TEXT)
    assert done["episode_uuid"] == first and done["changed"]
    assert vault.titles("claim") == {ADA, BOB}
    assert not vault.ingest(TEXT)["changed"]
    assert [e["uuid"] for e in vault.ask("get_episodes")["episodes"]] == [first]


def test_what_another_document_says_too_stays(vault: Library, taught: Oracle) -> None:
    vault.ingest(TEXT)
    other = vault.ingest(f"{BOB}\n", "other.md")["episode_uuid"]
    done = vault.ingest(TEXT.replace("designed", "built"))
    claim = vault.id_of(BOB, "claim")
    assert [item["uuid"] for item in done["updated"]] == [claim] and done["withdrawn"] == []
    assert [c["source"] for c in vault.get(claim)["evidence"]] == [other]


def test_a_paragraph_written_by_hand_stands(vault: Library, taught: Oracle) -> None:
    vault.ingest(TEXT)
    page = vault.id_of("Charles Babbage")
    path = vault.path(page)
    path.write_text(path.read_text() + "\nHe disliked street musicians.\n")
    vault.scan()
    vault.ingest(TEXT.replace("designed", "built"))
    assert "He disliked street musicians." in path.read_text()
    done = vault.ingest("Nobody is left.\n")
    assert [item["why"] for item in done["kept"]] == ["a person has edited it"]
    assert "He disliked street musicians." in path.read_text()
    assert vault.titles() == {"Charles Babbage"}


def test_removing_a_document_removes_exactly_what_only_it_supported(
    vault: Library, taught: Oracle
) -> None:
    empty = vault.files()
    vault.ingest(TEXT)
    vault.ingest(f"{ADA}\n", "other.md")
    done = vault.ask("delete_by_source", source_file="notes.md", group_ids=["main"])
    assert {item["name"] for item in done["withdrawn"]} == {"Charles Babbage", BOB, MET}
    assert vault.titles() == {"Ada Lovelace"} and vault.titles("claim") == {ADA}
    vault.ask("delete_by_source", source_file="other.md", group_ids=["main"])
    assert vault.titles() == set() and not (vault.root / "main/sources").exists()
    assert set(empty) <= set(vault.files())


def test_a_removed_document_can_be_read_again(vault: Library, taught: Oracle) -> None:
    vault.ingest(TEXT)
    vault.ask("delete_by_source", source_file="notes.md", group_ids=["main"])
    done = vault.ingest(TEXT)
    assert len(done["written"]) == 5 and done["retracted"] == []


def test_a_fact_that_was_withdrawn_does_not_come_back(vault: Library, taught: Oracle) -> None:
    vault.ingest(TEXT)
    claim, edge = vault.id_of(ADA, "claim"), vault.id_of(MET, "relationship")
    vault.withdraw(claim), vault.withdraw(edge)
    assert not vault.ingest(TEXT)["changed"]
    other = vault.ingest(f"{ADA}\n\n{MET}\n", "other.md")
    assert {item["uuid"] for item in other["retracted"]} == {claim, edge}
    assert other["written"] == []
    vault.ask("delete_by_source", source_file="notes.md", group_ids=["main"])
    again = vault.ingest(TEXT)
    assert {item["uuid"] for item in again["retracted"]} == {claim, edge}
    assert ADA not in vault.titles("claim") and vault.titles("relationship") == set()


def test_a_fact_that_was_withdrawn_does_not_come_back_in_other_words(
    vault: Library, taught: Oracle
) -> None:
    vault.ingest(TEXT)
    claim, edge = vault.id_of(ADA, "claim"), vault.id_of(MET, "relationship")
    vault.withdraw(claim), vault.withdraw(edge)
    taught.claims[0]["statement"] = "The notes of 1843 were written by Ada Lovelace."
    taught.relations[0]["fact"] = "Charles Babbage was met by Ada Lovelace."
    other = vault.ingest(f"{ADA}\n\n{MET}\n", "other.md")
    assert {item["uuid"] for item in other["retracted"]} == {claim, edge}
    assert other["written"] == []


def test_a_fact_that_was_corrected_does_not_come_back(vault: Library, taught: Oracle) -> None:
    vault.ingest(TEXT)
    claim = vault.id_of(ADA, "claim")
    values = vault.claim_values(vault.id_of("Ada Lovelace"), "Ada Lovelace wrote them in 1842.")
    vault.correct(claim, values)
    other = vault.ingest(f"{ADA}\n", "other.md")
    assert [item["uuid"] for item in other["retracted"]] == [claim]
    assert "superseded" in other["retracted"][0]["reason"]


def test_a_page_that_was_withdrawn_does_not_come_back(vault: Library, taught: Oracle) -> None:
    vault.ingest(TEXT)
    vault.withdraw(vault.id_of("Charles Babbage"))
    other = vault.ingest(f"{BOB}\n\n{MET} Again.\n", "other.md")
    assert "Charles Babbage" not in vault.titles()
    assert [item["name"] for item in other["retracted"]] == ["Charles Babbage"]
    assert [edge["unresolved_endpoint"] for edge in other["dropped_edges"]] == ["target", "source"]


def test_two_files_with_chunks_of_one_name_are_two_documents(
    vault: Library, taught: Oracle
) -> None:
    vault.ingest(f"{ADA}\n", "a.md", chunk_id="1")
    done = vault.ingest(f"{BOB}\n", "b.md", chunk_id="1")
    assert done["withdrawn"] == [] and vault.titles("claim") == {ADA, BOB}


def test_other_partitions_are_left_alone(vault: Library, taught: Oracle) -> None:
    vault.ingest(TEXT)
    vault.ingest(TEXT, group_id="other")
    before = {path: content for path, content in vault.files().items() if path.startswith("main/")}
    vault.ingest("Nobody is left.\n", group_id="other")
    after = {path: content for path, content in vault.files().items() if path.startswith("main/")}
    assert after == before


def test_a_lost_state_still_knows_why_a_fact_went(vault: Library, taught: Oracle) -> None:
    vault.ingest(TEXT)
    claim = vault.id_of(ADA, "claim")
    vault.withdraw(claim)
    vault.ingest(TEXT.replace("designed", "built"))
    vault.ws.close()
    for path in (vault.root / ".vault-kg").glob("state.sqlite*"):
        path.unlink()
    care.recover(vault.root)
    vault.ws = Workspace.open(vault.root, clock=vault.clock)
    vault.scan()
    done = vault.ingest(TEXT + "\nMore.\n")
    assert BOB in [item["text"] for item in done["written"]]
    other = vault.ingest(f"{ADA}\n", "other.md")
    assert [item["uuid"] for item in other["retracted"]] == [claim]


def test_bytes_that_are_retained_under_another_name_stay_there(
    vault: Library, taught: Oracle
) -> None:
    source = vault.source(TEXT, "letter of ada.txt", attribution="The archive")
    vault.page("Letter", "Topic", evidence=[{"source": source, "lines": "3", "quote": ADA}])
    before = vault.call("knowledge_source", id=source)
    assert vault.ingest(TEXT, "other.md")["episode_uuid"] == source
    after = vault.call("knowledge_source", id=source)
    for kept in ("path", "filename", "attribution", "mediaType", "verified", "text"):
        assert after[kept] == before[kept], kept
    assert vault.findings() == [] and vault.ingest(TEXT, "other.md")["changed"] is False


def test_a_former_edition_becomes_that_of_another_document(vault: Library, taught: Oracle) -> None:
    first = vault.ingest(TEXT, "first.md", attributes={"shelf": "A"})["episode_uuid"]
    vault.page("Letter", "Topic", evidence=[{"source": first, "lines": "3", "quote": ADA}])
    vault.ingest(f"{TEXT}\nMore of it.\n", "first.md")
    assert vault.ingest(TEXT, "second.md")["episode_uuid"] == first
    assert vault.call("knowledge_source", id=first)["verified"] is True
    assert vault.findings() == []
    descriptors = [path.read_text() for path in vault.root.glob("main/sources/*/source.yaml")]
    (kept,) = [text for text in descriptors if first in text]
    assert "shelf: A" in kept and "source_file: second.md" in kept


def test_what_is_about_something_hidden_is_not_told(vault: Library, taught: Oracle) -> None:
    public = Caller("public", partitions=frozenset({"main"}))
    source = vault.ingest(TEXT)["episode_uuid"]
    cited = [{"source": source, "quote": BOB}]
    hidden = vault.page("Zugzwang", partition="secret")
    claim = vault.claim(hidden, "Hush.", partition="main", evidence=cited)
    again = vault.ingest(TEXT.replace("designed", "built"), "notes.md", public)
    assert again["withdrawn"] and claim not in {item["uuid"] for item in again["withdrawn"]}
    assert vault.get(claim)["lifecycle"] == "active", "somebody else recorded it"
    other = vault.claim(
        hidden, "Hush.", partition="main",
        evidence=[{"source": again["episode_uuid"], "quote": MET}],
    )  # fmt: skip
    deleted = vault.ask("delete_episode", public, episode_uuid=again["episode_uuid"])
    assert deleted["withdrawn_count"] == len(deleted["withdrawn"])
    assert other not in {item["uuid"] for item in deleted["withdrawn"]}


def test_what_somebody_else_recorded_from_the_document_stands_with_its_source(
    vault: Library, oracle: Oracle
) -> None:
    text = "Ada Lovelace met Bob.\n\nShe wrote notes.\n"
    oracle.thing("Ada Lovelace")
    source = vault.source(text, "letter.txt")
    cited = [{"source": source, "lines": "3"}]
    claim = vault.claim(vault.page("Zed"), "She wrote.", evidence=cited, origin="user")
    vault.ingest(text, "doc.md")
    done = vault.ingest("Ada Lovelace met Bob.\n", "doc.md")
    assert claim not in {item["uuid"] for item in done["withdrawn"]}
    assert vault.get(claim)["lifecycle"] == "active"
    assert vault.get(claim)["evidence"][0]["text"] == "She wrote notes."


def test_the_same_text_under_two_names_is_one_source_of_the_first(
    vault: Library, taught: Oracle
) -> None:
    """A source is its bytes: what two names hold is evidence once, and the answer says whose."""
    first = vault.ingest(TEXT, "first.md")
    with vault.nothing_changes():
        copy = vault.ingest(TEXT, "copy.md")
    assert copy["episode_uuid"] == first["episode_uuid"] and not copy["changed"]
    assert copy["warnings"] == ["the same text is retained already, as first.md:first.md"]
    asked = len(taught.asked)
    vault.ingest(TEXT.replace("designed", "built"), "first.md")
    assert vault.titles("claim") == {ADA, "Charles Babbage built the engine."}
    again = vault.ingest(TEXT, "copy.md")
    assert again["changed"] and not again["warnings"], "it is read once its text is no one's"
    assert len(taught.asked) > asked
    assert vault.titles("claim") == {ADA, BOB, "Charles Babbage built the engine."}
    assert not vault.ingest(TEXT, "copy.md")["changed"]
    vault.ask("delete_by_source", source_file="first.md", group_ids=["main"])
    assert {ADA, BOB} <= vault.titles("claim")


def test_the_same_text_in_two_partitions_is_a_source_of_each(
    vault: Library, taught: Oracle
) -> None:
    first, second = vault.ingest(TEXT), vault.ingest(TEXT, group_id="other")
    assert first["episode_uuid"] != second["episode_uuid"] and second["claims_extracted"] == 2
