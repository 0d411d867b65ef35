"""A fault in `ontology.yaml`: what stands stays readable, the cause is told first, writes wait."""

from __future__ import annotations

import os

import pytest

from tests.operations.builder import VaultBox, as_an_ordinary_person
from vault_kg.errors import InvalidRecord
from vault_kg.index.ontologies import Ontologies

GOOD = """\
page_types:
  Publication:
    description: A text that appeared in print.
    parent: Document
    fields:
      year: {type: integer}
claim_kinds:
  quotation:
    description: Words as they were said.
relationship_types:
  translated:
    from: Person
    to: Publication
"""
FAULTS = {
    "bad YAML": (GOOD + "  bad: [unclosed\n", "unreadable_manifest"),
    "a section without form": (GOOD.replace("claim_kinds:", "claim_kinds: some\nx:"), "invalid_section"),
    "an unknown section": (GOOD.replace("page_types", "pages"), "unknown_key"),
    "a misspelt parent": (GOOD.replace("parent: Document", "parent: Docment"), "unknown_parent"),
    "a misspelt key": (GOOD.replace("parent:", "parnet:"), "unknown_key"),
    "a list for a definition": (
        GOOD.replace("Publication:\n", "Publication: [a]\n  Other:\n", 1), "invalid_value",
    ),
}  # fmt: skip
each_fault = pytest.mark.parametrize(("text", "code"), FAULTS.values(), ids=FAULTS)


@pytest.fixture
def written(vault: VaultBox) -> dict[str, str]:
    """A page, a claim and relationships of types that the vault's own vocabulary declares."""
    vault.put("ontology.yaml", GOOD)
    vault.scan()
    ada = vault.page("Ada")
    book = vault.page("Sketch of the Engine", "Publication", fields={"year": 1843})
    return {
        "ada": ada,
        "book": book,
        "claim": vault.claim(book, "It weaves algebraical patterns.", claimKind="quotation"),
        "translated": vault.relationship(ada, book, "translated", "Ada translated the sketch."),
        "authored": vault.relationship(ada, book, "authored", "Ada wrote the notes to the sketch."),
    }


@each_fault
def test_records_stay_readable_and_searchable(
    vault: VaultBox, written: dict[str, str], text: str, code: str
) -> None:
    listed = vault.listed()
    found = {h["id"] for h in vault.call("knowledge_search", query="sketch")["hits"]}
    vault.put("ontology.yaml", text)
    vault.scan()
    assert vault.listed() == listed >= set(written.values())
    assert {h["id"] for h in vault.call("knowledge_search", query="sketch")["hits"]} == found
    assert vault.get(written["authored"])["eligible"]
    assert vault.lookup("Sketch of the Engine") == written["book"]


@each_fault
def test_the_cause_is_told_first_with_its_line_and_what_follows_names_it(
    vault: VaultBox, written: dict[str, str], text: str, code: str
) -> None:
    vault.put("notes/links.md", "[[Nowhere]]\n")
    vault.put("ontology.yaml", text)
    vault.scan()
    first, *rest = vault.findings()
    while rest and first["path"] == "ontology.yaml" and first["code"] != code:
        first, *rest = rest
    assert (first["code"], first["path"]) == (code, "ontology.yaml")
    assert first["line"] and first["hint"].startswith("mend ontology.yaml")
    rest = [f for f in rest if f["path"] != "ontology.yaml"]
    of_records = [f for f in rest if f["record"]]
    assert rest and of_records
    assert all(f["severity"] == "warning" for f in rest), rest
    assert all(f"ontology.yaml:{first['line']}" in f["hint"] for f in of_records)


@each_fault
def test_a_write_that_needs_what_is_missing_is_refused_with_the_cause(
    vault: VaultBox, written: dict[str, str], text: str, code: str
) -> None:
    citation = vault.evidence
    vault.put("ontology.yaml", text)
    vault.scan()
    line = next(f["line"] for f in vault.findings(code))
    refused = vault.refused(
        "knowledge_save_relationship", type="authored", fact="Ada wrote it.", evidence=citation,
        **{"from": written["ada"], "to": written["book"]},
    )  # fmt: skip
    assert isinstance(refused, InvalidRecord) and f"ontology.yaml:{line}: " in refused.message
    assert "Mend" in refused.message


def test_mending_it_judges_everything_anew(vault: VaultBox, written: dict[str, str]) -> None:
    vault.put("ontology.yaml", FAULTS["bad YAML"][0])
    vault.edit(written["authored"], "type: authored", "type: translated")
    vault.edit(written["translated"], f"to: {written['book']}", f"to: {written['ada']}")
    vault.scan()
    assert set(written.values()) <= vault.listed()
    vault.put("ontology.yaml", GOOD)
    vault.scan()
    assert set(written.values()) - vault.listed() == {written["translated"]}
    assert [f["code"] for f in vault.findings()] == ["endpoint_type"]


def test_a_fault_elsewhere_in_the_vocabulary_excuses_nothing(
    vault: VaultBox, written: dict[str, str]
) -> None:
    vault.put("ontology.yaml", GOOD + "  other:\n    from: Nobody\n")
    vault.edit(written["translated"], f"to: {written['book']}", f"to: {written['ada']}")
    vault.scan()
    assert written["translated"] not in vault.listed()
    assert [(f["code"], f["severity"]) for f in vault.findings()] == [
        ("unknown_type", "warning"),
        ("endpoint_type", "error"),
    ]


def test_a_fault_of_a_partition_is_told_with_its_own_file(vault: VaultBox) -> None:
    vault.put("other/ontology.yaml", "page_types: [\n")
    vault.scan()
    refused = vault.refused("knowledge_save_page", type="Person", title="Ada", partition="other")
    assert refused.message.startswith("other/ontology.yaml:")
    vault.page("Ada")


def test_a_vocabulary_that_cannot_be_read_is_no_empty_one(
    vault: VaultBox, written: dict[str, str]
) -> None:
    with as_an_ordinary_person(vault.root.parent):
        (vault.root / "ontology.yaml").chmod(0)
        vault.scan()
        assert set(written.values()) <= vault.listed()
        first = vault.findings()[0]
        assert (first["code"], first["path"]) == ("unreadable_manifest", "ontology.yaml")
        assert os.strerror(13) in first["message"]


def test_a_vocabulary_that_could_not_be_read_once_is_read_again(vault: VaultBox) -> None:
    limits = pytest.importorskip("resource", reason="limits of POSIX")
    vault.put("ontology.yaml", GOOD)
    ontologies = Ontologies(vault.root)
    before = limits.getrlimit(limits.RLIMIT_NOFILE)
    limits.setrlimit(limits.RLIMIT_NOFILE, (3, before[1]))
    try:
        unread = ontologies.of("")
        assert ontologies.of("") is unread, "nothing is parsed again while nothing is different"
    finally:
        limits.setrlimit(limits.RLIMIT_NOFILE, before)
    assert [issue.code for issue in unread.issues] == ["unreadable_manifest"]
    again = ontologies.of("")
    assert not again.issues and again.fingerprint != unread.fingerprint
