"""Creating records: validated like nothing else, filed safely, and never over anything."""

from __future__ import annotations

import unicodedata
from pathlib import PurePosixPath
from typing import Any

import pytest

from tests.operations.builder import VaultBox
from vault_kg.errors import (
    InvalidArgument,
    InvalidRecord,
    MergedReference,
    NotFound,
    ReservedEdgeType,
    StaleOntology,
    UnsafePath,
    WrongVault,
)
from vault_kg.records.frontmatter import parse

# What a create is validated against


def test_an_undeclared_page_type_is_accepted_in_an_open_ontology_and_reported(
    vault: VaultBox,
) -> None:
    receipt = vault.write("knowledge_save_page", type="Gizmo", title="One")
    assert "'Gizmo' is not a declared page type" in receipt["warnings"][0]
    assert vault.findings("undeclared_type")


def test_an_undeclared_type_is_refused_in_a_strict_ontology(vault: VaultBox) -> None:
    vault.put("ontology.yaml", "mode: strict\n")
    vault.scan()
    person = vault.page()
    for refused in (
        vault.refused("knowledge_save_page", type="Gizmo", title="One"),
        vault.refused(
            "knowledge_save_claim",
            **{k: v for k, v in vault.claim_values(person).items() if k != "kind"}
            | {"claimKind": "rumour"},
        ),
    ):
        assert isinstance(refused, InvalidRecord)
        assert "is not a declared" in refused.message and "knowledge_ontology" in refused.message


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"born": "in 1815"}, "fields.born"),
        ({"born": 1815}, "fields.born"),
        ({"born": ["1815-12-10"]}, "takes one value"),
    ],
)
def test_fields_are_typed_by_the_ontology(
    vault: VaultBox, fields: dict[str, Any], said: str
) -> None:
    refused = vault.refused("knowledge_save_page", type="Person", title="Ada", fields=fields)
    assert isinstance(refused, InvalidRecord) and said in refused.message


def test_a_value_that_is_not_allowed_is_refused_with_those_that_are(vault: VaultBox) -> None:
    refused = vault.refused(
        "knowledge_save_page", type="Bug", title="It breaks", fields={"status": "on fire"}
    )
    assert isinstance(refused, InvalidRecord)
    assert "must be one of open, fixed" in refused.message


def test_another_spelling_of_a_declared_name_is_stored_as_declared(vault: VaultBox) -> None:
    page = vault.page("The contract", type="api contract")
    other = vault.page("Ada", type="PERSON", fields={"BORN": "1815-12-10"})
    claim = vault.claim(other, claimKind="Fact")
    assert vault.get(page)["type"] == "APIContract"
    assert vault.get(other)["type"] == "Person"
    assert vault.get(other)["fields"] == {"born": "1815-12-10"}
    assert vault.get(claim)["type"] == "fact"


def test_endpoint_types_are_those_of_the_relationship(vault: VaultBox) -> None:
    ada, turin = vault.page(), vault.page("Turin", type="Place")
    values = {k: v for k, v in vault.relationship_values(ada, turin).items() if k != "kind"}
    refused = vault.refused("knowledge_save_relationship", **values)
    assert isinstance(refused, InvalidRecord)
    assert "knows does not join Person to Place" in refused.message


@pytest.mark.parametrize("key", ["owner", "entities", "dependencies"])
def test_ids_that_a_claim_names_must_exist(vault: VaultBox, key: str) -> None:
    ada = vault.page()
    unknown = "pg_" + "0" * 26
    named = {key: unknown if key == "owner" else [unknown]}
    values = {k: v for k, v in vault.claim_values(ada, **named).items() if k != "kind"}
    refused = vault.refused("knowledge_save_claim", **values)
    assert isinstance(refused, InvalidRecord)
    assert refused.message == (f"{key}: {unknown} does not exist; look it up with knowledge_lookup")


def test_an_owner_must_be_a_page(vault: VaultBox) -> None:
    claim = vault.claim(vault.page())
    values = {k: v for k, v in vault.claim_values(claim).items() if k != "kind"}
    refused = vault.refused("knowledge_save_claim", **values)
    assert isinstance(refused, InvalidRecord) and "is not a page" in refused.message


@pytest.mark.parametrize("how", ["withdrawn", "hidden"])
def test_ids_that_a_record_names_must_be_eligible(vault: VaultBox, how: str) -> None:
    ada = vault.page()
    if how == "hidden":
        base = vault.page("Base")
        ada = vault.page("Ada two", dependencies=[base])
        vault.withdraw(base)
    else:
        vault.withdraw(ada)
    values = {k: v for k, v in vault.claim_values(ada).items() if k != "kind"}
    refused = vault.refused("knowledge_save_claim", **values)
    assert isinstance(refused, InvalidRecord)
    assert ("withdrawn" in refused.message) == (how == "withdrawn")
    assert "knowledge_get" in refused.message


