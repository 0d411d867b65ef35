"""Retained sources: the bytes that records cite, attached once and never changed."""

from __future__ import annotations

import base64
import hashlib
import os
import time
from pathlib import Path
from typing import Any

import pytest

from tests.operations.builder import VaultBox
from vault_kg.errors import (
    Busy,
    InvalidArgument,
    InvalidRecord,
    NotFound,
    RequestMismatch,
    VaultError,
)
from vault_kg.operations import care
from vault_kg.records import ids
from vault_kg.store import files, uploads

TEXT = b"First line.\nSecond line.\n"
DIGEST = hashlib.sha256(TEXT).hexdigest()


def attach(vault: VaultBox, path: Path, **more: Any) -> dict[str, Any]:
    values = {"filePath": str(path), "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    return vault.write("knowledge_attach_file", **values | more)


def in_chunks(vault: VaultBox, content: bytes, size: int, **more: Any) -> list[dict[str, Any]]:
    """Send content as chunks; returns the answers."""
    common = {
        "requestId": "chunks", "name": "sent.txt", "size": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    } | more  # fmt: skip
    starts = range(0, max(len(content), 1), size)
    return [
        vault.call(
            "knowledge_attach", **common, offset=start,
            chunk=base64.b64encode(content[start : start + size]).decode(),
            final=start + size >= len(content),
        )
        for start in starts
    ]  # fmt: skip


def test_a_file_is_retained_with_its_descriptor(vault: VaultBox, folder: Path) -> None:
    outside = folder / "Some Notes.TXT"
    outside.write_bytes(TEXT)
    receipt = attach(vault, outside, attribution="Ada")
    source = receipt["source"]
    assert source["id"] == receipt["targetId"] == ids.source_id("main", DIGEST)
    assert source["path"] == f"main/sources/{DIGEST}/some-notes.txt"
    assert (source["size"], source["mediaType"]) == (len(TEXT), "text/plain")
    assert (vault.root / source["path"]).read_bytes() == TEXT == outside.read_bytes()
    read = vault.call("knowledge_source", id=source["id"])
    assert read["text"] == "First line.\nSecond line." and read["verified"] is True
    assert read["attribution"] == "Ada" and read["filename"] == "Some Notes.TXT"
    assert vault.git("status", "--short") == ""


def test_the_same_bytes_are_the_same_source(vault: VaultBox, folder: Path) -> None:
    for name in ("a.txt", "b.md"):
        (folder / name).write_bytes(TEXT)
    first = attach(vault, folder / "a.txt")
    head = vault.git("rev-parse", "HEAD")
    second = attach(vault, folder / "b.md")
    assert second["source"] == first["source"]
    assert (first["changed"], second["changed"]) == (True, False)
    assert vault.git("rev-parse", "HEAD") == head
    other = attach(vault, folder / "a.txt", partition="other")
    assert other["source"]["id"] != first["source"]["id"]


def test_bytes_are_retained_from_chunks_which_may_be_repeated(vault: VaultBox) -> None:
    content = bytes(range(256)) * 20
    answers = in_chunks(vault, content, 1_000)
    assert [a["received"] for a in answers] == [1000, 2000, 3000, 4000, 5000, 5120]
    receipt = answers[-1]["receipt"]
    assert (vault.root / receipt["path"]).read_bytes() == content
    again = vault.call(
        "knowledge_attach", requestId="chunks", name="sent.txt", size=5120, offset=5000,
        sha256=hashlib.sha256(content).hexdigest(), final=True,
        chunk=base64.b64encode(content[5000:]).decode(),
    )  # fmt: skip
    assert again["receipt"] == receipt, "the last chunk again gives the same receipt"
    assert again["received"] == 5120


def test_a_chunk_that_was_lost_is_asked_for(vault: VaultBox) -> None:
    common = {"requestId": "c", "name": "x.txt", "size": 10, "sha256": "0" * 64}
    vault.call("knowledge_attach", **common, offset=0, chunk=base64.b64encode(b"abc").decode())
    vault.call("knowledge_attach", **common, offset=1, chunk=base64.b64encode(b"bcd").decode())
    for wrong in (
        {"offset": 5, "chunk": "YQ=="}, {"offset": 4, "chunk": base64.b64encode(b"x" * 7).decode()},
        {"offset": 4, "chunk": "not base64!"}, {"offset": -1, "chunk": "YQ=="},
    ):  # fmt: skip
        refused = vault.refused("knowledge_attach", **common, **wrong)
        assert isinstance(refused, InvalidArgument)
    refused = vault.refused(
        "knowledge_attach", **common, offset=4, final=True,
        chunk=base64.b64encode(b"efghij").decode(),
    )  # fmt: skip
    assert isinstance(refused, InvalidArgument) and "sha256" in refused.message


def begun(vault: VaultBox, name: str) -> Path:
    """Begin to send something, and return the file that collects it."""
    common = {"requestId": name, "name": "x.txt", "size": 9, "sha256": "0" * 64}
    before = set((vault.root / ".vault-kg/uploads").glob("*"))
    vault.call("knowledge_attach", **common, offset=0, chunk=base64.b64encode(b"abc").decode())
    (made,) = set((vault.root / ".vault-kg/uploads").iterdir()) - before
    return made


def rest(path: Path, seconds: float) -> None:
    os.utime(path, (time.time() - seconds,) * 2)


def test_what_nobody_goes_on_with_is_removed_after_a_day(vault: VaultBox) -> None:
    first, second = begun(vault, "first"), begun(vault, "second")
    rest(first, 86_300)
    rest(second, 86_500)
    third = begun(vault, "third")
    assert (first.exists(), second.exists(), third.exists()) == (True, False, True)
    rest(third, 86_500)
    vault.reopen()
    assert (first.exists(), third.exists()) == (True, False)


def test_not_very_many_are_sent_at_a_time(vault: VaultBox) -> None:
    sent = [begun(vault, f"r{n}") for n in range(uploads.MOST)]
    with pytest.raises(Busy, match="finish one"):
        begun(vault, "one more")
    rest(sent[3], 700)
    rest(sent[5], 900)
    one_more = begun(vault, "one more")
    assert [path.exists() for path in (sent[3], sent[5], one_more)] == [True, False, True]
    refused = vault.refused(
        "knowledge_attach", requestId="r5", name="x.txt", size=9, sha256="0" * 64, offset=3,
        chunk="YQ==",
    )  # fmt: skip
    assert refused.data["received"] == 0, "it is told to go on from the start"


def test_another_payload_under_the_same_request_is_refused(vault: VaultBox) -> None:
    in_chunks(vault, TEXT, 100)
    with pytest.raises(RequestMismatch):
        in_chunks(vault, b"other bytes", 100)


def test_what_changed_since_it_was_looked_at_is_refused(vault: VaultBox, folder: Path) -> None:
    outside = folder / "a.txt"
    outside.write_bytes(TEXT)
    refused = vault.refused("knowledge_attach_file", filePath=str(outside), sha256="0" * 64)
    assert isinstance(refused, InvalidArgument) and refused.data["found"] == DIGEST


@pytest.mark.parametrize("kind", ["missing", "folder", "link", "hard link", "pipe", "null"])
def test_only_a_plain_file_with_one_name_is_attached(
    vault: VaultBox, folder: Path, kind: str
) -> None:
    target = folder / "target.txt"
    target.write_bytes(TEXT)
    path = folder / "given.txt"
    if kind == "folder":
        path.mkdir()
    elif kind == "link":
        path.symlink_to(target)
    elif kind == "hard link":
        os.link(target, path)
    elif kind == "pipe":
        os.mkfifo(path)
    given = "/dev/null" if kind == "null" else str(path)
    refused = vault.refused("knowledge_attach_file", filePath=given, sha256=DIGEST)
    assert isinstance(refused, InvalidArgument)


@pytest.mark.parametrize(
    "name",
    ["../../escape.txt", "/etc/passwd", "..", "CON", "source.yaml", "a\\b.txt", "x" * 300, "数据.txt",
     ".git", "🎉", "no extension", "a.tar.gz", "trailing. "],
)  # fmt: skip
def test_any_file_name_is_kept_safely(vault: VaultBox, name: str) -> None:
    receipt = in_chunks(vault, TEXT, 100, name=name)[-1]["receipt"]
    path = receipt["path"]
    assert path.startswith(f"main/sources/{DIGEST}/") and path.count("/") == 3
    stem = path.rpartition("/")[2]
    assert stem not in ("", ".", "..", "source.yaml", ".git") and len(stem.encode()) <= 200
    assert (vault.root / path).read_bytes() == TEXT
    assert vault.call("knowledge_source", id=receipt["targetId"])["filename"] == name
    care.reindex(vault.ws)
    assert vault.call("knowledge_source", id=receipt["targetId"])["verified"]


def test_lines_are_read_within_their_bounds(vault: VaultBox) -> None:
    source = vault.source("".join(f"line {n}\n" for n in range(1, 101)))
    part = vault.call("knowledge_source", id=source, lines="3-5")
    assert (part["text"], part["lines"], part["totalLines"]) == (
        "line 3\nline 4\nline 5",
        "3-5",
        100,
    )
    cut = vault.call("knowledge_source", id=source, maxChars=20)
    assert cut["truncated"] and cut["nextLine"] == 4
    rest = vault.call("knowledge_source", id=source, lines=f"{cut['nextLine']}-100")
    assert f"{cut['text']}\n{rest['text']}" == vault.call("knowledge_source", id=source)["text"]
    for wrong in ("0", "101", "5-3", "1-101", "x", "-1", "1,2", ""):
        refused = vault.refused("knowledge_source", id=source, lines=wrong)
        assert isinstance(refused, InvalidArgument) and "1-100" in refused.message


@pytest.mark.parametrize(
    ("content", "lines"), [(b"", 0), (b"\n", 1), (b"a", 1), (b"\xff\xfe\x00", 1), (b"a\r\nb\rc", 3)]
)
def test_any_bytes_can_be_retained_and_read(vault: VaultBox, content: bytes, lines: int) -> None:
    read = vault.call("knowledge_source", id=vault.source(content))
    assert read["totalLines"] == lines and read["size"] == len(content) and read["verified"]


def test_changed_bytes_are_told_and_a_quote_from_them_too(vault: VaultBox) -> None:
    ada = vault.page()
    claim = vault.claim(ada, evidence=[{"source": vault.source(TEXT), "quote": "Second line."}])
    path = vault.root / f"main/sources/{DIGEST}/notes.txt"
    path.write_bytes(b"Something else.\n")
    assert vault.call("knowledge_source", id=ids.source_id("main", DIGEST))["verified"] is False
    assert vault.get(claim)["evidence"][0]["verified"] is False
    path.unlink()
    refused = vault.refused("knowledge_source", id=ids.source_id("main", DIGEST))
    assert isinstance(refused, NotFound) and "Git" in refused.message
    assert vault.get(claim)["evidence"][0]["verified"] is False


def test_a_source_is_found_again_when_its_descriptor_comes_back(vault: VaultBox) -> None:
    ada = vault.page()
    claim = vault.claim(ada, evidence=[{"source": vault.source(TEXT), "quote": "Second line."}])
    descriptor = vault.root / f"main/sources/{DIGEST}/source.yaml"
    content = descriptor.read_bytes()
    descriptor.unlink()
    vault.scan()
    assert claim not in vault.listed()
    (finding,) = vault.findings("unknown_source")
    assert finding["record"] == claim and finding["hint"]
    descriptor.write_bytes(content)
    vault.scan()
    assert claim in vault.listed() and vault.findings() == []


def test_evidence_is_read_with_what_the_source_says_there(vault: VaultBox) -> None:
    source = vault.source(TEXT, attribution="The register")
    evidence = [
        {"source": source, "lines": "2"}, {"source": source, "quote": "First line."},
        {"source": source, "attribution": "Ada"},
    ]  # fmt: skip
    claim = vault.claim(vault.page(), evidence=evidence * 10)
    view = vault.get(claim)
    assert len(view["evidence"]) == 20 and view["evidenceTotal"] == 30
    first, second, third = view["evidence"][:3]
    assert (first["text"], first["attribution"]) == ("Second line.", "The register")
    assert second["text"] == "First line." and third["attribution"] == "Ada"
    assert all(e["verified"] and e["filename"] == "notes.txt" for e in view["evidence"])


def test_files_among_sources_are_nobodys_notes(vault: VaultBox) -> None:
    vault.source("# A heading\n\n[[Nowhere]]\n", name="page.md")
    vault.scan()
    assert vault.call("knowledge_records", kind="note")["total"] == 0
    assert vault.findings() == []


@pytest.mark.parametrize(
    "text", ["", "x: [", "format: knowledge-source-v1\n", "- a\n", "id: sr_x\n"]
)
def test_a_broken_descriptor_is_reported_and_stops_nothing(vault: VaultBox, text: str) -> None:
    page = vault.page()
    vault.put(f"main/sources/{DIGEST}/source.yaml", text)
    vault.scan()
    (finding,) = vault.findings("invalid_source")
    assert finding["path"].endswith("source.yaml") and "git restore" in finding["hint"]
    assert page in vault.listed()


def test_an_unknown_source_is_not_found(vault: VaultBox) -> None:
    for given in ("sr_" + "0" * 26, "pg_x", vault.page()):
        with pytest.raises(VaultError) as caught:
            vault.call("knowledge_source", id=given)
        assert isinstance(caught.value, NotFound)


@pytest.mark.parametrize("more", [{}, {"quote": "Second line."}, {"lines": "1"}])
@pytest.mark.parametrize("reindexed", [False, True])
def test_a_source_that_was_changed_or_deleted_is_told_of(
    vault: VaultBox, more: dict[str, str], reindexed: bool
) -> None:
    source = vault.source(TEXT)
    claim = vault.claim(vault.page(), evidence=[{"source": source, **more}])
    assert vault.findings() == []
    path = vault.root / f"main/sources/{DIGEST}/notes.txt"
    content = path.read_bytes()
    for code, changed in (
        ("source_changed", b"Something else.\n"),
        ("source_changed", content.replace(b"First", b"Third")),
        ("source_missing", None),
    ):
        path.unlink(missing_ok=True)
        if changed is not None:
            path.write_bytes(changed)
        if reindexed:
            vault.ws.database.execute("DELETE FROM store WHERE name = 'index_version'")
            vault.reopen()
            vault.scan()
        (finding,) = vault.findings()
        assert (finding["code"], finding["severity"]) == (code, "error")
        assert finding["path"] == vault.relative(path) and source in finding["message"]
        assert "git restore" in finding["hint"]
        assert vault.findings(section="sources") == [finding]
        assert claim in vault.listed(), "what it says still stands; it cannot be checked"
        refused = vault.refused(
            "knowledge_save_claim", claimKind="fact", owner=vault.page(f"P {code} {changed!r}"),
            statement="New.", evidence=[{"source": source, **more}],
        )  # fmt: skip
        assert isinstance(refused, InvalidRecord) and "retained" in refused.message
    vault.git("restore", "--", vault.relative(path))
    assert vault.findings() == [] and path.read_bytes() == content


def test_a_source_is_read_again_only_where_its_stamp_changed(
    vault: VaultBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault.source(TEXT)
    path = vault.root / f"main/sources/{DIGEST}/notes.txt"
    monkeypatch.setattr("vault_kg.index.retained.RACY_NS", -60_000_000_000)
    assert vault.findings() == []
    read: list[str] = []
    whole = files.read

    def counted(root: Path, relative: str, *more: int) -> bytes | None:
        read.append(relative)
        return whole(root, relative, *more)

    monkeypatch.setattr(files, "read", counted)
    assert vault.findings() == [] and vault.relative(path) not in read
    times = path.stat()
    path.write_bytes(path.read_bytes().replace(b"First", b"Third"))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    (finding,) = vault.findings()
    assert finding["code"] == "source_changed" and vault.relative(path) in read
