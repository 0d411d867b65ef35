"""The sample vault is what its README says: whole, true to its sources, and easy to follow."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from vault_kg.records.ids import source_id
from vault_kg.records.ontology import load_ontology

VAULT = Path(__file__).resolve().parents[1] / "sample_vault"
PARTITION = VAULT / "main"
ONTOLOGY = load_ontology((VAULT / "ontology.yaml").read_text(encoding="utf-8"))

ID = re.compile(r"(pg|cl|re)_[0-9a-hjkmnp-tv-z]{26}")
TIME = re.compile(r"2026-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z")
WIKILINK = re.compile(r"\[\[([^\]|#]+)(?:#[^\]|]*)?(?:\|[^\]]*)?\]\]")
PREFIX = {"page": "pg_", "claim": "cl_", "relationship": "re_"}


class Record:
    def __init__(self, path: Path) -> None:
        self.path = path
        text = path.read_bytes().decode("utf-8")
        _, front, self.body = re.split(r"^---\r?\n", text, maxsplit=2, flags=re.MULTILINE)
        # BaseLoader reads every scalar as text, as it is spelled.
        self.front: dict[str, Any] = yaml.load(front, Loader=yaml.BaseLoader)

    def __getattr__(self, name: str) -> Any:
        return self.front.get(name)


@cache
def records() -> dict[str, Record]:
    paths = [
        p
        for folder in ("pages", "claims", "relationships")
        for p in (PARTITION / folder).rglob("*.md")
    ]
    found = [Record(path) for path in sorted(paths)]
    return {record.id: record for record in found}


@cache
def sources() -> dict[str, tuple[Path, dict[str, str]]]:
    found = {}
    for path in sorted(PARTITION.glob("sources/*/source.yaml")):
        descriptor = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
        found[descriptor["id"]] = (path.parent / descriptor["filename"], descriptor)
    return found


def of_kind(kind: str) -> list[Record]:
    return [record for record in records().values() if record.kind == kind]


def citations() -> Iterator[tuple[Record, dict[str, str]]]:
    for record in records().values():
        for citation in record.evidence or []:
            yield record, citation


def typed(declared: dict[str, str], fields: dict[str, Any]) -> dict[str, Any]:
    """Give values that were read as text the type that their field declares."""
    convert = {"integer": int, "number": float}
    return {name: convert.get(declared[name], lambda v: v)(value) for name, value in fields.items()}


def test_it_holds_some_sixty_records_with_ids_of_their_own() -> None:
    files = list(PARTITION.glob("pages/**/*.md")) + list(PARTITION.glob("claims/**/*.md"))
    files += PARTITION.glob("relationships/**/*.md")
    assert len(files) == len(records())
    assert 55 <= len(records()) <= 70
    assert 6 <= len(sources()) <= 8
    for record in records().values():
        assert ID.fullmatch(record.id), record.path
        assert record.id.startswith(PREFIX[record.kind]), record.path


def test_every_record_has_the_envelope_of_the_format() -> None:
    for record in records().values():
        assert record.format == "knowledge-record-v1", record.path
        assert record.title.strip(), record.path
        assert record.revision == ("2" if record.lifecycle == "superseded" else "1"), record.path
        assert TIME.fullmatch(record.recorded_at), record.path
        assert record.updated_at >= record.recorded_at, record.path
        assert record.body.strip(), record.path


def test_every_file_is_where_the_layout_says() -> None:
    for record in records().values():
        folder = record.path.parent.relative_to(PARTITION).as_posix() + "/"
        if record.kind == "page":
            assert folder == ONTOLOGY.folder(record.type), record.path
        elif record.kind == "claim":
            assert folder == f"claims/{records()[record.owner].path.stem}/", record.path
        else:
            assert folder == f"relationships/{record.type.replace('_', '-')}/", record.path


def test_every_reference_resolves_to_a_record_that_is_no_younger() -> None:
    for record in records().values():
        ends = [record.owner, record.front.get("from"), record.front.get("to")]
        named = [*filter(None, ends), *(record.entities or []), *(record.dependencies or [])]
        for target in named:
            assert records()[target].recorded_at <= record.recorded_at, record.path


def test_the_vaults_ontology_adds_types_without_an_issue() -> None:
    assert ONTOLOGY.issues == ()
    added = [row["name"] for row in ONTOLOGY.describe() if row["provenance"] == ["vault"]]
    assert added == ["quotation", "Machine", "Publication", "designed", "translated"]


def test_types_and_fields_keep_to_the_ontology() -> None:
    for page in of_kind("page"):
        declared = ONTOLOGY.page_type(page.type)
        assert declared is not None, page.path
        assert declared.name == page.type, page.path
        types = {name: rule.type for name, rule in ONTOLOGY.fields_of(page.type).items()}
        given = typed(types, page.fields or {})
        assert ONTOLOGY.check_fields(page.type, given) == (given, []), page.path
        assert len(page.summary) <= 300, page.path
    for claim in of_kind("claim"):
        kind = ONTOLOGY.claim_kind(claim.claim_kind)
        assert kind is not None, claim.path
        assert kind.name == claim.claim_kind, claim.path


def test_relationships_join_types_that_may_be_joined_and_none_is_reserved() -> None:
    types = set()
    for relationship in of_kind("relationship"):
        declared = ONTOLOGY.relationship_type(relationship.type)
        assert declared is not None, relationship.path
        assert not declared.reserved, relationship.path
        ends = [records()[relationship.front[end]].type for end in ("from", "to")]
        assert ONTOLOGY.allows_endpoints(relationship.type, *ends) is None, relationship.path
        types.add(declared.name)
    assert len(types) >= 8


def test_sources_are_kept_under_the_hash_of_their_bytes() -> None:
    for identity, (path, descriptor) in sources().items():
        data = path.read_bytes()
        sha256 = hashlib.sha256(data).hexdigest()
        assert descriptor["format"] == "knowledge-source-v1"
        assert sha256 == path.parent.name == descriptor["sha256"]
        assert identity == source_id("main", sha256)
        assert int(descriptor["size"]) == len(data)
        assert {p.name for p in path.parent.iterdir()} == {path.name, "source.yaml"}


def test_every_quote_stands_in_its_source_at_its_lines() -> None:
    for record, citation in citations():
        path, descriptor = sources()[citation["source"]]
        lines = path.read_text(encoding="utf-8").splitlines()
        first, _, last = citation["lines"].partition("-")
        assert 1 <= int(first) <= int(last or first) <= len(lines), record.path
        cited = "\n".join(lines[int(first) - 1 : int(last or first)])
        assert citation.get("quote", "") in cited, record.path
        assert descriptor["recorded_at"] <= record.recorded_at, record.path


def test_claims_and_relationships_have_evidence_and_every_source_is_cited() -> None:
    for record in of_kind("claim") + of_kind("relationship"):
        assert record.evidence, record.path
    assert {citation["source"] for _, citation in citations()} == set(sources())


def test_one_claim_is_superseded_by_another_that_says_so() -> None:
    (old,) = [r for r in records().values() if r.lifecycle == "superseded"]
    new = records()[old.superseded_by]
    assert new.supersedes == old.id
    assert set(old.lifecycle_change) == {"reason", "at", "actor", "request_id"}
    assert new.recorded_at == old.updated_at == old.lifecycle_change["at"]
    assert {r.lifecycle for r in records().values()} == {"active", "superseded"}


def test_there_is_a_strong_and_a_weak_pair_of_duplicates_and_no_other() -> None:
    identities = Counter(
        a for page in of_kind("page") for a in page.aliases or [] if re.match(r"[a-z]+:\S", a)
    )
    assert [alias for alias, n in identities.items() if n > 1] == ["wikidata:Q7259"]
    titles = Counter(
        re.sub(r"[\W_]+", " ", page.title.casefold()).strip() for page in of_kind("page")
    )
    assert [title for title, n in titles.items() if n > 1] == ["difference engine no 2"]


def test_a_withdrawal_would_hide_claims_a_page_and_a_relationship() -> None:
    (offered,) = [
        r for r in records().values() if r.title == "Babbage worked the Bernoulli numbers himself"
    ]
    hidden = {r.id for r in records().values() if offered.id in (r.dependencies or [])}
    joined = [r for r in of_kind("relationship") if {r.front["from"], r.front["to"]} & hidden]
    assert Counter(records()[i].kind for i in hidden) == {"claim": 2, "page": 1}
    assert len(joined) == 1


def test_one_claim_has_expired_and_one_was_valid_until_2016() -> None:
    assert [r.expires_at for r in records().values() if r.expires_at] == ["2026-04-01T00:00:00Z"]
    assert [r.valid_until for r in records().values() if r.valid_until] == ["2016-01-31"]


def test_links_lead_to_a_page_or_note_but_for_one() -> None:
    notes = [VAULT / "README.md", *sorted((VAULT / "notes").glob("*.md"))]
    names = {"note g, worked through", "what to read", *(note.stem for note in notes)}
    for page in of_kind("page"):
        names |= {name.casefold() for name in (page.title, *(page.aliases or []))}
    texts = {record.path: record.body for record in records().values()}
    texts |= {note: note.read_text(encoding="utf-8") for note in notes}
    broken = {
        (path.name, link)
        for path, text in texts.items()
        for link in WIKILINK.findall(re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL))
        if link.casefold() not in names
    }
    assert broken == {("ideas.md", "Difference Engine No. 3")}


def test_touched_files_exist() -> None:
    touched = [path for page in of_kind("page") for path in page.touches or []]
    assert touched
    assert all((VAULT / path).is_file() for path in touched)


@pytest.mark.parametrize("path", sorted(VAULT.rglob("*.md")), ids=lambda p: p.name)
def test_text_is_utf8_with_one_kind_of_line_ending(path: Path) -> None:
    data = path.read_bytes()
    data.decode("utf-8")
    assert data.endswith(b"\n")
    windows = data.count(b"\r\n")
    assert windows == (data.count(b"\n") if path.name == "georg-scheutz.md" else 0)
    assert not [line for line in data.splitlines() if line != line.rstrip()]