@pytest.mark.parametrize(
    ("citation", "said"),
    [
        ({"source": "sr_" + "0" * 26}, "attach the file first with knowledge_attach_file"),
        ({"lines": "3-4"}, "not within the source's 1-3"),
        ({"lines": "3-2"}, "not within the source's 1-3"),
        ({"lines": "0"}, "not within the source's 1-3"),
        ({"lines": "two"}, "not within the source's 1-3"),
        ({"quote": "Ada wrote  the notes."}, "does not occur verbatim"),
        ({"quote": "They met", "lines": "1-2"}, "verbatim in lines 1-2"),
        ({"quote": "  "}, "does not occur verbatim"),
    ],
)
def test_evidence_must_hold(vault: VaultBox, citation: dict[str, str], said: str) -> None:
    ada = vault.page()
    evidence = [vault.evidence[0], {"source": vault.source()} | citation]
    values = {k: v for k, v in vault.claim_values(ada, evidence=evidence).items() if k != "kind"}
    refused = vault.refused("knowledge_save_claim", **values)
    assert isinstance(refused, InvalidRecord)
    assert "evidence 2" in refused.message and said in refused.message


def test_a_quote_may_span_lines_whatever_their_ends(vault: VaultBox) -> None:
    source = vault.source("One line\r\nand the next\r\n", name="dos.txt")
    ada = vault.page()
    vault.claim(ada, evidence=[{"source": source, "quote": "line\nand", "lines": "1-2"}])
    vault.claim(ada, evidence=[{"source": source, "quote": "line\r\nand"}])


def test_line_numbers_are_those_of_an_editor(vault: VaultBox) -> None:
    source = vault.source("one\x0cstill one\x0b\u2028still\ntwo\n", name="page-breaks.txt")
    ada = vault.page()
    claim = vault.claim(ada, evidence=[{"source": source, "lines": "2", "quote": "two"}])
    assert vault.get(claim)["evidence"][0]["text"] == "two"
    assert vault.call("knowledge_source", id=source)["totalLines"] == 2
    assert vault.call("knowledge_source", id=source, lines="2")["text"] == "two"


@pytest.mark.parametrize(
    ("times", "said"),
    [
        ({"validFrom": "last year"}, "valid_from must be a date"),
        ({"validUntil": "2026-02-30"}, "valid_until must be a date"),
        ({"validFrom": "2026-02-02", "validUntil": "2026-02-01"}, "before valid_from"),
        (
            {"validFrom": "2026-02-02T01:00:00+05:00", "validUntil": "2026-02-01T19:00:00Z"},
            "before valid_from",
        ),
    ],
)
def test_times_must_be_times_in_order(vault: VaultBox, times: dict[str, str], said: str) -> None:
    values = {k: v for k, v in vault.claim_values(vault.page(), **times).items() if k != "kind"}
    refused = vault.refused("knowledge_save_claim", **values)
    assert isinstance(refused, InvalidRecord) and said in refused.message


def test_every_fault_of_a_request_is_named_at_once(vault: VaultBox) -> None:
    refused = vault.refused(
        "knowledge_save_claim", owner="pg_x", evidence=[], colour="red", confidence=2
    )
    assert isinstance(refused, InvalidArgument)
    fields = {p["field"] for p in refused.data["problems"]}
    assert {"claimKind", "statement", "evidence", "colour", "confidence"} <= fields
    assert "colour: unknown key" in refused.message


def test_a_reference_to_a_merged_page_is_refused_with_the_survivors_id(vault: VaultBox) -> None:
    ada, countess, king = vault.page(), vault.page("Countess"), vault.page("Ada King")
    vault.merge(countess, king)
    vault.merge(ada, countess)
    for name, values in (
        ("knowledge_save_claim", vault.claim_values(king)),
        ("knowledge_save_claim", vault.claim_values(ada, entities=[king])),
        ("knowledge_save_relationship", vault.relationship_values(ada, king)),
        ("knowledge_save_page", {"type": "Person", "title": "X", "dependencies": [king]}),
    ):
        refused = vault.refused(name, **{k: v for k, v in values.items() if k != "kind"})
        assert isinstance(refused, MergedReference)
        assert refused.data["survivor"] == ada and ada in refused.message


