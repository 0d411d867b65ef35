"""What holds of every operation in the registry: typed refusals, nothing written, nothing leaked."""

from __future__ import annotations

import copy
import hashlib
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.operations.builder import Clock, VaultBox, record_file
from tests.operations.conftest import fast_folder
from vault_kg.errors import InvalidArgument, VaultError
from vault_kg.operations import registry
from vault_kg.operations.caller import Caller
from vault_kg.records import ids
from vault_kg.state import journal as rows

OPERATIONS = registry.operations()
SCHEMAS = {n: o.request.model_json_schema(by_alias=True) for n, o in OPERATIONS.items()}
READS = [name for name, o in OPERATIONS.items() if o.read_only]
BODY = "Zugzwang is a word that stands nowhere else."


def filled(folder: Path) -> VaultBox:
    box = VaultBox(folder / "vault")
    box.claim(box.page())
    box.put("notes/note.md", "text\n")
    box.scan()
    return box


@pytest.fixture(scope="module")
def shared() -> Iterator[VaultBox]:
    """A vault that no test of this module changes."""
    with pytest.MonkeyPatch.context() as patch, fast_folder() as name:
        patch.setenv("VAULT_KG_EMBEDDING_MODEL", "off")
        box = filled(Path(name))
        yield box
        box.ws.close()


def call_unchanged(box: VaultBox, name: str, arguments: dict[str, Any]) -> VaultError | None:
    """Call an operation; any refusal is typed and writes nothing. Returns the refusal."""
    position = box.position
    try:
        registry.call(box.ws, name, arguments, Caller("tester"))
    except VaultError as error:
        assert box.position == position, "a refusal writes nothing"
        assert error.message and json.dumps(error.to_dict(), allow_nan=False)
        return error
    return None


# The form of requests


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_unknown_key_is_refused_and_named(shared: VaultBox, name: str) -> None:
    files = shared.files()
    refused = call_unchanged(shared, name, {"zzUnknown": 1, "id\u0000": 2})
    assert isinstance(refused, InvalidArgument)
    assert "zzUnknown" in refused.message and shared.files() == files


@pytest.mark.parametrize("name", [n for n in OPERATIONS if SCHEMAS[n].get("required")])
@pytest.mark.parametrize("absent", ["missing", "null"])
def test_a_required_key_that_is_missing_or_null_is_named(
    shared: VaultBox, name: str, absent: str
) -> None:
    required = SCHEMAS[name]["required"]
    arguments = {} if absent == "missing" else dict.fromkeys(required)
    refused = call_unchanged(shared, name, arguments)
    assert isinstance(refused, InvalidArgument)
    assert all(key in str(refused.to_dict()) for key in required)


NASTY = "'; DROP TABLE record; -- %s {0} ${HOME} `id` --output=/tmp/x 👩‍👩‍👧‍👦"
WRONG: dict[str, Any] = {
    "an object": {"zz": {"deep": [1, {"x": None}]}}, "a list": [[{}], None, 3], "a fraction": 7.25,
    "negative": -1, "huge number": 10**400, "null": None, "empty text": "", "a NUL": "a\0b",
    "surrogate": "\ud800", "line ends": "a\r\nb\u2028c", "path": "../../../../etc/passwd",
    "huge text": "x" * 2_100_000, "list text": "[" * 5_000, "object text": '{"a":' * 5_000,
    "an id": "pg_" + "0" * 26, "note": "doc:file:../../etc/passwd", "nasty": NASTY,
    "long": "y" * 1_500,
}  # fmt: skip


LIKE_ANY_TEXT = ("path", "an id", "note", "list text", "object text")


