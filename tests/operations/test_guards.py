"""Guards: what was withdrawn or superseded stays so, whatever comes back."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

import pytest

from tests.operations.builder import VaultBox
from vault_kg.errors import LifecycleRefused, NotFound
from vault_kg.operations import care

Restore = Callable[[VaultBox, str, str, bytes], None]


def by_hand(vault: VaultBox, record: str, path: str, old: bytes) -> None:
    (vault.root / path).write_bytes(old)


def by_checkout(vault: VaultBox, record: str, path: str, old: bytes) -> None:
    vault.git("checkout", "-q", "HEAD~1", "--", path)


def from_a_backup_after_deletion(vault: VaultBox, record: str, path: str, old: bytes) -> None:
    (vault.root / path).unlink()
    vault.scan()
    (vault.root / path).write_bytes(old)


def under_another_name(vault: VaultBox, record: str, path: str, old: bytes) -> None:
    (vault.root / path).unlink()
    vault.put("main/restored/From backup.md", old)


def through_the_command(vault: VaultBox, record: str, path: str, old: bytes) -> None:
    (vault.root / path).unlink()
    vault.scan()
    vault.write("knowledge_restore", id=record)
    vault.path(record).write_bytes(old)


def from_a_tool_that_saves_again_and_again(
    vault: VaultBox, record: str, path: str, old: bytes
) -> None:
    for number in range(3):
        (vault.root / path).write_bytes(old + b"\nline\n" * number)
        vault.scan()
    (vault.root / path).write_bytes(old)


WAYS = [
    by_hand, by_checkout, from_a_backup_after_deletion, under_another_name, through_the_command,
    from_a_tool_that_saves_again_and_again,
]  # fmt: skip


@pytest.mark.parametrize("kind", ["page", "claim", "relationship"])
@pytest.mark.parametrize("restore", WAYS, ids=lambda f: f.__name__)
def test_a_withdrawn_record_stays_withdrawn_in_every_read_when_its_file_comes_back(
    vault: VaultBox, restore: Restore, kind: str
) -> None:  # C42
    ada, babbage = vault.page(), vault.page("Babbage", body="zymurgy")
    record = {
        "page": lambda: babbage, "claim": lambda: vault.claim(ada, "Zymurgy."),
        "relationship": lambda: vault.relationship(ada, babbage, fact="Zymurgy."),
    }[kind]()  # fmt: skip
    path = vault.get(record)["path"]
    old = (vault.root / path).read_bytes()
    vault.withdraw(record)
    restore(vault, record, path, old)
    vault.scan()
    check_withdrawn(vault, record, old)
    vault.reopen()
    vault.scan()
    check_withdrawn(vault, record, old)
    care.reindex(vault.ws)
    check_withdrawn(vault, record, old)


def check_withdrawn(vault: VaultBox, record: str, old: bytes) -> None:
    view = vault.get(record)
    assert view["lifecycle"] == "withdrawn" and not view["eligible"]
    assert (vault.root / view["path"]).read_bytes() == old, "the file is left as it was put"
    assert record not in vault.listed() and record in vault.listed(lifecycle="withdrawn")
    for lifecycle in ("current", "historical"):
        hits = vault.call("knowledge_search", query="zymurgy", lifecycle=lifecycle, mode="text")
        assert record not in {h["id"] for h in hits["hits"]}
    with pytest.raises(NotFound):
        vault.call("knowledge_lookup", text=record)
    (finding,) = vault.findings("guard_contradicted")
    assert finding["path"] == view["path"] and finding["record"] == record
    assert "active" in finding["message"] and "withdrawn stands" in finding["message"]
    text = old.decode().splitlines()
    assert text[finding["line"] - 1].startswith("lifecycle:")


@pytest.mark.parametrize("restore", WAYS, ids=lambda f: f.__name__)
def test_a_superseded_record_stays_superseded(vault: VaultBox, restore: Restore) -> None:
    ada = vault.page()
    claim = vault.claim(ada)
    path = vault.get(claim)["path"]
    old = (vault.root / path).read_bytes()
    new = vault.correct(claim, vault.claim_values(ada))["replacementId"]
    restore(vault, claim, path, old)
    vault.scan()
    view = vault.get(claim)
    assert view["lifecycle"] == "superseded" and view["supersededBy"] == new
    assert vault.listed(kind="claim") == {new}
    (finding,) = vault.findings("guard_contradicted")
    assert finding["record"] == claim
    refused = vault.refused("knowledge_correct", **vault.correction(claim, vault.claim_values(ada)))
    assert isinstance(refused, LifecycleRefused)


@pytest.mark.parametrize("restore", [by_hand, by_checkout, from_a_backup_after_deletion],
                         ids=lambda f: f.__name__)  # fmt: skip
def test_a_merged_page_stays_merged(vault: VaultBox, restore: Restore) -> None:
    ada, countess = vault.page(), vault.page("Countess")
    claim = vault.claim(countess)
    path = vault.get(countess)["path"]
    old = (vault.root / path).read_bytes()
    vault.merge(ada, countess)
    restore(vault, countess, path, old)
    vault.scan()
    assert vault.get(countess)["id"] == ada and vault.lookup("countess") == ada
    assert countess not in vault.listed() and claim in vault.listed()
    assert [f["record"] for f in vault.findings("guard_contradicted")] == [countess]
    vault.unmerge(countess)
    assert vault.get(countess)["lifecycle"] == "active"
    assert vault.findings("guard_contradicted") == []


def test_a_record_both_superseded_and_withdrawn_counts_as_withdrawn(vault: VaultBox) -> None:
    ada = vault.page()
    claim = vault.claim(ada)
    path = vault.get(claim)["path"]
    versions = [(vault.root / path).read_bytes()]
    vault.correct(claim, vault.claim_values(ada))
    versions.append((vault.root / path).read_bytes())
    vault.withdraw(claim)
    for old in versions:
        (vault.root / path).write_bytes(old)
        vault.scan()
        assert vault.get(claim)["lifecycle"] == "withdrawn"
        assert claim in vault.listed(lifecycle="withdrawn")
        assert vault.findings("guard_contradicted")


def test_a_copy_of_a_withdrawn_record_is_withdrawn_too(vault: VaultBox) -> None:
    page = vault.page()
    old = vault.path(page).read_bytes()
    vault.withdraw(page)
    vault.put("main/pages/person/copy.md", old)
    vault.scan()
    assert page not in vault.listed()
    rows = vault.call("knowledge_records", lifecycle="withdrawn")["records"]
    assert [r["id"] for r in rows] == [page, page]


def test_attaching_the_source_again_brings_no_fact_back(vault: VaultBox) -> None:
    claim = vault.claim(vault.page())
    vault.withdraw(claim)
    receipt = vault.write(
        "knowledge_attach", name="notes.txt", size=0, offset=0, chunk="", final=True,
        sha256="e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    )["receipt"]  # fmt: skip
    assert receipt["changed"]
    vault.source()
    assert claim not in vault.listed() and vault.get(claim)["lifecycle"] == "withdrawn"


def test_the_request_that_wrote_it_does_not_bring_it_back(vault: VaultBox) -> None:
    ada = vault.page()
    request: dict[str, Any] = {
        k: v for k, v in vault.claim_values(ada).items() if k != "kind"
    } | {"requestId": "once"}  # fmt: skip
    receipt = vault.call("knowledge_save_claim", **request)
    vault.withdraw(receipt["targetId"])
    again = vault.call("knowledge_save_claim", **request)
    assert again == receipt and receipt["targetId"] not in vault.listed()


def test_lifecycle_written_back_by_hand_is_no_contradiction(vault: VaultBox) -> None:
    page = vault.page()
    vault.withdraw(page)
    withdrawn = vault.path(page).read_bytes()
    vault.edit(page, "lifecycle: withdrawn", "lifecycle: active")
    vault.scan()
    assert vault.findings("guard_contradicted")
    vault.path(page).write_bytes(withdrawn)
    vault.scan()
    assert vault.findings("guard_contradicted") == []
    assert vault.get(page)["lifecycle"] == "withdrawn"


def test_a_vault_copied_with_its_state_keeps_its_guards(vault: VaultBox, folder: Any) -> None:
    page = vault.page()
    old = vault.path(page).read_bytes()
    vault.withdraw(page)
    vault.ws.close()
    shutil.copytree(vault.root, folder / "copied")
    copied = VaultBox.__new__(VaultBox)
    copied.__dict__.update(vault.__dict__)
    copied.root = folder / "copied"
    copied.reopen()
    copied.path(page).write_bytes(old)
    copied.scan()
    assert page not in copied.listed()
    copied.ws.close()
    vault.reopen()


def test_a_withdrawn_record_moved_to_another_partition_stays_withdrawn(vault: VaultBox) -> None:
    page = vault.page()
    old = vault.path(page).read_bytes()
    vault.withdraw(page)
    vault.path(page).unlink()
    vault.put("other/pages/person/ada.md", old)
    vault.scan()
    assert vault.get(page)["lifecycle"] == "withdrawn" and vault.get(page)["partition"] == "other"
    assert page not in vault.listed()
