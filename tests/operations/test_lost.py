"""Records whose file was emptied, lost its front matter or is ignored: never in silence."""

from __future__ import annotations

import pytest

from tests.operations.builder import VaultBox
from vault_kg.errors import InvalidArgument, InvalidRecord, MissingFile, NotFound
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
    for module in ("stamped", "indexer"):
        monkeypatch.setattr(f"vault_kg.index.{module}.RACY_NS", -60_000_000_000)
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


# What is told where the file is looked at


@pytest.mark.parametrize("content", [b"", b"The moon is cheese.\n"])
def test_the_note_that_a_record_became_says_what_it_was_and_how_to_restore_it(
    vault: VaultBox, ada: str, content: bytes
) -> None:
    path = vault.path(ada)
    path.write_bytes(content)
    vault.scan()
    note = vault.lookup(vault.relative(path))
    (why,) = vault.get(note)["reasons"]
    assert (why["code"], why["record"]) == ("record_lost_front_matter", ada)
    assert f"vault-kg restore {ada}" in why["message"]
    vault.write("knowledge_restore", id=ada)
    vault.put("notes/plain.md", "Always a note.\n")
    vault.scan()
    assert vault.get("doc:file:notes/plain.md")["reasons"] == []


def test_a_note_says_nothing_of_a_record_about_what_the_caller_does_not_see(
    vault: VaultBox,
) -> None:
    owner = vault.page("Hidden", partition="secret")
    claim = vault.claim(owner, partition="main")
    path = vault.path(claim)
    path.write_bytes(b"")
    vault.scan()
    guest = Caller("guest", partitions=frozenset({"main"}))
    note = vault.call("knowledge_get", guest, id=f"doc:file:{vault.relative(path)}")
    assert note["reasons"] == [] and claim not in str(note)


def test_a_record_whose_file_cannot_be_read_says_so_by_its_name_too(
    vault: VaultBox, ada: str
) -> None:
    vault.edit(ada, "title: Ada", "title: [Ada")
    vault.scan()
    for refused in (
        vault.refused("knowledge_get", id=ada),
        vault.refused("knowledge_lookup", text="Ada"),
    ):
        assert isinstance(refused, InvalidRecord) and "main/pages/person/ada.md:" in refused.message
    assert isinstance(vault.refused("knowledge_lookup", text="Nobody"), NotFound)


def test_naming_a_lost_record_in_a_write_says_what_became_of_it(vault: VaultBox, ada: str) -> None:
    vault.path(ada).write_bytes(b"")
    vault.scan()
    refused = vault.refused(
        "knowledge_save_claim", claimKind="fact", owner=ada, statement="x", evidence=vault.evidence
    )
    assert isinstance(refused, InvalidRecord) and refused.data["field"] == "owner"
    assert "is empty" in refused.message and f"vault-kg restore {ada}" in refused.message


def test_the_cause_is_told_before_what_follows_from_it(vault: VaultBox, ada: str) -> None:
    vault.claim(ada)
    whole = vault.path(ada).read_bytes()
    for content, code in (
        (b"", "record_lost_front_matter"),
        (whole.replace(b"title: Ada", b"title: [Ada"), "broken_front_matter"),
    ):
        (vault.root / "main/pages/person/ada.md").write_bytes(content)
        vault.scan()
        assert [f["code"] for f in vault.findings()] == [code, "unknown_reference"]


# Sources without a descriptor


def lost_source(vault: VaultBox) -> tuple[str, str]:
    """Return a source that nothing cites, and the path of its descriptor."""
    source = vault.source("Some words.\n", name="words.txt")
    (path,) = (p for p in vault.files() if p.endswith("source.yaml"))
    return source, path


def test_a_descriptor_that_gitignore_leaves_out_says_by_which_line(vault: VaultBox) -> None:
    source, path = lost_source(vault)
    vault.put(".gitignore", "source.yaml\n")
    vault.scan()
    (finding,) = vault.findings()
    assert (finding["code"], finding["severity"], finding["path"]) == ("ignored", "error", path)
    assert ".gitignore:1 (`source.yaml`)" in finding["message"] and source in finding["message"]
    assert vault.findings(section="sources") == [finding]
    refused = vault.refused("knowledge_source", id=source)
    assert isinstance(refused, NotFound) and ".gitignore:1" in refused.message
    (vault.root / ".gitignore").unlink()
    vault.scan()
    assert vault.findings() == [] and vault.call("knowledge_source", id=source)["verified"]


def test_an_emptied_descriptor_says_so_and_how_to_bring_it_back(vault: VaultBox) -> None:
    source, path = lost_source(vault)
    (vault.root / path).write_bytes(b"")
    vault.scan()
    (finding,) = vault.findings()
    assert (finding["code"], finding["message"]) == ("invalid_source", "the file is empty")
    assert f"git restore -- {path}" in finding["hint"]
    refused = vault.refused("knowledge_source", id=source)
    assert isinstance(refused, NotFound) and "is empty" in refused.message
    assert f"git restore -- {path}" in refused.message
    vault.git("restore", "--", path)
    vault.scan()
    assert vault.findings() == [] and vault.call("knowledge_source", id=source)["verified"]


def test_a_descriptor_that_is_gone_is_told_of_while_something_cites_its_source(
    vault: VaultBox, ada: str
) -> None:
    claim = vault.claim(ada)
    (path,) = (p for p in vault.files() if p.endswith("source.yaml"))
    (vault.root / path).unlink()
    vault.scan()
    first, *follow = vault.findings()
    assert (first["code"], first["path"]) == ("source_missing", path)
    assert "git log -- " in first["hint"] and {f["code"] for f in follow} == {"unknown_source"}
    vault.path(claim).unlink()
    vault.scan()
    assert "source_missing" not in {f["code"] for f in vault.findings()}


def test_a_source_that_was_deleted_is_nothing_to_look_at(vault: VaultBox) -> None:
    source, path = lost_source(vault)
    vault.call("knowledge_delete_by_source", source_file="words.txt", group_ids=["main"])
    vault.scan()
    assert vault.findings() == [] and not (vault.root / path).exists()
    assert isinstance(vault.refused("knowledge_source", id=source), NotFound)


def test_a_hidden_descriptor_is_its_partition_s_own_matter(vault: VaultBox) -> None:
    source, _ = lost_source(vault)
    vault.put(".gitignore", "source.yaml\n")
    vault.scan()
    outside = Caller("guest", partitions=frozenset({"other"}))
    assert vault.call("knowledge_diagnostics", outside)["findings"] == []
    refused = vault.refused("knowledge_source", outside, id=source)
    assert ".gitignore" not in refused.message