@pytest.mark.parametrize("name", OPERATIONS)
def test_any_value_of_any_key_is_answered_or_refused_with_a_typed_error(
    shared: VaultBox, folder: Path, name: str
) -> None:
    reads = OPERATIONS[name].read_only
    box = shared if reads else filled(folder)
    properties = SCHEMAS[name].get("properties", {})
    valid, files = example(name, known_ids(box)), box.files()
    for key in properties:
        for what, value in WRONG.items():
            if not reads and what in LIKE_ANY_TEXT:
                continue  # each would be one more record
            arguments = {**copy.deepcopy(valid), key: value}
            if "requestId" in properties and key != "requestId":
                arguments["requestId"] = box.new_request()
            try:
                refused = call_unchanged(box, name, arguments)
            except Exception as error:  # the test says which value it was
                raise AssertionError(f"{name}.{key} with {what}: {error!r}"[:400]) from error
            if reads or refused is not None:
                assert box.files() == files, f"{name}.{key} with {what}"
            files = box.files()
    if not reads:
        box.ws.close()


def known_ids(box: VaultBox) -> dict[str, str]:
    listed = box.call("knowledge_records", limit=100)["records"]
    found = {r["kind"]: r["id"] for r in listed}
    source = box.call("knowledge_get", id=found["claim"])["evidence"][0]["source"]
    return {
        "page": found["page"], "other": found["page"], "claim": found["claim"], "source": source,
        "request": "r-none", "conflict": "cf_1_0", "name": "Ada", "path": "notes/note.md",
    }  # fmt: skip


def example(name: str, known: dict[str, str]) -> dict[str, Any]:
    """Return valid arguments of an operation that speak of known records."""
    fence = {"expectedRevision": 1, "expectedHash": "sha256:" + "0" * 64}
    page, claim = known["page"], known["claim"]
    replacement = {
        "kind": "claim", "claimKind": "fact", "statement": "x", "owner": page,
        "evidence": [{"source": known["source"]}],
    }  # fmt: skip
    claim_values = {k: v for k, v in replacement.items() if k != "kind"}
    request = {"requestId": known["request"]}
    given = {
        "knowledge_adopt": request | {"path": known["path"], "type": "Topic"},
        "knowledge_attach": request | {
            "name": "x", "sha256": "0" * 64, "size": 1, "offset": 0, "chunk": "YQ==",
        },
        "knowledge_attach_file": request | {"filePath": "/nowhere", "sha256": "0" * 64},
        "knowledge_conflict": {"conflictId": known["conflict"]},
        "knowledge_connections": {"id": page},
        "knowledge_correct": request | fence | {
            "id": claim, "reason": "x", "expectedOntologyFingerprint": "x",
            "replacement": replacement,
        },
        "knowledge_decline_merge": {"first": page, "second": known["other"], "reason": "x"},
        "knowledge_edit_body": request | fence | {
            "id": page, "edits": [{"find": "a", "replace": "b"}],
        },
        "knowledge_get": {"id": page},
        "knowledge_history": {"id": page},
        "knowledge_impact": {"id": page},
        "knowledge_lookup": {"text": known["name"]},
        "knowledge_merge": request | {
            "reason": "x", "survivor": {"id": page, **fence},
            "absorbed": {"id": known["other"], **fence},
        },
        "knowledge_restore": request | {"id": page},
        "knowledge_resume": request,
        "knowledge_review": request | {
            "conflictId": known["conflict"], "choice": "keep_disk", "reason": "x",
        },
        "knowledge_save_claim": request | claim_values,
        "knowledge_save_page": request | fence | {"id": page, "summary": "x"},
        "knowledge_save_relationship": request | {
            "type": "knows", "from": page, "to": page, "fact": "x",
            "evidence": [{"source": known["source"]}],
        },
        "knowledge_search": {"query": known["name"], "mode": "text"},
        "knowledge_source": {"id": known["source"]},
        "knowledge_unmerge": request | fence | {"id": page, "reason": "x"},
        "knowledge_withdraw": request | fence | {"id": page, "reason": "x"},
    }  # fmt: skip
    return given.get(name, generated(name, known))


