"""Records whose file was emptied, lost its front matter or is ignored: never in silence."""

from __future__ import annotations

import pytest

from tests.operations.builder import VaultBox
from vault_kg.errors import InvalidArgument, InvalidRecord, MissingFile
from vault_kg.operations.caller import Caller

TEXT = b"# Ada\n\nThe moon is cheese.\n"


@pytest.fixture
def ada(vault: VaultBox) -> str:
    return vault.page("Ada", body="The moon is cheese.")


def found(vault: VaultBox, section: str = "missing") -> dict[str, str]:
    return {f["code"]: f["path"] for f in vault.findings(section=section)}


@pytest.mark.parametrize("content", [b"", TEXT, b"\n", b"---\ntitle: Ada\n---\ntext\n"])
def test_a_file_without_its_front_matter_is_found_and_put_right(
    vault: VaultBox, ada: str, content: bytes
) -> None:
    claim = vault.claim(ada)
    path, whole = vault.path(ada), vault.path(ada).read_bytes()
    path.write_bytes(content)
    vault.scan()
    (finding,) = vault.findings("record_lost_front_matter")
    assert finding["severity"] == "error" and finding["path"] == "main/pages/person/ada.md"
    assert finding["record"] == ada and f"vault-kg restore {ada}" in finding["hint"]
    refused = vault.refused("knowledge_get", id=ada)
    assert isinstance(refused, MissingFile) and "main/pages/person/ada.md" in refused.message
    assert "gone" not in refused.message and "restore" in refused.message

    receipt = vault.write("knowledge_restore", id=ada)
    assert receipt["path"] == "main/pages/person/ada.md" and path.read_bytes() == whole
    assert {ada, claim} <= vault.listed() and vault.findings() == []
    kept = path.with_name("ada.md.replaced-1")
    if content.strip():
        assert kept.read_bytes() == content
        assert vault.relative(kept) in receipt["warnings"][0]
        assert vault.git("show", f"HEAD:{vault.relative(kept)}").encode() == content.strip()
    else:
        assert not kept.exists() and receipt["warnings"] is None
    assert vault.git("status", "--short") == ""


def test_what_was_kept_before_is_never_written_over(vault: VaultBox, ada: str) -> None:
    path = vault.path(ada)
    for text in (b"one\n", b"two\n"):
        path.write_bytes(text)
        vault.write("knowledge_restore", id=ada)
    kept = [path.with_name(f"ada.md.replaced-{n}").read_bytes() for n in (1, 2)]
    assert kept == [b"one\n", b"two\n"]


def test_the_text_of_a_withdrawn_record_does_not_come_back_as_a_note_unnoticed(
    vault: VaultBox, ada: str
) -> None:
    path = vault.path(ada)
    vault.withdraw(ada)
    withdrawn = path.read_bytes()
    path.write_bytes(TEXT)
    vault.scan()
    assert found(vault) == {"record_lost_front_matter": vault.relative(path)}
    vault.write("knowledge_restore", id=ada)
    assert path.read_bytes() == withdrawn and vault.findings() == []
    assert vault.call("knowledge_search", query="moon cheese")["total"] == 0


def test_a_withdrawn_record_without_a_file_is_nothing_to_look_at(vault: VaultBox, ada: str) -> None:
    vault.withdraw(ada)
    vault.path(ada).unlink()
    vault.scan()
    assert vault.findings() == []


def test_another_record_in_its_file_leaves_it_missing_and_is_left_alone(
    vault: VaultBox, ada: str
) -> None:
    path, bob = vault.path(ada), vault.page("Bob")
    vault.path(bob).replace(path)
    vault.scan()
    assert found(vault) == {"missing": vault.relative(path)}
    receipt = vault.write("knowledge_restore", id=ada)
    assert receipt["path"] != vault.relative(path) and {ada, bob} <= vault.listed()


def test_a_broken_file_of_the_record_is_kept_beside_too(vault: VaultBox, ada: str) -> None:
    path, whole = vault.path(ada), vault.path(ada).read_bytes()
    broken = whole.replace(b"title: Ada", b"title: [Ada")
    path.write_bytes(broken)
    vault.write("knowledge_restore", id=ada)
    assert path.read_bytes() == whole
    assert path.with_name("ada.md.replaced-1").read_bytes() == broken


def test_a_file_deleted_right_after_it_was_written_is_missing(
    vault: VaultBox, ada: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vault_kg.index.indexer.RACY_NS", -60_000_000_000)
    vault.scan()
    bob = vault.page("Bob")
    vault.path(bob).unlink()
    vault.scan()
    assert bob not in vault.listed()
    assert found(vault) == {"missing": "main/pages/person/bob.md"}


# Left out by .gitignore


def test_a_record_that_gitignore_leaves_out_says_by_which_line(vault: VaultBox, ada: str) -> None:
    path = vault.path(ada)
    vault.put(".gitignore", "# mine\n\n*.tmp\nmain/pages/person/\n")
    vault.scan()
    (finding,) = vault.findings("ignored")
    assert finding["severity"] == "error" and finding["record"] == ada
    assert ".gitignore:4 (`main/pages/person/`)" in finding["message"]
    assert finding["path"] == vault.relative(path) and ".gitignore" in finding["hint"]
    assert vault.findings("missing") == []
    refused = vault.refused("knowledge_get", id=ada)
    assert isinstance(refused, MissingFile) and ".gitignore:4" in refused.message
    assert "gone" not in refused.message
    refused = vault.refused("knowledge_lookup", text="Ada")
    assert isinstance(refused, MissingFile) and ".gitignore:4" in refused.message
    (vault.root / ".gitignore").unlink()
    vault.scan()
    assert ada in vault.listed() and vault.findings() == []


@pytest.mark.parametrize(
    ("where", "text", "said"),
    [
        (".gitignore", "main/\n", ".gitignore:1 (`main/`)"),
        ("main/.gitignore", "x\n*.md\n", "main/.gitignore:2 (`*.md`)"),
        ("main/pages/.gitignore", "*\n!person/\n/person/*\n", "main/pages/.gitignore:3"),
    ],
)
def test_a_write_or_restore_to_where_nothing_would_find_it_is_refused(
    vault: VaultBox, ada: str, where: str, text: str, said: str
) -> None:
    vault.put(where, text)
    for name, arguments in (
        ("knowledge_save_page", {"type": "Person", "title": "Bob"}),
        ("knowledge_restore", {"id": ada}),
    ):
        refused = vault.refused(name, **arguments)
        assert isinstance(refused, InvalidRecord) and said in refused.message, name
    vault.put(where, text + "\n!*\n!*/\n!*.md\n")
    vault.scan()
    bob = vault.page("Bob")
    assert {ada, bob} <= vault.listed()


def test_a_source_is_not_retained_where_it_would_not_be_found(vault: VaultBox) -> None:
    vault.put(".gitignore", "main/sources/\n")
    with pytest.raises(InvalidRecord, match=r"\.gitignore:1"):
        vault.source()


def test_what_gitignore_leaves_out_of_a_partition_is_its_own_matter(
    vault: VaultBox, ada: str
) -> None:
    vault.put(".gitignore", "main/\n")
    vault.scan()
    outside = Caller("guest", partitions=frozenset({"other"}))
    told = vault.call("knowledge_diagnostics", outside, section="missing")
    assert told["findings"] == []


def test_restoring_what_is_there_is_refused(vault: VaultBox, ada: str) -> None:
    assert isinstance(vault.refused("knowledge_restore", id=ada), InvalidArgument)
