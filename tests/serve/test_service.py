"""The service as its clients meet it, over real sockets."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import threading
import time
from pathlib import Path

import pytest

from tests.operations.builder import VaultBox
from tests.serve.long_operations import ENDED, GATES, STARTED
from tests.serve.served import Client, Running, ServiceProcess, until
from vault_kg.serve import connection, rpc
from vault_kg.serve.connection import MAX_LINE, TURNS

READ_ONLY = frozenset({"read"})


# Requests, notifications and batches


def test_a_request_is_answered_under_its_id(served: Running) -> None:
    with served.client() as client:
        client.send({"jsonrpc": "2.0", "id": "first", "method": "gated", "params": {"gate": "g"}})
        assert client.is_quiet(0.05)
        GATES["g"].set()
        assert client.read() == {
            "jsonrpc": "2.0", "id": "first",
            "result": {"said": "g", "partitions": None, "actor": "socket"},
        }  # fmt: skip


def test_an_operation_answers_as_in_every_face(served: Running, small: VaultBox) -> None:
    with served.client() as client:
        page = client.call("knowledge_lookup", text="ada lovelace")["record"]
        receipt = client.call(
            "knowledge_save_page", requestId="s-1", type="Person", title="Grace", _actor="Grace"
        )
        again = client.call(
            "knowledge_save_page", requestId="s-1", type="Person", title="Grace", _actor="Grace"
        )
    assert page["title"] == "Ada Lovelace"
    assert receipt["actor"] == "Grace"
    assert again == receipt
    assert (small.root / receipt["path"]).is_file()


def test_a_notification_is_carried_out_and_not_answered(served: Running) -> None:
    with served.client() as client:
        page = {"requestId": "n-1", "type": "Person", "title": "Noted"}
        client.send({"jsonrpc": "2.0", "method": "knowledge_save_page", "params": page})
        client.send({"jsonrpc": "2.0", "method": "no_such_method"})
        assert client.is_quiet()

        def is_there() -> bool:
            return "result" in client.answer(client.ask("knowledge_lookup", text="Noted"))

        until(is_there)


def test_a_batch_is_answered_by_one_list_of_what_wants_an_answer(served: Running) -> None:
    with served.client() as client:
        client.send(
            [
                {"jsonrpc": "2.0", "id": 1, "method": "health_check"},
                {"jsonrpc": "2.0", "method": "health_check"},
                {"jsonrpc": "2.0", "id": 2, "method": "no_such_method"},
                7,
                {"jsonrpc": "2.0", "id": 3, "method": "knowledge_records", "params": {"limit": 1}},
            ]
        )
        answers = client.read()
        assert {a["id"]: a.get("error", {}).get("code") for a in answers} == {
            1: None, 2: rpc.METHOD_NOT_FOUND, None: rpc.INVALID_REQUEST, 3: None,
        }  # fmt: skip
        client.send([{"jsonrpc": "2.0", "method": "health_check"}])
        assert client.is_quiet()


@pytest.mark.parametrize(
    ("method", "params", "code", "name"),
    [
        ("no_such_method", {}, -32601, "not_found"),
        ("knowledge_records", {"limt": 1}, -32602, "invalid_argument"),
        ("knowledge_records", {"limit": "many"}, -32602, "invalid_argument"),
        ("knowledge_get", {"id": "pg_01kh0000000000000000000009"}, -32000, "not_found"),
        ("health_check", {"now": True}, -32602, "invalid_argument"),
        ("knowledge_close", {"now": True}, -32602, "invalid_argument"),
        ("faulty", {}, -32000, "error"),
    ],
)
def test_each_refusal_has_its_code(
    served: Running, method: str, params: dict, code: int, name: str
) -> None:
    with served.client() as client:
        error = client.refused(method, **params)
        assert (error["code"], error["data"]["code"]) == (code, name)
        assert error["message"]
        assert client.call("health_check")["ok"]


def test_the_scope_is_checked_at_the_call(small: VaultBox, long: None) -> None:
    running = Running(small.root, READ_ONLY)
    try:
        with running.client() as client:
            assert client.call("knowledge_records")["total"] == 2
            page = {"requestId": "x", "type": "Person", "title": "No"}
            for method, params in (("knowledge_save_page", page), ("knowledge_close", {})):
                assert client.refused(method, **params)["data"]["code"] == "scope_denied"
    finally:
        running.stop()


def test_a_call_can_see_less_than_the_service_never_more(served: Running) -> None:
    GATES["g"].set()
    with served.client() as client:
        narrowed = client.call("gated", gate="g", _partitions=["a", "b"])
        assert narrowed["partitions"] == ["a", "b"]
        assert client.call("gated", gate="g")["partitions"] is None
        assert client.call("knowledge_records", _partitions=["elsewhere"])["total"] == 0
        served.service.caller = type(served.service.caller)("s", READ_ONLY, frozenset({"b", "c"}))
        assert client.call("gated", gate="g", _partitions=["a", "b"])["partitions"] == ["b"]
        assert client.call("gated", gate="g")["partitions"] == ["b", "c"]


# Side by side


def test_a_slow_request_does_not_hold_up_a_quick_one(served: Running) -> None:
    with served.client() as client:
        slow = client.ask("gated", gate="slow")
        assert STARTED["slow"].wait(10)
        assert client.call("knowledge_records", limit=1)["total"] == 2
        assert client.call("health_check")["ok"]
        GATES["slow"].set()
        assert client.answer(slow)["result"]["said"] == "slow"


def test_a_greedy_client_waits_for_itself(served: Running) -> None:
    with served.client() as greedy, served.client() as other:
        asked = {greedy.ask("gated", gate="all") for _ in range(3 * connection.IN_FLIGHT)}
        assert STARTED["all"].wait(10)
        assert other.call("knowledge_records", limit=1)["total"] == 2
        GATES["all"].set()
        assert {greedy.read()["id"] for _ in asked} == asked


def test_health_is_answered_while_a_client_has_all_its_turns(served: Running) -> None:
    with served.client() as client:
        waiting = [client.ask("gated", gate="turns") for _ in range(TURNS + 4)]
        assert STARTED["turns"].wait(10)
        assert client.call("health_check")["ok"]
        GATES["turns"].set()
        for request in waiting:
            assert client.answer(request)["result"]


# Progress and cancellation


def test_progress_frames_carry_the_id_of_their_request(served: Running) -> None:
    with served.client() as client:
        for name in ("one", "two"):
            client.ask(
                "stepwise", under=name, name=name, steps=8, pause=0.05, _progress_token=f"t-{name}"
            )
        frames: dict[str, list[dict]] = {"one": [], "two": []}
        answered = 0
        while answered < 2:
            message = client.read()
            if "result" in message:
                answered += 1
                assert frames[message["id"]], "frames come before the answer"
            else:
                frames[message["id"]].append(message)
    for name, said in frames.items():
        assert {f["type"] for f in said} == {"progress"}
        assert {f["token"] for f in said} == {f"t-{name}"}
        assert said[-1]["progress"] == said[-1]["total"] == 8
        assert [f["progress"] for f in said] == sorted(f["progress"] for f in said)


def test_without_a_token_there_are_no_frames(served: Running) -> None:
    with served.client() as client:
        client.ask("stepwise", under=1, steps=3)
        assert client.read()["result"]["said"] == "3 steps"


def test_a_long_operation_ends_between_steps_when_its_client_is_gone(served: Running) -> None:
    client = served.client()
    client.ask("stepwise", name="gone", steps=1_000, pause=0.02)
    assert STARTED["gone"].wait(10)
    client.close()
    assert until(lambda: ENDED.get("gone")) < 1_000


def test_a_client_that_closed_its_own_half_still_gets_all_answers(served: Running) -> None:
    with served.client() as client:
        client.ask("stepwise", under=1, name="half", steps=20, pause=0.05)
        client.ask("health_check", under=2)
        client.socket.sendall(b'{"jsonrpc":"2.0","id":3,"method":"health_check"}')  # no line end
        client.half_close()
        answers = {}
        while (message := client.read()) is not None:
            answers[message["id"]] = message
    assert set(answers) == {1, 2, 3}
    assert answers[1]["result"]["said"] == "20 steps"
    assert ENDED["half"] == 20


def test_what_was_asked_for_is_done_even_if_nobody_waits(served: Running) -> None:
    with served.client() as client:
        client.ask("knowledge_save_page", requestId="f-1", type="Person", title="Left behind")
    with served.client() as client:
        until(lambda: "result" in client.answer(client.ask("knowledge_lookup", text="Left behind")))


# Clients that harm themselves only


def test_nonsense_is_answered_and_the_connection_goes_on(served: Running) -> None:
    wrong = [
        b"{", b"\xff\xfe\x00", b"[" * 200_000, b'{"jsonrpc":"1.0","id":1,"method":"x"}', b"[]",
        b'"' + b"x" * 1_000_000, b"\x00" * 100,
    ]  # fmt: skip
    with served.client() as client:
        client.send(b"", b"  ", b"\r")
        client.send(*wrong)
        errors = sorted(client.read()["error"]["code"] for _ in wrong)
        assert errors == sorted([-32700] * 5 + [-32600] * 2)
        assert client.call("health_check")["ok"]


def test_a_line_that_is_too_long_is_refused_and_passed_over(served: Running) -> None:
    with served.client() as client, served.client() as other:
        piece = b"x" * 1_000_000
        for _ in range(100):
            client.socket.sendall(piece)
        error = client.read()
        assert (error["id"], error["error"]["code"]) == (None, rpc.INVALID_REQUEST)
        assert f"{MAX_LINE:,}" in error["error"]["message"]
        assert other.call("health_check")["ok"]
        client.send(b"", {"jsonrpc": "2.0", "id": 5, "method": "health_check"})
        assert client.read()["id"] == 5


def test_who_writes_byte_by_byte_is_served(served: Running) -> None:
    with served.client() as client:
        for byte in b'{"jsonrpc":"2.0","id":"slowly","method":"health_check"}\r\n':
            client.socket.sendall(bytes([byte]))
        assert client.read()["id"] == "slowly"


def test_who_never_reads_leaves_others_served_and_is_let_go(
    served: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "SLOW_SECONDS", 0.5)
    with served.client() as deaf, served.client() as other:
        deaf.socket.settimeout(0.2)
        with pytest.raises((TimeoutError, BrokenPipeError, ConnectionResetError)):
            for _ in range(100_000):
                deaf.ask("padded", size=1_000_000)
        assert other.call("padded", size=10)["said"] == "x" * 10
        until(lambda: len(served.service._clients) == 1)


def test_a_thousand_connections_are_served(served: Running) -> None:
    clients = [served.client() for _ in range(1_000)]
    try:
        for number, client in enumerate(clients):
            client.ask("knowledge_records" if number % 10 == 0 else "health_check")
        assert all("result" in client.read() for client in clients)
    finally:
        for client in clients:
            client.close()
    until(lambda: not served.service._clients)


def test_many_who_connect_and_vanish_leave_nothing_behind(served: Running) -> None:
    for number in range(200):
        client = served.client()
        if number % 2:
            client.socket.sendall(b'{"jsonrpc":"2.0","id":1,"meth')
        else:
            client.ask("knowledge_records")
        client.close()
    until(lambda: not served.service._clients)
    with served.client() as client:
        assert client.call("health_check")["ok"]


# Coming to an end


def test_closing_needs_no_more_than_the_call(small: VaultBox, long: None) -> None:
    running = Running(small.root)
    with running.client() as client, running.client() as idle:
        slow = client.ask("stepwise", name="last", steps=10, pause=0.05)
        assert STARTED["last"].wait(10)
        assert client.call("knowledge_close") == {"status": "closed"}
        assert client.answer(slow)["result"]["said"] == "10 steps"
        assert client.read() is None
        assert idle.read() is None
    running.thread.join(10)
    assert not running.thread.is_alive()
    assert not Path(running.address).exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_what_runs_finish(process: ServiceProcess, number: signal.Signals) -> None:
    with process.client() as client:
        client.ask("stepwise", under=1, steps=20, pause=0.05, _progress_token=1)
        assert client.read()["type"] == "progress"
        process.process.send_signal(number)
        assert client.answer(1)["result"]["said"] == "20 steps"
        assert client.read() is None
    assert process.process.wait(10) == 0
    left = {path.name for path in (process.root / ".vault-kg").iterdir()}
    assert not left & {"service.sock", "service.endpoint", "service.pid"}


def test_a_second_signal_ends_long_operations_at_their_next_step(process: ServiceProcess) -> None:
    with process.client() as client:
        client.ask("stepwise", under=1, steps=10_000, pause=0.05, _progress_token=1)
        assert client.read()["type"] == "progress"
        process.process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        assert process.process.poll() is None
        process.process.send_signal(signal.SIGTERM)
        error = client.answer(1)["error"]
        assert error["data"]["code"] == "cancelled"
    assert process.process.wait(10) == 0


def test_a_write_that_the_signal_met_is_there_afterwards(process: ServiceProcess) -> None:
    with process.client() as client:
        asked = [
            client.ask("knowledge_save_page", requestId=f"w-{n}", type="Person", title=f"Page {n}")
            for n in range(20)
        ]
        first = client.read()
        process.process.send_signal(signal.SIGTERM)
        answered = [first]
        while (message := client.read()) is not None:
            answered.append(message)
    assert process.process.wait(10) == 0
    assert {a["id"] for a in answered} <= set(asked)
    paths = [process.root / a["result"]["path"] for a in answered]
    assert all(path.is_file() for path in paths)


# One, and only for its owner


def test_a_second_service_is_refused_with_the_first_ones_pid(process: ServiceProcess) -> None:
    second = ServiceProcess(process.root)
    _, said = second.process.communicate(timeout=20)
    assert second.process.returncode == 3
    assert f"served already, by process {process.process.pid}" in said
    with process.client() as client:
        assert client.call("health_check")["ok"]


def test_what_a_dead_service_left_is_taken_over(process: ServiceProcess) -> None:
    before = process.address
    process.kill()
    assert Path(before).exists(), "it had no chance to clear it away"
    second = ServiceProcess(process.root).wait_until_ready()
    with second.client() as client:
        assert client.call("knowledge_records")["total"] == 2
    assert (process.root / ".vault-kg/service.pid").read_text() == f"{second.process.pid}\n"
    assert second.stop() == 0


def test_the_socket_is_of_mode_0600_from_its_first_moment(served: Running) -> None:
    assert Path(served.address).stat().st_mode & 0o7777 == 0o600


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_another_user_is_refused_even_where_the_mode_would_let_him(small: VaultBox) -> None:
    mended = [small.root.parent, small.root, small.root / ".vault-kg"]
    for folder in mended:
        folder.chmod(0o755)
    started = ServiceProcess(small.root).wait_until_ready()
    try:
        assert _ask_as(65534, started.address) == "refused"
        Path(started.address).chmod(0o666)
        assert _ask_as(65534, started.address) == "closed"
        assert _ask_as(0, started.address) == "answered"
    finally:
        assert started.stop() == 0


def _ask_as(user: int, address: str) -> str:
    """Ask for the health in a child of another user; returns what came of it."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        said = b"failed"
        try:
            os.setuid(user)
            said = _ask(address)
        finally:
            os.write(writing, said)
            os._exit(0)
    os.waitpid(child, 0)
    os.close(writing)
    with os.fdopen(reading, "rb") as said:
        return said.read().decode()


