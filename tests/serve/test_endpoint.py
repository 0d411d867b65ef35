from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.operations.builder import VaultBox
from tests.serve.served import ROOT, Running, ServiceProcess, surroundings
from vault_kg.errors import Unavailable
from vault_kg.serve import endpoint, wire
from vault_kg.serve.endpoint import LONGEST_SOCKET_PATH, Endpoint


@pytest.fixture
def private(tmp_path: Path) -> Path:
    folder = tmp_path / ".vault-kg"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def long_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="vault-kg-test-") as name:
        deep = Path(name) / ("a-rather-long-name-" * 5) / ("another-long-name-" * 5)
        deep.mkdir(parents=True)
        yield deep


@pytest.fixture
def open_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="vault-kg-test-") as name:
        Path(name).chmod(0o777)
        yield Path(name)


def test_the_endpoint_file_names_the_address_while_it_is_served(private: Path) -> None:
    ours = Endpoint(private)
    ours.claim()
    ours.announce()
    assert (private / "service.endpoint").read_text() == f"{private}/service.sock\n"
    assert endpoint.find(private) == ours.address
    assert (private / "service.pid").read_text() == f"{os.getpid()}\n"
    ours.release()
    assert {path.name for path in private.iterdir()} <= {"service.lock"}
    assert endpoint.find(private) == ours.address, "it can be computed"


def test_a_second_claim_is_refused_and_names_the_process(private: Path) -> None:
    ours = Endpoint(private)
    ours.claim()
    with pytest.raises(Unavailable, match=f"served already, by process {os.getpid()}") as caught:
        Endpoint(private).claim()
    assert caught.value.data == {"pid": os.getpid(), "address": ours.address}
    ours.release()
    Endpoint(private).claim()


def test_a_path_that_is_too_long_for_a_socket_falls_back(long_folder: Path) -> None:
    private = long_folder / ".vault-kg"
    address = Path(Endpoint(private).address)
    assert len(str(private / "service.sock")) > LONGEST_SOCKET_PATH
    assert len(os.fsencode(address)) <= LONGEST_SOCKET_PATH
    assert address.parent == Path(tempfile.gettempdir()) / f"vault-kg-{os.getuid()}"
    assert Endpoint(long_folder / "else" / ".vault-kg").address != str(address)


def test_a_vault_at_a_long_path_is_served_and_found(
    long_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VAULT_KG_EMBEDDING_MODEL", "off")
    box = VaultBox(long_folder / "vault")
    box.page("Far away")
    box.ws.close()
    running = Running(box.root)
    assert endpoint.find(box.root / ".vault-kg") == running.address
    folder = Path(running.address).parent
    assert folder.stat().st_mode & 0o777 == 0o700
    with running.client() as client:
        assert client.call("knowledge_records")["total"] == 1
    running.stop()
    assert not Path(running.address).exists()


@pytest.mark.parametrize("trouble", ["open to others", "a link", "a file"])
def test_a_shared_place_is_used_only_where_it_is_ours_alone(
    long_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trouble: str
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    private = long_folder / ".vault-kg"
    private.mkdir()
    folder = Path(Endpoint(private).address).parent
    if trouble == "a link":
        (tmp_path / "mine").mkdir(mode=0o700)
        folder.symlink_to(tmp_path / "mine")
    elif trouble == "a file":
        folder.write_text("")
    else:
        folder.mkdir()
        folder.chmod(0o777)
    with pytest.raises((Unavailable, FileExistsError)):
        Endpoint(private).claim()
    folder.unlink() if trouble != "open to others" else folder.chmod(0o700)
    Endpoint(private).claim()


def test_what_a_person_means_by_a_place(private: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vault = private.parent
    here = str(private / "service.sock")
    assert endpoint.named(str(vault)) == here
    assert endpoint.named(here) == here
    assert endpoint.named(r"\\.\pipe\vault-kg-0123456789abcdef") == (
        r"\\.\pipe\vault-kg-0123456789abcdef"
    )
    (private / "service.endpoint").write_text("/run/elsewhere.sock\n")
    assert endpoint.named(str(private / "service.endpoint")) == "/run/elsewhere.sock"
    assert endpoint.named(str(vault)) == "/run/elsewhere.sock"
    monkeypatch.chdir(private)
    assert endpoint.named("service.sock") == here


def test_the_other_side_of_our_own_socket_is_trusted() -> None:
    one, other = socket.socketpair(socket.AF_UNIX)
    with one, other:
        assert endpoint.is_trusted(one)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_a_client_does_not_talk_to_the_service_of_another_user(open_folder: Path) -> None:
    address = str(open_folder / "false.sock")
    script = (
        "import os, socket, sys\n"
        "os.setuid(65534)\n"
        "s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen()\n"
        "os.chmod(sys.argv[1], 0o777); print('up', flush=True)\n"
        "c, _ = s.accept(); print(c.recv(100), flush=True)\n"
    )
    false = subprocess.Popen(
        [sys.executable, "-c", script, address], stdout=subprocess.PIPE, text=True
    )
    assert false.stdout is not None
    assert false.stdout.readline() == "up\n"
    with pytest.raises(PermissionError, match="another user"):
        wire.dial(address, 5)
    assert false.stdout.readline() == "b''\n", "nothing was said to it"
    false.wait(10)


# Windows: the name can be computed; the pipe itself is not tested on such a system.


def test_the_name_of_the_pipe_is_fnv_1a_of_the_path() -> None:
    def by_the_book(text: str) -> str:
        number = 14695981039346656037
        for byte in text.encode():
            number = ((number ^ byte) * 1099511628211) % 2**64
        return f"{number:016x}"

    path = "C:/Users/Ada/Vault/.vault-kg/service.sock"
    digits = by_the_book("c:\\users\\ada\\vault\\.vault-kg\\service.sock")
    assert endpoint.pipe_name(path) == rf"\\.\pipe\vault-kg-{digits}"
    assert endpoint.pipe_name("") == r"\\.\pipe\vault-kg-cbf29ce484222325"
    assert endpoint.pipe_name(path.upper().replace("/", "\\")) == endpoint.pipe_name(path)


@given(st.text(max_size=60))
def test_a_name_of_a_pipe_stays_itself(text: str) -> None:
    name = endpoint.pipe_name(text)
    assert endpoint.pipe_name(name) == name
    assert len(name) == len(r"\\.\pipe\vault-kg-") + 16


def test_the_modules_are_imported_where_there_are_no_unix_sockets() -> None:
    script = (
        "import sys, socket\n"
        "sys.modules['resource'] = None\n"
        "del socket.AF_UNIX, socket.SO_PEERCRED\n"
        "from vault_kg.serve import attached, connection, endpoint, listening, mcp, service, wire\n"
        "print(endpoint.pipe_name('x'))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=surroundings(), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(r"\\.\pipe\vault-kg-")


def test_a_vault_that_moved_is_served_at_its_new_place(small: VaultBox) -> None:
    first = ServiceProcess(small.root).wait_until_ready()
    first.kill()
    moved = small.root.rename(small.root.with_name("moved"))
    second = ServiceProcess(moved).wait_until_ready()
    assert second.address == str(moved / ".vault-kg/service.sock")
    with second.client() as client:
        assert client.call("knowledge_records")["total"] == 2
    assert second.stop() == 0