@pytest.mark.parametrize("spelling", ["mentions", "Mentions", "belongs to", "belongs_to"])
def test_a_reserved_relationship_type_is_refused(vault: VaultBox, spelling: str) -> None:
    ada, book = vault.page(), vault.page("Notes", type="Entity")
    values = vault.relationship_values(ada, book, type=spelling)
    refused = vault.refused(
        "knowledge_save_relationship", **{k: v for k, v in values.items() if k != "kind"}
    )
    assert isinstance(refused, ReservedEdgeType)


def test_a_stale_vocabulary_or_another_vault_is_refused_with_what_stands(vault: VaultBox) -> None:
    page = {"type": "Person", "title": "Ada"}
    stale = vault.refused("knowledge_save_page", **page, expectedOntologyFingerprint="0" * 64)
    assert isinstance(stale, StaleOntology) and stale.data["current"] == vault.fingerprint
    wrong = vault.refused("knowledge_save_page", **page, expectedVaultId="va_other")
    assert isinstance(wrong, WrongVault) and wrong.data["current"] == vault.ws.vault.id
    vault.page(expectedOntologyFingerprint=vault.fingerprint, expectedVaultId=vault.ws.vault.id)


def test_a_broken_ontology_refuses_structured_writes_and_says_where(vault: VaultBox) -> None:
    vault.put("ontology.yaml", "page_types:\n  Gizmo: [\n")
    vault.scan()
    refused = vault.refused("knowledge_save_page", type="Person", title="Ada")
    assert isinstance(refused, InvalidRecord)
    assert refused.message.startswith("ontology.yaml:") and "Mend it" in refused.message


# Nothing happens by itself


def test_a_contrary_statement_supersedes_nothing_by_itself(vault: VaultBox) -> None:  # C41
    ada = vault.page()
    first = vault.claim(ada, "Ada was born in 1815.")
    second = vault.claim(ada, "Ada was not born in 1815.")
    assert {first, second} <= vault.listed()
    assert vault.get(first)["lifecycle"] == vault.get(second)["lifecycle"] == "active"


def test_several_relationships_may_join_the_same_pages(vault: VaultBox) -> None:
    ada, babbage = vault.page(), vault.page("Babbage")
    assert len({vault.relationship(ada, babbage) for _ in range(3)}) == 3


# Names


def test_titles_that_slug_alike_get_files_of_their_own(vault: VaultBox) -> None:  # C1
    titles = ["Q3 Report", "Q3-Report", "q3 report!", "Q3  REPORT"]
    ids = [vault.page(title, type="Document") for title in titles]
    paths = [vault.get(i)["path"] for i in ids]
    assert len(set(ids)) == len({p.casefold() for p in paths}) == len(titles)
    assert [vault.get(i)["title"] for i in ids] == titles
    assert all("q3-report" in p for p in paths)


def test_a_file_that_stands_is_never_taken_for_a_new_record(vault: VaultBox) -> None:
    mine = vault.put("main/pages/person/ADA.md", "my own words\n")
    page = vault.page("Ada")
    assert mine.read_text() == "my own words\n"
    assert vault.get(page)["path"].casefold() != "main/pages/person/ada.md"


TITLES = [
    "CON", "con.txt", "NUL", "..", ".", "index", "Index", "README", "", "   ", "/etc/passwd",
    "a/b\\c", "x" * 300, "محمد بن موسى الخوارزمي", "東京都", "😀🎉", "naïve", "-", ".hidden",
    "trailing. ", "What? <now>: \"quoted\" | *", "é" * 300, "𝔘𝔫𝔦𝔠𝔬𝔡𝔢", "ß" * 80, "Aux.md", "a" * 59 + " b",
]  # fmt: skip


UNSEEN = ["", "   ", "\u200b", "\u2060\u00ad", "\ufeff \u3000", "\u3164", "\u2800\u2800", "\ufe0f",
          "\u0301", "\u202e\u202c"]  # fmt: skip


@pytest.mark.parametrize("title", UNSEEN, ids=[ascii(t) for t in UNSEEN])
def test_a_page_whose_title_cannot_be_seen_is_called_by_its_file(
    vault: VaultBox, title: str
) -> None:
    page = vault.page(title, type="Topic")
    shown = vault.get(page)["title"]
    assert shown == PurePosixPath(vault.get(page)["path"]).stem and shown.strip()


@pytest.mark.parametrize("title", UNSEEN, ids=[ascii(t) for t in UNSEEN])
def test_a_statement_with_such_a_title_is_called_by_its_words(vault: VaultBox, title: str) -> None:
    claim = vault.claim(vault.page(), "Ada wrote the notes.", title=title)
    assert vault.get(claim)["title"] == "Ada wrote the notes."