def _ask(address: str) -> bytes:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(10)
        try:
            client.connect(address)
            client.sendall(b'{"jsonrpc":"2.0","id":1,"method":"health_check"}\n')
            return b"answered" if client.recv(100) else b"closed"
        except PermissionError:
            return b"refused"
        except ConnectionError:
            return b"closed"


def test_a_service_that_cannot_be_found_any_more_ends(small: VaultBox) -> None:
    running = Running(small.root)
    Path(running.address).unlink()
    running.thread.join(10)
    assert not running.thread.is_alive()


def test_a_service_whose_folder_was_made_anew_ends_and_leaves_its_successor_alone(
    process: ServiceProcess, tmp_path: Path
) -> None:
    private = process.root / ".vault-kg"
    private.rename(process.root.parent / "away")
    shutil.copytree(process.root.parent / "away", private, ignore=_no_service_files)
    second = ServiceProcess(process.root).wait_until_ready()
    assert process.process.wait(10) == 0
    with second.client() as client:
        assert client.call("knowledge_records")["total"] == 2
    assert second.stop() == 0


def _no_service_files(_: str, names: list[str]) -> list[str]:
    return [name for name in names if name.startswith("service.")]


# Names


def test_the_actor_that_the_operator_gave_stands(small: VaultBox) -> None:
    running = Running(small.root, actor="operator")
    try:
        with running.client() as client:
            page = {"type": "Person", "title": "Grace"}
            made = client.call("knowledge_save_page", requestId="s-1", _actor="boss", **page)
            assert made["actor"] == "operator"
    finally:
        running.stop()


