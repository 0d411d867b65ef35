"""The roots that a vault lists, and the hook that notes changes and returns at once."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.extract.coded import Coded
from tests.operations.builder import VaultBox
from vault_kg.errors import Busy, InvalidArgument, NotFound
from vault_kg.extract import opening, queue, roots
from vault_kg.operations.caller import Caller
from vault_kg.serve.keeper import Keeper

CONFIG = ".vault-kg/vault.toml"


def hook(coded: Coded, *paths: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "vault_kg.cli", "graph", "hook", "--vault", coded.box.root, *paths],
        check=True,
    )


def test_what_a_hook_notes_is_indexed_by_whoever_is_next(coded: Coded) -> None:
    coded.put(a="def one", pkg__b="def two")
    hook(coded, coded.project / "pkg", coded.project.parent / "elsewhere")
    assert coded.ask("graph_resolve", q="two")["meta"]["freshness"]["queued"]
    coded.index(queued_only=True)
    assert coded.ask("graph_resolve", q="two")["total"] == 1
    assert coded.ask("graph_resolve", q="one")["total"] == 0
    assert not coded.ask("graph_resolve", q="two")["meta"]["freshness"]["queued"]


def test_a_hook_waits_for_nobody(coded: Coded) -> None:
    coded.put(a="def one")
    with opening.lane(coded.box.ws).hold(), coded.box.ws.lane.hold():
        hook(coded, coded.project / "a.tiny")
        refused: list[BaseException] = []

        def other() -> None:
            try:
                coded.index()
            except Busy as error:
                refused.append(error)

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert "queued" in str(refused[0]), "one indexes at a time"
    coded.index(queued_only=True)
    assert coded.ask("graph_resolve", q="one")["total"] == 1


def test_no_line_is_lost_between_hooks_and_a_drain(tmp_path: Path) -> None:
    threads = [
        threading.Thread(
            target=lambda n=n: [queue.push(tmp_path, [Path(f"/{n}/{i}")]) for i in range(200)]
        )
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    found: set[Path] = set()
    while any(thread.is_alive() for thread in threads) or not queue.is_empty(tmp_path):
        found.update(queue.take(tmp_path))
        queue.done(tmp_path)
    assert found == {Path(f"/{n}/{i}") for n in range(4) for i in range(200)}


def test_what_was_taken_and_not_done_is_taken_again(tmp_path: Path) -> None:
    queue.push(tmp_path, [Path("/a"), Path("/a")])
    assert queue.take(tmp_path) == [Path("/a")]
    queue.push(tmp_path, [Path("/b")])
    with (tmp_path / queue.TAKEN).open("a") as file:
        file.write('"/cut')
    assert queue.take(tmp_path) == [Path("/a")], "the process that took it has died"
    queue.done(tmp_path)
    assert queue.take(tmp_path) == [Path("/b")]
    queue.done(tmp_path)
    assert queue.take(tmp_path) == [] and queue.is_empty(tmp_path)


def test_roots_are_listed_in_the_vaults_configuration(vault: VaultBox, folder: Path) -> None:
    assert [root.name for root in roots.of(vault.root)] == ["vault"]
    for name in ("one", "two/one", 'odd "name"\\'):
        (folder / name).mkdir(parents=True)
        roots.add(vault.root, folder / name)
    found = {root.name: root.folder for root in roots.of(vault.root)}
    assert {root.inner for root in roots.of(vault.root)} == {()}
    assert found == {
        "vault": vault.root, "one": folder / "one", "one-2": folder / "two/one",
        'odd "name"\\': folder / 'odd "name"\\',
    }  # fmt: skip
    assert 'path = "../two/one"' in (vault.root / CONFIG).read_text()
    assert roots.around(vault.root, folder / "two/one/x/y.py") == (
        roots.named(vault.root, "one-2"), "x/y.py",
    )  # fmt: skip
    held = roots.around(vault.root, vault.root / "main/pages")
    assert held is not None and held[0].is_vault and held[1] == "main/pages"
    assert roots.around(vault.root, folder) is None
    vault.reopen()


@pytest.mark.parametrize(
    "text", ['[[graph.roots]]\nname = "x"\n', "[graph]\nroots = [3]\n",
             '[[graph.roots]]\npath = "/a"\nname = "vault"\n', '[[graph.roots]]\npath = "."\n']
)  # fmt: skip
def test_a_root_that_is_none_is_refused(vault: VaultBox, text: str) -> None:
    config = vault.root / CONFIG
    config.write_text(config.read_text() + text)
    with pytest.raises(InvalidArgument, match=r"vault\.toml"):
        roots.of(vault.root)


def test_of_roots_in_one_another_the_inner_one_has_its_files(coded: Coded) -> None:
    coded.put(a="def outer", inner__b="def inner")
    roots.add(coded.box.root, coded.project / "inner")
    page = coded.box.root / "secret/pages/c.tiny"
    page.parent.mkdir(parents=True)
    page.write_text("def hidden\n")
    roots.add(coded.box.root, coded.box.root.parent)
    coded.index()
    found = {n["label"]: n["root"] for name in ("outer", "inner", "hidden")
             for n in coded.ask("graph_resolve", q=name)["results"]}  # fmt: skip
    assert found == {"outer": "project", "inner": "inner", "hidden": "vault"}
    assert {root.name: root.partition("pages/c.tiny") for root in roots.of(coded.box.root)} == {
        "vault": "main", "project": None, "inner": None, coded.box.root.parent.name: None,
    }  # fmt: skip


def test_a_root_in_the_vault_keeps_to_its_partitions(coded: Coded) -> None:
    page = coded.box.root / "secret/pages/c.tiny"
    page.parent.mkdir(parents=True)
    page.write_text("def hidden\n")
    roots.add(coded.box.root, page.parent)
    coded.index()
    public = Caller("public", partitions=frozenset({"main"}))
    assert coded.ask("graph_resolve", q="hidden")["results"][0]["root"] == "pages"
    assert coded.ask("graph_resolve", public, q="hidden")["total"] == 0


def test_a_file_is_no_root(vault: VaultBox) -> None:
    with pytest.raises(InvalidArgument, match="not a folder"):
        roots.add(vault.root, vault.root / CONFIG)
    with pytest.raises(NotFound, match="no root"):
        roots.named(vault.root, "zz")


def test_a_service_indexes_what_hooks_queue(coded: Coded) -> None:
    coded.put(a="def one")
    keeper = Keeper(coded.box.root, None, watch=False)
    keeper.start()
    try:
        queue.push(coded.box.root / ".vault-kg", [coded.project / "a.tiny"])
        deadline = time.monotonic() + 60
        while not queue.is_empty(coded.box.root / ".vault-kg") and time.monotonic() < deadline:
            time.sleep(0.05)
    finally:
        keeper.stop()
    assert coded.ask("graph_resolve", q="one")["total"] == 1
    assert coded.tiny.extracted == ["a.tiny"]


def test_a_service_without_a_queue_makes_no_graph(vault: VaultBox) -> None:
    answer = vault.call("graph_index", queued_only=True)
    assert (
        answer["data"]["reports"] == [] and answer["data"]["meta"]["freshness"]["state"] == "empty"
    )
    assert not (vault.root / ".vault-kg/graph.sqlite").exists()
