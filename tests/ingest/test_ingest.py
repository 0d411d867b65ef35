"""Prose becomes records that cite their lines; whatever is not kept is told with its content."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.ingest.conftest import Library
from tests.ingest.oracle import Oracle
from vault_kg.errors import Cancelled, Unavailable
from vault_kg.operations.caller import Caller

TEXT = """# The engine

Ada Lovelace wrote the notes in 1843.

Charles Babbage designed the
Analytical Engine. Ada Lovelace met Charles Babbage.
"""


@pytest.fixture
def taught(oracle: Oracle) -> Oracle:
    oracle.thing("Ada Lovelace", summary="wrote the notes").thing("Charles Babbage")
    oracle.thing("Analytical Engine", "Entity")
    oracle.claim("Ada Lovelace", "Ada Lovelace wrote the notes in 1843.")
    oracle.relation("Charles Babbage", "created", "Analytical Engine",
                    "Charles Babbage designed the\nAnalytical Engine.")  # fmt: skip
    oracle.relation("Ada Lovelace", "knows", "Charles Babbage", "Ada Lovelace met Charles Babbage.")
    return oracle


def test_a_document_becomes_pages_claims_and_relationships(vault: Library, taught: Oracle) -> None:
    done = vault.ingest(TEXT)
    assert (done["nodes_extracted"], done["edges_extracted"], done["claims_extracted"]) == (3, 2, 1)
    assert vault.titles() == {"Ada Lovelace", "Charles Babbage", "Analytical Engine"}
    assert done["git"]["state"] == "committed"
    assert vault.call("knowledge_diagnostics")["findings"] == []


def test_each_record_cites_its_lines_and_the_words_of_the_source(
    vault: Library, taught: Oracle
) -> None:
    done = vault.ingest(TEXT)
    for item in done["written"]:
        (citation,) = vault.get(item["uuid"])["evidence"]
        assert citation["source"] == done["episode_uuid"]
        read = vault.call("knowledge_source", id=citation["source"], lines=citation["lines"])
        assert citation["quote"] in read["text"] and read["verified"]
    created = vault.id_of("Charles Babbage designed the Analytical Engine.", "relationship")
    assert vault.get(created)["evidence"][0]["lines"] == "5-6"


def test_a_document_is_one_commit(vault: Library, taught: Oracle) -> None:
    before = vault.position
    vault.ingest(TEXT)
    assert vault.position == before + 1
    names = vault.git("show", "--name-only", "--format=%s", "HEAD").split()
    assert names[:2] == ["process_chunk:", "notes.md"]
    assert sum(name.endswith(".md") for name in names[2:]) == 7


def test_the_same_document_again_changes_nothing_and_asks_nobody(
    vault: Library, taught: Oracle
) -> None:
    first = vault.ingest(TEXT)
    taught.asked.clear()
    with vault.nothing_changes():
        again = vault.ingest(TEXT)
    assert not again["changed"] and again["episode_uuid"] == first["episode_uuid"]
    assert taught.asked == []


def test_the_same_request_is_answered_as_before(vault: Library, taught: Oracle) -> None:
    first = vault.ingest(TEXT, request_id="r-1")
    taught.asked.clear()
    again = vault.ingest(TEXT, request_id="r-1")
    assert again == first and taught.asked == []
    assert vault.refusal(
        "process_chunk", chunk_text="x", chunk_id="c", source_file="f", request_id="r-1"
    ).code == "request_mismatch"  # fmt: skip


def test_a_dry_run_tells_what_would_be_written(vault: Library, taught: Oracle) -> None:
    with vault.nothing_changes():
        told = vault.ingest(TEXT, dry_run=True)
    done = vault.ingest(TEXT)
    assert told["dry_run"] and not told["changed"]

    def said(result: dict[str, Any]) -> list[dict[str, Any]]:
        return [item | {"uuid": None} for item in result["written"]]

    assert said(told) == said(done)


def test_the_same_text_under_another_name_is_told_and_not_read_twice(
    vault: Library, taught: Oracle
) -> None:
    vault.ingest(TEXT)
    with vault.nothing_changes():
        again = vault.ingest(TEXT, "copy.md")
    assert again["warnings"] == ["the same text is retained already, as notes.md:notes.md"]


def test_a_file_that_was_attached_before_is_read(vault: Library, taught: Oracle) -> None:
    attached = vault.source(TEXT, "notes.md")
    done = vault.ingest(TEXT)
    assert done["episode_uuid"] == attached and done["claims_extracted"] == 1
    assert not vault.ingest(TEXT)["changed"]


def test_a_second_document_adds_its_citation_to_what_stands(vault: Library, taught: Oracle) -> None:
    first = vault.ingest(TEXT)
    other = vault.ingest("Ada Lovelace met Charles Babbage.\n", "other.md")
    met = vault.id_of("Ada Lovelace met Charles Babbage.", "relationship")
    cited = [citation["source"] for citation in vault.get(met)["evidence"]]
    assert cited == [first["episode_uuid"], other["episode_uuid"]]
    assert other["edges_extracted"] == 0 and other["written"] == []
    assert [item["uuid"] for item in other["merged"] if item["kind"] == "relationship"] == [met]
    assert other["dedup_paths"]["exact_name"] == 2


def test_another_wording_of_a_typed_relation_is_the_same_fact(
    vault: Library, taught: Oracle
) -> None:
    vault.ingest(TEXT)
    taught.relation(
        "Ada Lovelace", "knows", "Charles Babbage", "Charles Babbage knew Ada Lovelace."
    )
    done = vault.ingest("Charles Babbage knew Ada Lovelace.\n", "other.md")
    assert done["edges_extracted"] == 0 and len(vault.titles("relationship")) == 2


def test_a_symmetric_relation_is_one_in_either_direction(vault: Library, taught: Oracle) -> None:
    vault.ingest(TEXT)
    taught.relation(
        "Charles Babbage", "knows", "Ada Lovelace", "Charles Babbage knew Ada Lovelace."
    )
    done = vault.ingest("Charles Babbage knew Ada Lovelace.\n", "other.md")
    assert done["edges_extracted"] == 0


def test_a_vocabulary_without_types_for_extraction_offers_the_plainest(
    vault: Library, taught: Oracle
) -> None:
    ontology = vault.ws.ontology("main")
    vault.put(
        "ontology.yaml",
        "page_types:\n"
        + "".join(f"  {name}: {{extract: false}}\n" for name in ontology.page_types)
        + "claim_kinds:\n"
        + "".join(f"  {name}: {{extract: false}}\n" for name in ontology.claim_kinds)
        + "relationship_types:\n"
        + "".join(f"  {name}: {{extract: false}}\n" for name in ontology.relationship_types),
    )
    vault.scan()
    vault.ingest(TEXT)
    entity = taught.asked[0].schema["properties"]["entities"]["items"]["properties"]
    assert entity["type"]["enum"] == ["Entity"]
    claim = taught.asked[1].schema["properties"]["claims"]["items"]["properties"]
    assert (
        claim["kind"]["enum"] == ["fact"] and "relations" not in taught.asked[1].schema["required"]
    )


def test_a_page_that_stands_without_sources_gets_none(vault: Library, taught: Oracle) -> None:
    page = vault.page("Ada Lovelace")
    before = vault.get(page)["hash"]
    done = vault.ingest(TEXT)
    assert vault.get(page)["hash"] == before
    assert page in [item["uuid"] for item in done["merged"]]
    vault.ask("delete_episode", episode_uuid=done["episode_uuid"])
    assert vault.titles() == {"Ada Lovelace"}


def test_what_the_text_does_not_say_is_dropped_and_told(vault: Library, taught: Oracle) -> None:
    taught.always = {
        "entities": [{"name": "Isaac Newton", "type": "Person", "summary": ""}],
        "claims": [
            {"about": "Ada Lovelace", "kind": "fact", "quote": "Ada was born in 1815", "statement": "x"},
            {"about": "Ada Lovelace", "kind": "fact", "quote": "Ada Lovelace wrote the notes",
             "statement": "Ada Lovelace wrote the notes in 1850."},
        ],
    }  # fmt: skip
    done = vault.ingest(TEXT)
    assert done["dropped_ungrounded"] == 3
    assert [item["reason"] for item in done["ungrounded"]] == [
        "the text does not have its name", "the text does not have its quote", "the text has no 1850",
    ]  # fmt: skip
    assert done["ungrounded"][1]["text"] == "x" and "Isaac Newton" not in vault.titles()


def test_what_a_model_says_over_and_over_is_told_once(vault: Library, oracle: Oracle) -> None:
    said = {"about": "Ada Lovelace", "kind": "fact", "quote": "She flew", "statement": "She flew."}
    oracle.thing("Ada Lovelace").always = {"claims": [said] * 4}
    done = vault.ingest("Ada Lovelace wrote.")
    assert done["dropped_ungrounded"] == len(done["ungrounded"]) == 1


def test_a_document_without_words_is_refused_in_words(vault: Library, oracle: Oracle) -> None:
    refusal = vault.refusal("process_chunk", chunk_text=" \n", chunk_id="c", source_file="c.md")
    assert refusal.message == "knowledge_process_chunk: chunk_text: holds nothing to read"


def test_ends_are_looked_for_in_the_whole_partition(vault: Library, oracle: Oracle) -> None:
    engine = vault.page("Analytical Engine", "Entity")
    oracle.thing("Charles Babbage").thing("London", "Place")
    quote = "Charles Babbage designed the Analytical Engine."
    oracle.relation("Charles Babbage", "created", "Analytical Engine", quote)
    oracle.relation("Charles Babbage", "created", "Difference Engine", "and the Difference Engine")
    done = vault.ingest(f"{quote} He built it and the Difference Engine in London.\n")
    assert done["edges_extracted"] == 1 and done["edges_dropped_unresolvable"] == 1
    assert vault.get(done["written"][2]["uuid"])["to"] == engine
    assert done["dropped_edges"] == [
        {
            "source_name": "Charles Babbage", "target_name": "Difference Engine",
            "relation_type": "created", "fact": "and the Difference Engine",
            "unresolved_endpoint": "target", "reason": "'Difference Engine' is no page",
        }
    ]  # fmt: skip


def test_an_end_that_means_two_pages_is_dropped_and_both_are_told(
    vault: Library, oracle: Oracle
) -> None:
    vault.page("Mercury", "Company"), vault.page("Mercury", "Place")
    oracle.thing("Ada Lovelace").thing("London", "Place")
    oracle.relation("Ada Lovelace", "works_for", "Mercury", "Ada Lovelace worked for Mercury")
    done = vault.ingest("Ada Lovelace worked for Mercury in London.\n")
    (dropped,) = done["dropped_edges"]
    assert "means 2 pages (Company, Place)" in dropped["reason"]


def test_two_names_of_one_page_make_no_loop(vault: Library, oracle: Oracle) -> None:
    vault.page("Ada Lovelace", aliases=["Countess of Lovelace"])
    oracle.thing("Ada Lovelace").thing("Countess of Lovelace")
    quote = "Ada Lovelace knew the Countess of Lovelace"
    oracle.relation("Ada Lovelace", "knows", "Countess of Lovelace", quote)
    done = vault.ingest(f"{quote}.\n")
    assert (done["edges_dropped_self_loop"], done["edges_extracted"]) == (1, 0)
    assert [item["text"] for item in done["self_loops"]] == [quote]


def test_the_name_of_a_merged_page_means_its_survivor(vault: Library, oracle: Oracle) -> None:
    survivor, absorbed = vault.page("Ada Lovelace"), vault.page("Augusta King")
    vault.merge(survivor, absorbed)
    oracle.thing("Augusta King").claim("Augusta King", "Augusta King wrote the notes.")
    done = vault.ingest("Augusta King wrote the notes.\n")
    assert vault.get(done["written"][0]["uuid"])["owner"] == survivor


ALIKE = [("ADR 2018", "ADR 2019"), ("RFC 9110", "RFC 9111"), ("Phase A", "Phase B"), ("UK", "USA"),
         ("World War II", "World War III")]  # fmt: skip


@pytest.mark.parametrize(("first", "second"), ALIKE)
def test_near_names_with_different_identifiers_are_two_pages(
    vault: Library, oracle: Oracle, first: str, second: str
) -> None:
    oracle.thing(first, "Topic").thing(second, "Topic")
    done = vault.ingest(f"They wrote {first} and then {second}.\n")
    assert vault.titles() == {first, second} and done["candidates"] == []
    again = vault.ingest(f"Later {second} was read.\n", "other.md")
    assert again["written"] == []


@pytest.mark.parametrize(
    ("known", "new"), [("PostgreSQL", "Postgres"), ("GPT-4", "GPT 4"), ("IBM", "IBM Corp")]
)
def test_near_names_that_may_be_one_are_two_pages_and_candidates(
    vault: Library, oracle: Oracle, known: str, new: str
) -> None:
    page = vault.page(known, "Entity")
    oracle.thing(new, "Entity")
    done = vault.ingest(f"We use {new}.\n")
    assert vault.titles() == {known, new}
    (candidate,) = done["candidates"]
    assert (candidate["name"], candidate["other"], candidate["uuid"]) == (new, known, page)
    assert candidate["reason"] and done["vetoed"] == []


def test_a_name_in_another_case_is_the_same_page(vault: Library, oracle: Oracle) -> None:
    page = vault.page("NASA", "Entity")
    oracle.thing("nasa", "Entity")
    done = vault.ingest("They flew for nasa.\n")
    assert [item["uuid"] for item in done["merged"]] == [page]


def test_what_is_vetoed_is_told(vault: Library, oracle: Oracle) -> None:
    vault.page("RFC 9110", "Document")
    oracle.thing("RFC 9111", "Document")
    done = vault.ingest("RFC 9111 is about caching.\n")
    assert done["dedup_paths"]["vetoed"] == 1
    assert done["vetoed"][0]["other"] == "RFC 9110" and "9110" in done["vetoed"][0]["reason"]


def test_a_person_and_a_company_of_one_name_are_two_pages(vault: Library, oracle: Oracle) -> None:
    vault.page("Mercury", "Company")
    oracle.thing("Mercury", "Person")
    vault.ingest("Mercury sang.\n")
    found = vault.call("knowledge_records", kind="page")["records"]
    assert sorted(record["type"] for record in found) == ["Company", "Person"]


def test_a_vague_type_means_the_one_page_of_that_name(vault: Library, oracle: Oracle) -> None:
    page = vault.page("Ada Lovelace", "Person")
    oracle.thing("Ada Lovelace", "Entity")
    assert [i["uuid"] for i in vault.ingest("Ada Lovelace wrote.\n")["merged"]] == [page]


def test_one_bad_item_of_forty_costs_only_itself(vault: Library, oracle: Oracle) -> None:
    names = [f"Person Number{n}" for n in range(20)]
    for name in names:
        oracle.thing(name).claim(name, f"{name} spoke.")
    oracle.always = {
        "entities": [{"type": "Person", "summary": ""}],
        "claims": [{"about": names[0], "kind": "fact", "quote": f"{names[0]} spoke.", "statement": " "}],
    }  # fmt: skip
    done = vault.ingest("".join(f"{name} spoke.\n\n" for name in names))
    assert (done["nodes_extracted"], done["claims_extracted"]) == (20, 20)
    assert (done["entities_dropped_malformed"], done["edges_dropped_malformed"]) == (1, 1)
    assert json.loads(done["malformed"][1]["text"])["statement"] == " "


def test_what_no_record_can_hold_costs_only_itself(vault: Library, oracle: Oracle) -> None:
    oracle.thing("Ada").thing("Bob", "x" * 200).thing("Eve")
    oracle.relation("Ada", "y" * 200, "Eve", "Ada saw Eve").claim("Ada", "Ada saw Eve", "z" * 200)
    oracle.relation(
        "Ada", "knows", "Eve", "Ada saw Eve", valid_from="1850", valid_until="1840-01-01"
    )
    oracle.relations[1]["valid_from"] = "1850-01-01"
    done = vault.ingest("Ada saw Eve, and Bob.\n")
    assert vault.titles() == {"Ada", "Eve"}
    assert [item["kind"] for item in done["refused"]] == ["entity", *["relationship"] * 2, "claim"]
    assert all(item["reason"] for item in done["refused"])
    assert vault.call("knowledge_diagnostics")["findings"] == []


def test_a_type_that_does_not_join_its_ends_is_kept_as_unclassified(
    vault: Library, oracle: Oracle
) -> None:
    oracle.thing("Ada Lovelace").thing("London", "Place")
    oracle.relation("Ada Lovelace", "works_for", "London", "Ada Lovelace worked for London")
    done = vault.ingest("Ada Lovelace worked for London.\n")
    assert done["edges_reclassified_unclassified"] == 1
    assert "does not join Person to Place" in done["reclassified"][0]["reason"]
    (edge,) = [item for item in done["written"] if item["kind"] == "relationship"]
    assert edge["type"] == "unclassified"
    assert vault.get(edge["uuid"])["tags"] == ["original-type/works_for"]


@pytest.mark.parametrize("mode", ["open", "strict"])
def test_an_undeclared_type_is_taken_or_reclassified_and_never_lost(
    vault: Library, oracle: Oracle, mode: str
) -> None:
    vault.put("ontology.yaml", f"mode: {mode}\n")
    vault.scan()
    oracle.thing("Ada Lovelace", "star gazer").thing("Rex", "Entity")
    oracle.relation("Ada Lovelace", "walks with", "Rex", "Ada Lovelace walked Rex")
    done = vault.ingest("Ada Lovelace walked Rex.\n")
    page, edge = (vault.get(i["uuid"]) for i in done["written"] if i["name"] == "Ada Lovelace")
    if mode == "open":
        assert (page["type"], edge["type"]) == ("StarGazer", "walks_with")
        assert done["reclassified"] == []
    else:
        assert (page["type"], page["tags"]) == ("Entity", ["original-type/StarGazer"])
        assert (edge["type"], edge["tags"]) == ("unclassified", ["original-type/walks_with"])
        assert done["entities_reclassified_unclassified"] == 1
        assert done["edges_reclassified_unclassified"] == 1


def test_a_type_that_is_not_for_extraction_is_neither_offered_nor_written(
    vault: Library, oracle: Oracle
) -> None:
    vault.put("ontology.yaml", "page_types:\n  Secret: {extract: false}\n")
    vault.scan()
    oracle.thing("Project X", "Secret").thing("Ada", "Person")
    done = vault.ingest("Ada knew of Project X.\n")
    offered = oracle.asked[0].schema["properties"]["entities"]["items"]["properties"]["type"][
        "enum"
    ]
    assert "Secret" not in offered and "Person" in offered
    assert vault.get(done["written"][0]["uuid"])["type"] == "Entity"
    assert done["entities_reclassified_unclassified"] == 1


def test_reserved_types_are_not_written(vault: Library, oracle: Oracle) -> None:
    oracle.thing("Ada").thing("Bob")
    oracle.relation("Ada", "derives_from", "Bob", "Ada derives from Bob")
    done = vault.ingest("Ada derives from Bob.\n")
    edge = done["written"][-1]
    assert edge["type"] == "unclassified" and "extractor" in done["reclassified"][0]["reason"]


def test_a_long_text_is_divided_and_answered_as_one(vault: Library, oracle: Oracle) -> None:
    names = [f"Town {chr(65 + n)}{n}" for n in range(26)]
    for name in names:
        oracle.thing(name, "Place").claim(name, f"{name} has a library.")
    filler = "The committee met and wrote its minutes down with care. " * 12
    text = "".join(f"# {name}\n\n{name} has a library. {filler}\n\n" for name in names)
    done = vault.ingest(text)
    assert done["warning"]["chunk_text_chars"] == len(text) > 16_000
    assert done["calls"] > 4 and done["claims_extracted"] == 26
    assert vault.titles() == set(names)
    for item in done["written"]:
        first = int(item["lines"].split("-")[0])
        assert item["quote"].splitlines()[0] in text.splitlines()[first - 1]


def test_cancelling_leaves_nothing(vault: Library, taught: Oracle) -> None:
    caller = Caller("tester", cancelled=lambda: bool(taught.asked))
    with vault.nothing_changes(), pytest.raises(Cancelled):
        vault.ingest(TEXT, "notes.md", caller)
    assert taught.asked


def test_progress_is_told(vault: Library, taught: Oracle) -> None:
    told: list[tuple[int, int, str]] = []
    vault.ingest(TEXT, "notes.md", Caller("tester", report=lambda *said: told.append(said)))
    assert told[0] == (0, 1, "reading") and (1, 1, "reading") in told


def test_a_model_that_says_nothing_of_use_is_an_error_and_not_an_empty_document(
    vault: Library, oracle: Oracle, monkeypatch: pytest.MonkeyPatch
) -> None:
    from vault_kg.ingest.asking import Answer

    monkeypatch.setattr(oracle, "ask", lambda *_: Answer("Sorry, no."))
    with vault.nothing_changes(), pytest.raises(Unavailable, match="no answer that could be used"):
        vault.ingest(TEXT)


def test_an_answer_that_is_cut_short_is_asked_for_once_more_and_then_told(
    vault: Library, taught: Oracle, monkeypatch: pytest.MonkeyPatch
) -> None:
    from vault_kg.ingest.asking import Answer

    asked: list[int] = []
    whole = taught.ask

    def cut(question: Any, most: int, stopped: Any) -> Answer:
        asked.append(most)
        answer = whole(question, most, stopped)
        return Answer(answer.text[:-20], complete=False)

    monkeypatch.setattr(taught, "ask", cut)
    done = vault.ingest(TEXT)
    assert asked[1] == 2 * asked[0] and len(asked) == 4
    assert done["nodes_extracted"] == 2 and len(done["incomplete"]) == 2
    assert "longer than" in done["incomplete"][0]["reason"]


def test_messages_are_cited_by_their_line(vault: Library, oracle: Oracle) -> None:
    oracle.thing("Ada Lovelace").claim("Ada Lovelace", "Ada Lovelace is ill")
    body = json.dumps([{"role": "Bob", "content": "Good day"}, {"role": "Eve", "content": "Ada "
                       "Lovelace is ill"}])  # fmt: skip
    done = vault.ask(
        "add_episode", name="chat", episode_body=body, source="message", attributes={"room": "7"}
    )
    (claim,) = [item for item in done["written"] if item["kind"] == "claim"]
    assert claim["lines"] == "2"
    read = vault.call("knowledge_source", id=done["episode_uuid"], lines="2")
    assert read["text"] == "Eve: Ada Lovelace is ill"
    (episode,) = vault.ask("get_episodes")["episodes"]
    assert (episode["name"], episode["attributes"]["room"]) == ("chat", "7")


def test_the_time_of_a_document_is_kept_and_told_to_the_model(
    vault: Library, taught: Oracle
) -> None:
    vault.ingest(TEXT, reference_time="1843-09-01")
    assert "Its time: 1843-09-01" in taught.asked[0].user
    (episode,) = vault.ask("get_episodes")["episodes"]
    assert (
        episode["valid_at"] == "1843-09-01" and episode["source_description"] == "notes.md:notes.md"
    )


def test_strange_text_and_names_are_kept_as_they_are(vault: Library, oracle: Oracle) -> None:
    names = ['O\'Brien "Bob" \\ Co.', "東京都", "عادة", "Zoë 🙂", "C++", "a: b # c"]
    for name in names:
        oracle.thing(name, "Topic").claim(name, f"«{name}» is here")
    text = "\r\n\r\n".join(f"«{name}» is here" for name in names)
    done = vault.ingest(text)
    assert vault.titles() == set(names) and done["claims_extracted"] == len(names)
    assert vault.call("knowledge_diagnostics")["findings"] == []


def test_a_claim_names_the_other_pages_that_it_speaks_of(vault: Library, oracle: Oracle) -> None:
    oracle.thing("Ada Lovelace").thing("Analytical Engine", "Entity").thing("Ada", "Topic")
    oracle.claim("Ada Lovelace", "Ada Lovelace understood the Analytical Engine.")
    done = vault.ingest("Ada Lovelace understood the Analytical Engine.\n")
    claim = vault.get(done["written"][-1]["uuid"])
    assert claim["owner"] == vault.id_of("Ada Lovelace")
    assert set(claim["entities"]) == {vault.id_of("Analytical Engine"), vault.id_of("Ada")}


def test_others_write_while_a_model_reads_and_names_are_looked_up_after_it(
    vault: Library, taught: Oracle, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, made = taught.ask, []

    def slow(question: Any, most: int, stopped: Any) -> Any:
        if not made:
            with ThreadPoolExecutor() as pool:
                made.append(pool.submit(vault.page, "Charles Babbage").result(timeout=10))
        return whole(question, most, stopped)

    monkeypatch.setattr(taught, "ask", slow)
    done = vault.ingest(TEXT)
    assert made[0] in [item["uuid"] for item in done["merged"]]
    assert vault.id_of("Charles Babbage") == made[0]


def test_two_who_read_one_document_at_once_write_it_once(
    vault: Library, taught: Oracle, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, inner = taught.ask, []

    def slow(question: Any, most: int, stopped: Any) -> Any:
        if not inner:
            inner.append(None)
            inner.append(vault.ingest(TEXT))
        return whole(question, most, stopped)

    monkeypatch.setattr(taught, "ask", slow)
    outer = vault.ingest(TEXT)
    assert inner[1]["changed"] and not outer["changed"]
    assert len(vault.titles("relationship")) == 2