def test_the_actor_in_the_history_is_one_printable_line(served: Running, small: VaultBox) -> None:
    with served.client() as client:
        receipt = client.call(
            "knowledge_save_page", requestId="a", type="Person", title="X",
            _actor="Mallory\nVault-Guard: all \x07" + "y" * 500,
        )  # fmt: skip
    assert receipt["actor"].startswith("Mallory Vault-Guard: all y")
    assert len(receipt["actor"]) == 100


def test_messages_with_any_text_come_back_whole(served: Running) -> None:
    title = 'Ω 東京 🜚 "quoted" \\ end'
    with served.client() as client:
        receipt = client.call("knowledge_save_page", requestId="t", type="Topic", title=title)
        assert client.call("knowledge_get", id=receipt["targetId"])["title"] == title
        client.send(b'{"jsonrpc":"2.0","id":"\\ud800","method":"health_check"}')
        assert client.read()["id"] == "\ud800"


def test_threads_of_many_clients_share_one_service(served: Running) -> None:
    failures: list[str] = []

    def work(number: int) -> None:
        with Client(served.address) as client:
            for step in range(5):
                title = f"T{number}-{step}"
                client.call("knowledge_save_page", requestId=title, type="Topic", title=title)
                if client.call("knowledge_lookup", text=title)["record"]["title"] != title:
                    failures.append(title)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not failures
    with served.client() as client:
        assert client.call("knowledge_records", limit=1)["total"] == 42