def generated(name: str, known: dict[str, str]) -> dict[str, Any]:
    """Return arguments for an operation that has no example: a page, or a name, where text goes."""
    schema = SCHEMAS[name]
    found: dict[str, Any] = {}
    for key in schema.get("required", []):
        kind = schema["properties"][key].get("type", "string")
        text = known["page"] if key in ("id", "uuid", "uuids") else known["name"]
        found[key] = {"array": [text], "integer": 1, "number": 1, "boolean": True}.get(kind, text)
    return found


# What a caller does not see does not exist


SOURCE = b"The source.\n"
HIDDEN = {"page": "pg_01kh0000000000000000000801", "other": "pg_01kh0000000000000000000802",
          "claim": "cl_01kh0000000000000000000803"}  # fmt: skip
ABSENT = {"page": "pg_01kh0000000000000000000901", "other": "pg_01kh0000000000000000000902",
          "claim": "cl_01kh0000000000000000000903"}  # fmt: skip
PUBLIC = "pg_01kh0000000000000000000001"
OWN = "cl_01kh0000000000000000000002"
CALLER = Caller("public", partitions=frozenset({"main"}))


def source_files(partition: str, content: bytes) -> dict[str, bytes]:
    digest = hashlib.sha256(content).hexdigest()
    descriptor = (
        f"format: knowledge-source-v1\nid: {ids.source_id(partition, digest)}\nsha256: {digest}\n"
        f"filename: s.txt\nmedia_type: text/plain\nsize: {len(content)}\n"
        "recorded_at: 2026-01-05T10:00:00Z\n"
    )
    folder = f"{partition}/sources/{digest}"
    return {f"{folder}/s.txt": content, f"{folder}/source.yaml": descriptor.encode()}


def source_of(partition: str, content: bytes) -> str:
    return ids.source_id(partition, hashlib.sha256(content).hexdigest())


def public_files() -> dict[str, bytes]:
    evidence = f"[{{source: {source_of('main', SOURCE)}}}]"
    return {
        "main/pages/person/ada.md": record_file(
            PUBLIC, title="Ada", body="See [[Babbage]]."
        ).encode(),
        "main/pages/person/babbage.md": record_file(
            "pg_01kh0000000000000000000003", title="Babbage", body="See [[Ada]] and [[Secretary]]."
        ).encode(),
        "main/claims/ada/c.md": record_file(
            OWN, "claim", "\nShe wrote.\n", claim_kind="fact", owner=PUBLIC, evidence=evidence
        ).encode(),
        "notes/a.md": b"Of [[Ada]].\n",
        **source_files("main", SOURCE),
    }


def hidden_files() -> dict[str, bytes]:
    """Records of another partition that stand on the public ones, and troubles of every kind."""
    evidence = f"[{{source: {source_of('secret', b'Zugzwang.')}}}]"
    page, other, claim = HIDDEN["page"], HIDDEN["other"], HIDDEN["claim"]

    def at(path: str, text: str) -> dict[str, bytes]:
        return {f"secret/{path}": text.encode()}

    return {
        **at("pages/person/ada.md", record_file(page, title="Ada", aliases="[x:1]", body=BODY)),
        **at("pages/person/two.md", record_file(other, title="Ada", aliases="[x:1]",
                                                body=f"{BODY} [[Ada]] [[Nowhere]]")),
        **at("pages/person/secretary.md", record_file("pg_01kh0000000000000000000804",
                                                      title="Secretary")),
        **at("claims/ada/c.md", record_file(claim, "claim", f"\n{BODY}\n", claim_kind="fact",
                                            owner=PUBLIC, entities=f"[{page}]", evidence=evidence)),
        **at("relationships/knows/r.md", record_file(
            "re_01kh0000000000000000000805", "relationship", f"\n{BODY}\n", type="knows",
            **{"from": PUBLIC, "to": page}, evidence=evidence)),
        **at("pages/person/copy.md", record_file(page, title="Copy")),
        **at("pages/person/broken.md", "---\nformat: knowledge-record-v1\nx: [\n---\n"),
        **at("pages/person/gone.md", record_file("pg_01kh0000000000000000000806",
                                                 lifecycle="withdrawn")),
        **at("pages/person/merged.md", record_file("pg_01kh0000000000000000000807",
                                                   lifecycle="merged", merged_into=PUBLIC)),
        **at("pages/person/on.md", record_file("pg_01kh0000000000000000000808",
                                               dependencies=f"[{OWN}]")),
        **source_files("secret", b"Zugzwang."),
    }  # fmt: skip