@pytest.mark.parametrize("text", UNSEEN, ids=[ascii(t) for t in UNSEEN])
def test_no_title_is_taken_from_a_page_by_one_that_cannot_be_seen(
    vault: VaultBox, text: str
) -> None:
    page, other = vault.page("Ada"), vault.page("Countess")
    refused = vault.refused("knowledge_save_page", **vault.fence(page), title=text)
    assert isinstance(refused, InvalidArgument) and "title" in refused.message
    refused = vault.refused("knowledge_merge", **vault.merging(page, other), title=text)
    assert isinstance(refused, InvalidArgument) and "can be seen" in refused.message
    assert vault.get(page)["title"] == "Ada"


@pytest.mark.parametrize("text", UNSEEN, ids=[ascii(t) for t in UNSEEN])
def test_a_statement_says_something(vault: VaultBox, text: str) -> None:
    page = vault.page()
    claim = vault.claim_values(page, text)
    edge = vault.relationship_values(page, vault.page("Byron")) | {"fact": text}
    for name, values in (("claim", claim), ("relationship", edge)):
        values.pop("kind", None)
        refused = vault.refused(f"knowledge_save_{name}", **values)
        assert isinstance(refused, InvalidArgument) and "can be seen" in refused.message


@pytest.mark.parametrize("title", TITLES, ids=range(len(TITLES)))
def test_any_title_yields_a_safe_readable_file_name(vault: VaultBox, title: str) -> None:  # C2
    page = vault.page(title, type="Topic")
    view = vault.get(page)
    name = PurePosixPath(view["path"]).name
    stem = name.removesuffix(".md")
    assert view["path"].startswith("main/pages/topic/") and view["path"].count("/") == 3
    assert stem and len(name.encode()) <= 200 and name == unicodedata.normalize("NFC", name)
    assert not set(stem) & set('<>:"|?*\\/\0') and not stem.startswith((".", "-"))
    devices = {"con", "prn", "aux", "nul"}
    assert stem.partition(".")[0].casefold() not in devices | {"index", "readme"}
    assert vault.lookup(page) == page
    letters = [c for c in unicodedata.normalize("NFKC", title).lower() if c.isalpha()]
    assert not letters or any(c in stem for c in letters), "readable"


@pytest.mark.parametrize(
    ("type_name", "refusal"),
    [("CON", UnsafePath), ("!!!", InvalidArgument), ("x" * 1_000, InvalidArgument)],
)
def test_a_type_that_cannot_be_a_folder_is_refused(
    vault: VaultBox, type_name: str, refusal: type[Exception]
) -> None:
    assert isinstance(vault.refused("knowledge_save_page", type=type_name, title="x"), refusal)


@pytest.mark.parametrize("type_name", ["../../../etc", "a/b", "数据", "Ärzte & Co.", "👍 nice"])
def test_an_odd_type_is_filed_inside_the_partition(vault: VaultBox, type_name: str) -> None:
    path = vault.get(vault.page("x", type=type_name))["path"]
    assert path.startswith("main/pages/") and path.count("/") == 3 and ".." not in path


@pytest.mark.parametrize(
    "partition", ["..", "a/b", ".git", ".vault-kg", "con", "", "x" * 500, "a\\b"]
)
def test_a_partition_is_one_safe_folder_name(vault: VaultBox, partition: str) -> None:
    refused = vault.refused("knowledge_save_page", type="Person", title="Ada", partition=partition)
    assert isinstance(refused, InvalidArgument) and "partition" in refused.message


def test_one_name_of_two_kinds_is_two_pages_and_ambiguous_by_name_alone(
    vault: VaultBox,
) -> None:  # C20
    topic, channel = vault.page("adr", type="Topic"), vault.page("adr", type="Channel")
    assert vault.get(topic)["path"] != vault.get(channel)["path"]
    refused = vault.refused("knowledge_lookup", text="ADR")
    assert {c["id"] for c in refused.data["candidates"]} == {topic, channel}
    assert vault.lookup("adr", type="Channel") == channel


@pytest.mark.parametrize("title", ["Łódź", "Ærøskøbing", "наука", "東京都", "naïve"])
def test_a_name_is_found_in_any_form_and_removed_by_id(vault: VaultBox, title: str) -> None:  # C21
    page = vault.page(title, type="Place")
    for form in ("NFC", "NFD", "NFKC"):
        for spelling in (title, title.upper(), title.lower()):
            assert vault.lookup(unicodedata.normalize(form, spelling)) == page
    vault.withdraw(page)
    assert isinstance(vault.refused("knowledge_lookup", text=title), NotFound)


