"""Loose objects are packed after many commits: off the lane, beside no other Git, and losing nothing."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.operations.builder import VaultBox
from tests.operations.conftest import fast_folder
from vault_kg.store import files, outbox
from vault_kg.store.git import GitUnavailable, History

ENOUGH = 28
"""So many objects in one of 256 folders are taken for many."""


@pytest.fixture
def vault(monkeypatch: pytest.MonkeyPatch) -> Iterator[VaultBox]:
    monkeypatch.setenv("VAULT_KG_EMBEDDING_MODEL", "off")
    monkeypatch.setattr(outbox, "TIDY_EVERY", 3)
    with fast_folder() as folder:
        box = VaultBox(Path(folder) / "vault")
        box.page("First")
        yield box
        box.ws.close()


def make_loose(vault: VaultBox) -> None:
    """Store blobs until Git's own estimate says that they are many."""
    names = (str(number) for number in itertools.count())
    chosen = itertools.islice((n for n in names if files.blob_id(n.encode())[:2] == "17"), ENOUGH)
    for name in chosen:
        blob = vault.root.parent / name
        blob.write_text(name)
        vault.git("hash-object", "-w", str(blob))


def packs(vault: VaultBox) -> list[Path]:
    return sorted((vault.root / ".git" / "objects" / "pack").glob("*.pack"))


def test_many_commits_are_packed_and_all_is_there(vault: VaultBox) -> None:
    make_loose(vault)
    pages = [vault.page(f"Page {number}") for number in range(4)]
    assert packs(vault)
    vault.git("fsck", "--strict", "--no-dangling")
    assert len(vault.git("log", "--format=%H").splitlines()) == vault.position
    vault.change(pages[0], summary="After the packing.")
    assert vault.get(pages[0], revision=1)["summary"] is None
    vault.git("fsck", "--strict", "--no-dangling")


def test_few_objects_stay_loose(vault: VaultBox) -> None:
    for number in range(8):
        vault.page(f"Page {number}")
    assert packs(vault) == []


@pytest.mark.parametrize("sign", ["index.lock", "gc.pid"])
def test_it_waits_until_no_other_git_is_at_work(vault: VaultBox, sign: str) -> None:
    make_loose(vault)
    busy = vault.root / ".git" / sign
    busy.write_text("1")
    assert vault.ws.history.tidy() is False and packs(vault) == []
    busy.unlink()
    assert vault.ws.history.tidy() is True


def test_it_is_done_off_the_lane_and_its_failure_costs_nothing(
    vault: VaultBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []

    def failing(_: History) -> bool:
        asked.append(vault.ws.lane.is_held())
        raise GitUnavailable("objects cannot be packed", "git_failed")

    monkeypatch.setattr(History, "tidy", failing)
    receipts = [vault.write("knowledge_save_page", type="Person", title=f"P{n}") for n in range(6)]
    assert asked == [False, False], "once in three entries"
    assert {r["git"]["state"] for r in receipts} == {"committed"}