def made(folder: Path, files: dict[str, bytes]) -> VaultBox:
    folder.mkdir()
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
        os.utime(folder / path, (1_700_000_000, 1_700_000_000))
    return VaultBox(folder, Clock())


@pytest.fixture(scope="module")
def twins() -> Iterator[tuple[VaultBox, VaultBox]]:
    """Two vaults that differ in a partition that the caller does not see."""
    with pytest.MonkeyPatch.context() as patch, fast_folder() as name:
        patch.setenv("VAULT_KG_EMBEDDING_MODEL", "off")
        whole = made(Path(name) / "whole", public_files() | hidden_files())
        bare = made(Path(name) / "bare", public_files())
        yield whole, bare
        whole.ws.close()
        bare.ws.close()


def told(box: VaultBox, name: str, arguments: dict[str, Any], caller: Caller) -> str:
    """Return what a caller is told, without what tells two vaults apart and is no secret."""
    box.clock.go_to("2026-06-01T00:00:00+00:00")  # type: ignore[attr-defined]
    try:
        answer = registry.call(box.ws, name, arguments, caller)
    except VaultError as error:
        answer = {"refused": error.to_dict()}
    text = json.dumps(answer, ensure_ascii=False, sort_keys=True)
    text = text.replace(str(box.root), "ROOT").replace(box.ws.vault.id, "VAULT")
    text = re.sub(r'"commit": "[0-9a-f]{40}"', '"commit": "C"', text)
    # how rare a word is in the whole vault is not hidden: it orders hits and names nothing
    text = re.sub(r'"(bm25_score|rrf_score|score)": [0-9.e-]+', r'"\1": S', text)
    return re.sub(r"observe-\d+-[0-9a-f]{16}", "OBSERVE", text)


READ_ARGUMENTS: dict[str, list[dict[str, Any]]] = {
    "knowledge_get": [{"id": PUBLIC}, {"id": OWN}, {"id": "doc:file:notes/a.md"},
                      {"id": PUBLIC, "revision": 1}],
    "knowledge_history": [{"id": PUBLIC, "diff": True}],
    "knowledge_impact": [{"id": PUBLIC}, {"id": OWN, "operation": "correct"}],
    "knowledge_connections": [{"id": PUBLIC, "depth": 5}, {"id": "doc:file:notes/a.md"}],
    "knowledge_lookup": [{"text": t} for t in ("Ada", "x:1", "Secretary", "copy", HIDDEN["claim"])],
    "knowledge_records": [
        {}, {"lifecycle": "all"}, {"lifecycle": "withdrawn"}, {"lifecycle": "merged"},
        {"partition": "secret"}, {"owner": PUBLIC}, {"limit": 1}, {"kind": "note"},
        {"asOf": {"revision": 1}}, {"asOf": {"time": "2026-02-01"}},
    ],
    "knowledge_search": [
        {"query": q, "mode": "text", **more}
        for q in ("Zugzwang", "Ada", "wrote")
        for more in ({}, {"lifecycle": "historical"}, {"partitions": ["secret", "main"]})
    ],
    "knowledge_source": [{"id": source_of("secret", b"Zugzwang.")}, {"id": source_of("main", SOURCE)}],
    "knowledge_ontology": [{}, {"view": "definitions", "includeRecords": True, "limit": 100},
                           {"partition": "secret"}, {"view": "sources"}, {"view": "diagnostics"}],
    "knowledge_diagnostics": [{}, {"section": "duplicates"}, {"section": "merges"}],
    "knowledge_conflict": [{"conflictId": "cf_1_0"}],
}  # fmt: skip