# What is written is what was meant


STATEMENT = "O'Brien said \"it's `done`\"; -- \n\\t {{x}} <b> %s \\n --- \n# not: yaml"


def test_quotes_and_backslashes_come_back_as_they_were_written(vault: VaultBox) -> None:  # C12
    claim = vault.claim(
        vault.page(title='O\'Brien: "the" `one` -- \\t #1'), STATEMENT, title="'x': \"y\" -- \\n"
    )
    view = vault.get(claim)
    assert view["body"] == STATEMENT
    assert view["title"] == "'x': \"y\" -- \\n"
    vault.reopen()
    vault.scan()
    assert vault.get(claim)["body"] == STATEMENT
    assert vault.git("show", f"HEAD:{view['path']}") == vault.path(claim).read_text().strip()


VALUES: dict[str, Any] = {
    "a_date": "2024-01-05", "a_time": "2024-01-05T10:00:00Z", "an_int": 7, "big": 2**70,
    "yes": True, "no": False, "tenth": 0.1, "exp": 1e30, "word_no": "no", "word_yes": "yes",
    "word_null": "null", "word_true": "true", "text_exp": "1e3", "text_octal": "0755",
    "text_int": "12", "text_float": "0.10", "empty": "", "space": " x ", "tilde": "~",
    "colon": "a: b", "hash": "a # b", "dash": "- x", "newline": "a\nb\n", "quote": "it's \"so\"",
    "list": [1, "1", 1.0, True, "no", None, []], "map": {"1": "one", "true": False, "": 0},
    "emoji": "😀", "negative": -0.0, "sexagesimal": "12:30:45", "merge": "<<", "equals": "=",
}  # fmt: skip


def test_typed_values_come_back_as_the_same_types_and_text(vault: VaultBox) -> None:  # C13
    page = vault.page("Values", type="Gizmo", fields=VALUES | {"nothing": None})
    read = vault.get(page)["fields"]
    assert read == VALUES
    assert {k: type(v) for k, v in read.items()} == {k: type(v) for k, v in VALUES.items()}
    vault.reopen()
    vault.change(page, summary="Something else.")
    assert parse(vault.path(page).read_bytes()).fields["fields"] == VALUES


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), "\ud800", {"\udfff": 1}, 10**5000, {1: 2}, {"a": object()}],
    ids=range(7),
)
def test_a_value_that_front_matter_cannot_hold_is_refused(vault: VaultBox, value: Any) -> None:
    refused = vault.refused("knowledge_save_page", type="Gizmo", title="x", fields={"a": value})
    assert isinstance(refused, InvalidArgument | InvalidRecord) and "fields" in refused.message


def test_a_value_nested_too_deeply_is_refused(vault: VaultBox) -> None:
    for depth in (60, 600, 20_000):
        value: Any = 1
        for _ in range(depth):
            value = [value]
        refused = vault.refused("knowledge_save_page", type="Gizmo", title="x", fields={"a": value})
        assert isinstance(refused, InvalidArgument | InvalidRecord)


def test_a_record_larger_than_ten_megabytes_is_refused(vault: VaultBox) -> None:
    refused = vault.refused(
        "knowledge_save_page", type="Gizmo", title="x", body="😀" * 1_900_000,
        fields={"a": "y" * 4_000_000},
    )  # fmt: skip
    assert isinstance(refused, InvalidRecord) and "10 MB" in refused.message


@pytest.mark.parametrize("key", ["title", "body", "summary"])
@pytest.mark.parametrize("text", ["a\0b", "a\x1b[31mb", "a\ud800b", "a\x07"], ids=ascii)
def test_control_characters_and_half_characters_are_refused(
    vault: VaultBox, key: str, text: str
) -> None:
    values = {"type": "Topic", "title": "x"} | {key: text}
    refused = vault.refused("knowledge_save_page", **values)
    assert isinstance(refused, InvalidArgument) and key in refused.message


def test_a_created_record_is_one_commit_with_who_and_what(vault: VaultBox) -> None:
    before = int(vault.git("rev-list", "--count", "HEAD") or 0) if vault.position else 0
    receipt = vault.write("knowledge_save_page", type="Person", title="Ada")
    assert receipt["git"]["state"] == "committed"
    assert int(vault.git("rev-list", "--count", "HEAD")) == before + 1
    assert vault.git("log", "-1", "--format=%an %s") == "tester save_page: Ada"
    assert receipt["revision"] == 1 and receipt["hash"] == vault.get(receipt["targetId"])["hash"]
