"""Vaults whose own folder has a name that is no text; and making one that fails."""

from __future__ import annotations

import json
import os
import shutil
import threading
from pathlib import Path

import numpy as np
import pytest

from vault_kg.index import scope, watch
from vault_kg.index.listing import Filter
from vault_kg.index.vectors import Vectors
from vault_kg.operations import care
from vault_kg.operations.workspace import Workspace
from vault_kg.serve.endpoint import Endpoint

ODD = (b"\xff", b"a b?#%\xfe.d", b"%41")


@pytest.fixture(params=ODD, ids=["bytes", "signs", "escape"])
def odd(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A folder of one note and one module; its name may be no UTF-8, and mean something in a URI."""
    folder = tmp_path / os.fsdecode(request.param)
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("this file system takes UTF-8 only")
    (folder / "note.md").write_text("# Note\n\nkiwi pie\n")
    (folder / "code.py").write_text("def pie():\n    return 1\n")
    return folder


def test_a_vault_in_an_odd_folder_is_made_read_changed_and_recovered(
    vault_kg, odd: Path, tmp_path: Path
) -> None:
    assert vault_kg("init", cwd=odd).code == 0
    assert [file.name for file in odd.parent.iterdir()] == [odd.name]
    found = vault_kg("search", "kiwi", "--vault", odd, "--json").json
    assert [hit["path"] for hit in found["hits"]] == ["note.md"]
    assert vault_kg("show", "note.md", cwd=odd).code == 0
    assert vault_kg("adopt", "note.md", cwd=odd).code == 0
    assert vault_kg("graph", "index", cwd=odd).code == 0
    status = vault_kg("status", "--json", cwd=odd).json
    assert json.dumps(status, ensure_ascii=False).encode()  # a client reads it
    assert status["records"]["page"] == 1
    copy = odd / "copy.sqlite"
    assert vault_kg("backup", copy, cwd=odd).code == 0 and copy.stat().st_size
    for file in (odd / ".vault-kg").glob("state.sqlite*"):
        file.unlink()
    lost = vault_kg("status", "--json", cwd=odd).json
    assert lost["error"]["message"].encode() and lost["error"]["data"]["path"].encode()
    (odd / os.fsdecode(b"odd\xfe.md")).write_text("kiwi\n")
    assert vault_kg("recover", cwd=odd).code == 0
    assert (
        vault_kg(
            "search",
            "kiwi",
            cwd=odd,
        ).code
        == 0
    )


def test_a_configuration_names_the_folder_or_is_refused(vault_kg, odd: Path) -> None:
    assert vault_kg("init", cwd=odd).code == 0
    done = vault_kg("mcp", "--print-config", "claude-code", cwd=odd)
    if str(odd).isprintable():
        assert str(odd) in json.loads(done.out)["mcpServers"]["vault-kg"]["args"]
    else:
        assert done.code == 1 and "not UTF-8" in done.err


def test_the_state_may_lie_in_an_odd_folder(vault_kg, vault, odd: Path) -> None:
    shutil.move(vault.root / ".vault-kg" / "state.sqlite", odd / "state.sqlite")
    done = vault_kg("lookup", "Ada", "--vault", vault.root, "--state", odd, "--json")
    assert done.json["record"]["id"] == vault["ada"]


def test_vectors_in_an_odd_folder_are_kept_in_files_and_compared(odd: Path) -> None:
    class MadeUp:
        def embed_passages(self, texts: list[str]):
            vectors = np.ones((len(texts), 4), np.float32) / 2
            return type("Made", (), {"vectors": vectors, "failed": {}})()

    ws = Workspace.create(odd)
    try:
        ws.scan()
        vectors = Vectors(ws.database, "made-up", 4, ws.database.path.parent)
        assert vectors.embed_pending(MadeUp()) == 1  # type: ignore[arg-type]
        compared = vectors.compare(np.ones(4, np.float32) / 2)
        allowed = scope.of(ws.database, Filter(ws.now(), kinds=["note"]))
        assert len(compared.nearest(5, allowed)) == 1
        assert len(list(ws.database.path.parent.glob("vectors-*.f32"))) == 1
    finally:
        ws.close()


def test_an_odd_folder_is_watched_or_looked_at_again_and_again(
    odd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "SCAN_SECONDS", 0.1)
    monkeypatch.setattr(watch, "REST", 0.1)
    ws = Workspace.create(odd)
    ws.scan()
    stop, taken_in = threading.Event(), threading.Event()
    watching = threading.Thread(
        target=care.watch, args=(ws, stop, lambda _: taken_in.set(), lambda _: None)
    )
    watching.start()
    try:
        (odd / "new.md").write_text("# New\n")
        assert taken_in.wait(20)
    finally:
        stop.set()
        watching.join(20)
        ws.close()
    assert not watching.is_alive()


def test_the_socket_of_an_odd_folder_has_a_name_that_a_file_can_tell(odd: Path) -> None:
    endpoint = Endpoint(odd)
    endpoint.claim()
    try:
        endpoint.announce()
        assert (odd / "service.endpoint").read_text(encoding="utf-8").strip() == endpoint.address
    finally:
        endpoint.release()


@pytest.mark.parametrize("lost", ["state", "identity"])
def test_what_could_not_be_made_a_vault_is_none(
    vault_kg, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    root = tmp_path / "notes"
    root.mkdir()
    state = tmp_path / "taken" / "state.sqlite"
    if lost == "state":
        state.parent.mkdir()
        state.write_text("no database, and longer than the header of one " * 10)
    else:
        (root / ".vault-kg" / "vault.new").mkdir(parents=True)
    arguments = ("init", root, *(("--state", state) if lost == "state" else ()))
    before = state.read_bytes() if lost == "state" else None
    assert vault_kg(*arguments).code in (1, 3)
    assert not (root / ".vault-kg" / "vault.toml").exists()
    assert not list((root / ".vault-kg").glob("state.sqlite*"))
    if lost == "state":
        assert state.read_bytes() == before
    else:
        (root / ".vault-kg" / "vault.new").rmdir()
    assert vault_kg("init", root).code == 0


def test_the_state_of_another_vault_is_not_taken(vault_kg, vault, tmp_path: Path) -> None:
    root = tmp_path / "notes"
    root.mkdir()
    state = vault.root / ".vault-kg" / "state.sqlite"
    done = vault_kg("init", root, "--state", state)
    assert done.code == 3 and "another vault" in done.err
    assert not (root / ".vault-kg" / "vault.toml").exists()
    assert vault_kg("lookup", "Ada", "--vault", vault.root).code == 0