@pytest.mark.parametrize("name", READS)
def test_a_read_tells_nothing_of_partitions_that_its_caller_does_not_see(
    twins: tuple[VaultBox, VaultBox], name: str
) -> None:
    whole, bare = twins
    known = {
        "page": PUBLIC, "other": PUBLIC, "claim": OWN, "source": source_of("main", SOURCE),
        "request": "r", "conflict": "cf_1_0", "name": "Ada", "path": "notes/a.md",
    }  # fmt: skip
    cases = READ_ARGUMENTS.get(name, [generated(name, known), generated(name, known | HIDDEN)])
    for arguments in cases:
        with whole.nothing_changes():
            answer = told(whole, name, arguments, CALLER)
        assert answer == told(bare, name, arguments, CALLER), arguments
        echoed = json.dumps(arguments)
        assert not [
            word for word in ("Zugzwang", "secret/") if word in answer and word not in echoed
        ]


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_hidden_id_is_answered_like_one_that_does_not_exist(
    twins: tuple[VaultBox, VaultBox], name: str
) -> None:
    whole, _ = twins
    common = {"request": "r-hidden", "conflict": "cf_1_0", "name": "x:1"}
    hidden = common | HIDDEN | {
        "source": source_of("secret", b"Zugzwang."), "path": "secret/pages/person/ada.md",
    }  # fmt: skip
    absent = common | ABSENT | {
        "source": source_of("secret", b"Nothing."), "path": "secret/pages/person/none.md",
    }  # fmt: skip
    examples = [example(name, known) for known in (hidden, absent)]
    if examples[0] == examples[1]:
        return  # it takes no id
    answers = [told(whole, name, arguments, CALLER) for arguments in examples]
    for key, value in absent.items():
        answers[1] = answers[1].replace(value, hidden[key])
    assert answers[0] == answers[1]


def test_sources_of_other_partitions_cannot_be_cited_or_probed(
    twins: tuple[VaultBox, VaultBox],
) -> None:
    whole, _ = twins
    values = {"requestId": "probe", "claimKind": "fact", "statement": "x", "owner": PUBLIC}
    said = set()
    for content in (b"Zugzwang.", b"Nothing."):
        source = source_of("secret", content)
        for citation in ({"source": source, "quote": "Zugzwang"}, {"source": source, "lines": "9"}):
            answer = told(whole, "knowledge_save_claim", values | {"evidence": [citation]}, CALLER)
            said.add(answer.replace(source, "SOURCE"))
    assert len(said) == 1 and "not a source" in said.pop()


def test_writes_into_a_hidden_partition_are_refused_like_into_any_other(
    twins: tuple[VaultBox, VaultBox],
) -> None:
    whole, _ = twins
    for name, more in (
        ("knowledge_save_page", {"type": "Person", "title": "x"}),
        ("knowledge_attach", {"name": "x", "sha256": "0" * 64, "size": 1, "offset": 0,
                              "chunk": "YQ==", "final": False}),
    ):  # fmt: skip
        answers = {
            told(whole, name, {"requestId": "w", "partition": p, **more}, CALLER).replace(p, "P")
            for p in ("secret", "nowhere")
        }
        assert len(answers) == 1 and "there is no partition" in answers.pop()


def test_a_request_of_another_partition_is_not_answered(vault: VaultBox) -> None:
    request = {"requestId": "theirs", "type": "Person", "title": "Zugzwang", "partition": "secret"}
    vault.call("knowledge_save_page", **request)
    for name, arguments in (
        ("knowledge_save_page", request), ("knowledge_resume", {"requestId": "theirs"}),
        ("knowledge_save_page", {"requestId": "theirs", "type": "Person", "title": "Mine"}),
    ):  # fmt: skip
        with vault.nothing_changes(), pytest.raises(VaultError) as caught:
            vault.call(name, CALLER, **arguments)
        told_of = str(caught.value.to_dict())
        assert "Zugzwang" not in told_of and "save_page" not in told_of and "pg_" not in told_of
    assert rows.find(vault.ws.database, "theirs") is not None
