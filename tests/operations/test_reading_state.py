"""A reading state: what is refused on it, and what becomes of it when the vault has changed."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.operations.builder import ANYBODY, VaultBox
from vault_kg.errors import Unavailable, WriteFailed
from vault_kg.operations import care, following, registry
from vault_kg.operations.workspace import Workspace
from vault_kg.store import reading
from vault_kg.store import vault as vaults
from vault_kg.store.lane import LOCK, Lane

BEGIN = {"source_type": "spec", "source_id": "s-1", "content": "The board."}
Open = Callable[[], Workspace]


@pytest.fixture
def state(folder: Path) -> Path:
    return folder / "mine" / "state.sqlite"


@pytest.fixture
def opened(vault: VaultBox, state: Path) -> Iterator[Open]:
    """Open the vault for reading, as each process does that cannot write its folder."""
    with ExitStack() as all_opened:

        def call() -> Workspace:
            make(vault, state)
            ws = Workspace.open(vault.root, state, vault.clock)
            all_opened.callback(ws.close)
            return ws

        yield call


def make(vault: VaultBox, state: Path) -> None:
    """Make the state as for an account that may only read: this one may write everywhere."""
    reading.make(vault.root, vaults.default_state(vault.root), state, vault.ws.vault.id)


def ask(ws: Workspace, name: str, /, **arguments: Any) -> dict[str, Any]:
    return registry.call(ws, name, arguments, ANYBODY)


def notes(ws: Workspace) -> list[str]:
    return [row["title"] for row in ask(ws, "knowledge_records", kind="note")["records"]]


def titles(ws: Workspace) -> list[str]:
    ws.scan()
    return sorted(row["title"] for row in ask(ws, "knowledge_records")["records"])


# What is refused


def test_what_would_be_lost_is_refused(vault: VaultBox, opened: Open, folder: Path) -> None:
    session = vault.call("kg_begin_consolidation", **BEGIN)["session_id"]
    ws = opened()
    node = {"session_id": session, "node_type": "Person", "title": "Ada"}
    for name, arguments in {
        "kg_begin_consolidation": BEGIN | {"source_id": "s-2"},
        "kg_add_node_candidate": node,
        "kg_abort_consolidation": {"session_id": session},
        "kg_event_subscribe": {"name": "me", "file": str(folder / "events")},
        "knowledge_save_page": {"requestId": "r", "type": "Person", "title": "Ada"},
        "kg_deliver_events": {},
    }.items():
        with pytest.raises(WriteFailed, match="is open for reading only"):
            ask(ws, name, **arguments)


def test_what_only_reads_or_derives_goes_on(vault: VaultBox, opened: Open) -> None:
    page = vault.page("Ada", partition="user")
    ws = opened()
    assert ask(ws, "graph_index")["data"]["reports"]
    assert ask(ws, "knowledge_wal_mark_list", group_id="main")["count"] == 0
    read = ask(ws, "kg_read", cwd=str(vault.root), ids=[page])
    assert [node["record"] for node in read["nodes"]] == [page]
    vault.page("Babbage", partition="user")
    opened()
    found = ask(ws, "kg_search", query="Babbage", session_id=read["session_id"])
    assert "babbage" in str(found), "the session was lost, and a search goes on without"


def test_what_the_owner_is_about_to_install_is_left_alone(vault: VaultBox, opened: Open) -> None:
    prepared = vault.ws.vault.temporaries / "99-0.part"
    prepared.parent.mkdir(exist_ok=True)
    ws = opened()
    prepared.write_bytes(b"on its way")
    vault.put("note.md", "# A note")
    ws.scan()
    assert prepared.exists()


# What becomes of it


def test_a_reader_goes_on_and_sees_what_the_next_one_brings(vault: VaultBox, opened: Open) -> None:
    vault.page("Ada")
    first = opened()
    assert titles(first) == ["Ada"]
    vault.page("Babbage")
    second = opened()
    assert titles(first) == titles(second) == ["Ada", "Babbage"]
    guarded = vault.page("Lovelace")
    vault.withdraw(guarded)
    opened()
    assert ask(first, "knowledge_get", id=guarded)["lifecycle"] == "withdrawn"


def bring_back(vault: VaultBox, id: str, content: bytes) -> None:
    """Put the old file of a record back, as a sync tool does, and let the owner see it."""
    vault.path(id).write_bytes(content)
    vault.scan()


def lifecycle(ws: Workspace, id: str) -> str:
    ws.look_at([ask(ws, "knowledge_get", id=id)["path"]])
    return str(ask(ws, "knowledge_get", id=id)["lifecycle"])


def seen(condition: Callable[[], bool], seconds: float = 20) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.1)
    return False


def test_one_that_stays_open_sees_by_itself_what_is_withdrawn(
    vault: VaultBox, opened: Open
) -> None:
    page = vault.page("Ada")
    content = vault.path(page).read_bytes()
    ws, stop, told = opened(), threading.Event(), list[str]()
    watcher = threading.Thread(
        target=care.watch, args=(ws, stop), kwargs={"on_trouble": told.append}
    )
    watcher.start()
    try:
        assert lifecycle(ws, page) == "active"
        pulse = ask(ws, "knowledge_activity")["indexed"]
        vault.withdraw(page)
        bring_back(vault, page, content)
        assert seen(lambda: lifecycle(ws, page) == "withdrawn"), told
        assert ask(ws, "knowledge_activity")["indexed"] > pulse
        assert not told
    finally:
        stop.set()
        watcher.join()


def test_it_is_copied_anew_for_what_is_decided_and_for_nothing_else(
    vault: VaultBox, opened: Open
) -> None:
    page, other, twin = vault.page("Ada"), vault.page("Babbage"), vault.page("A. Lovelace")
    ws = opened()
    assert not following.follow(ws)
    vault.page("Countess")
    assert not following.follow(ws), "a new file is seen by a scan"
    assert "Countess" in titles(ws)
    vault.withdraw(other)
    assert following.follow(ws) and not following.follow(ws)
    vault.merge(page, twin)
    assert following.follow(ws)
    assert ask(ws, "knowledge_lookup", text="A. Lovelace")["record"]["id"] == page
    assert not following.follow(vault.ws), "an owner has nobody to follow"


def test_what_the_reader_saw_first_is_seen_after_a_copy_too(vault: VaultBox, opened: Open) -> None:
    other = vault.page("Babbage")
    ws = opened()
    vault.withdraw(other)
    vault.put("notes/new.md", "# Only the reader has looked at this")
    ws.scan()
    assert notes(ws) == ["new"]
    assert following.follow(ws)
    assert notes(ws) == ["new"] and titles(ws) == []


def test_a_read_under_way_sees_one_state(vault: VaultBox, opened: Open) -> None:
    vault.page("Ada")
    first = opened()
    count = "SELECT count(*) FROM journal"
    with first.database.snapshot():
        before = first.database.value(count)
        vault.page("Babbage")
        opened()
        assert first.database.value(count) == before
    assert first.database.value(count) > before


def test_it_is_not_brought_up_to_date_while_a_scan_is_under_way(
    vault: VaultBox, opened: Open, state: Path
) -> None:
    opened()
    vault.page("Ada")
    lane = Lane(state.parent / LOCK)
    done = threading.Event()

    def again() -> None:
        make(vault, state)
        done.set()

    with lane.hold():
        other = threading.Thread(target=again)
        other.start()
        assert not done.wait(0.3)
    other.join()
    assert done.is_set()


def test_nobody_is_told_to_recover_it(vault: VaultBox, opened: Open, state: Path) -> None:
    ws = opened()
    state.rename(state.with_name("elsewhere"))
    with pytest.raises(Unavailable, match="removed or replaced") as caught:
        ask(ws, "knowledge_status")
    assert "recover" not in caught.value.message
    with pytest.raises(Unavailable) as caught:
        state.write_bytes(b"no database at all, but some text" * 100)
        make(vault, state)
    assert "recover" not in caught.value.message


def test_vectors_of_the_copy_before_are_removed(vault: VaultBox, opened: Open, state: Path) -> None:
    opened()
    stale = [state.with_name(f"vectors-1.{kind}") for kind in ("f32", "i8", "steps")]
    own = state.with_name("vectors-of-mine.csv")
    for file in (*stale, own):
        file.write_bytes(b"1234")
    opened()
    assert all(file.exists() for file in stale), "the state was not made anew"
    vault.page("Ada")
    opened()
    assert not any(file.exists() for file in stale) and own.exists()


@pytest.mark.parametrize("changed", [False, True])
def test_what_a_killed_process_left_is_removed(
    vault: VaultBox, opened: Open, state: Path, changed: bool
) -> None:
    opened()
    left = [state.with_name(f"{state.name}.4711.making{log}") for log in ("", "-wal", "-shm")]
    own = state.with_name("notes.making.md")
    for file in (*left, own):
        file.write_bytes(b"unfinished")
    if changed:
        vault.page("Ada")
    opened()
    assert not any(file.exists() for file in left) and own.exists()


def test_a_folder_is_one_however_it_is_spelled(vault: VaultBox, state: Path, folder: Path) -> None:
    (folder / "x").mkdir()
    (folder / "link").symlink_to(vault.root)
    own = vaults.default_state(vault.root)
    for root in (vault.root, folder / "x" / ".." / vault.root.name, folder / "link"):
        reading.make(root, own, state, vault.ws.vault.id)
    with pytest.raises(Unavailable, match="is for reading"):
        reading.make(folder / "x", own, state, vault.ws.vault.id)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere every name is Unicode")
def test_a_folder_whose_name_is_not_utf8_is_read(vault: VaultBox, folder: Path) -> None:
    vault.page("Ada")
    vault.ws.close()
    named = Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9"))
    vault.root.rename(named)
    state = folder / "mine" / "state.sqlite"
    try:
        for _ in range(2):
            reading.make(named, vaults.default_state(named), state, vault.ws.vault.id)
            ws = Workspace.open(named, state, vault.clock)
            assert titles(ws) == ["Ada"]
            ws.close()
    finally:
        named.rename(vault.root)


def test_a_state_elsewhere_is_not_asked_for_where_the_vault_has_its_own(
    vault: VaultBox, folder: Path
) -> None:
    with pytest.raises(Unavailable, match="leave --state out"):
        Workspace.open(vault.root, folder / "else")
