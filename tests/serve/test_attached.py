"""Attached mode: what a caller meets when the service is slow, lost, restarted or confused."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.serve.fake_service import FakeService, Peer, echo
from tests.serve.long_operations import ENDED, GATES, STARTED
from tests.serve.served import Running, ServiceProcess, until
from vault_kg.errors import (
    Cancelled,
    InvalidArgument,
    NotFound,
    ScopeDenied,
    Unavailable,
    VaultError,
)
from vault_kg.operations import registry
from vault_kg.operations.caller import Caller
from vault_kg.serve import attached
from vault_kg.serve.attached import Attached

IDLE = 0.8
AGENT = Caller("Agent", frozenset({"read", "write", "admin"}))
LOOKUP = "knowledge_lookup"
LARGE = "x" * 8_000_000
"""More than the buffers of a socket take, so that a write is met in the middle."""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "service.sock"


@pytest.fixture
def agent(place: Path) -> Iterator[Attached]:
    made = Attached(lambda: str(place), IDLE)
    yield made
    made.stop()


@pytest.fixture
def patient(place: Path) -> Iterator[Attached]:
    """One for what takes a busy machine its time."""
    made = Attached(lambda: str(place), 60.0)
    yield made
    made.stop()


def ask(agent: Attached, text: str = "a", caller: Caller = AGENT) -> Any:
    return agent.call(LOOKUP, {"text": text}, caller)["asked"]


def lost(agent: Attached, text: str = "a") -> str:
    """Call what must fail as unavailable, in bounded time; returns what is said."""
    began = time.monotonic()
    with pytest.raises(Unavailable) as caught:
        ask(agent, text)
    assert time.monotonic() - began < 5 * IDLE + 2
    return caught.value.message


def until_unfit(agent: Attached) -> None:
    """Wait until the kept connection was closed, or spoken over."""
    until(lambda: not agent._free[0].is_alive())


# Dialling


def test_nothing_is_dialled_before_the_first_call(place: Path, agent: Attached) -> None:
    with FakeService(place, echo) as service:
        agent.start()
        assert service.connections == 0
        assert ask(agent) == "a"
        assert service.connections == 1


def test_without_a_service_a_call_says_where_and_what_to_do_and_a_later_one_works(
    place: Path, agent: Attached
) -> None:
    for _ in range(2):
        said = lost(agent)
        assert str(place) in said
        assert "vault-kg serve" in said
    with FakeService(place, echo):
        assert ask(agent) == "a"


def test_a_socket_that_nobody_serves_is_no_service(place: Path, agent: Attached) -> None:
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(place))
    left.close()
    assert "no service answers" in lost(agent)


def test_an_eager_check_dials_now_and_the_connection_is_used(place: Path, agent: Attached) -> None:
    with pytest.raises(Unavailable):
        agent.check()
    with FakeService(place, echo) as service:
        agent.check()
        assert ask(agent) == "a"
        assert service.connections == 1


def test_the_address_is_asked_again_at_each_dialling(tmp_path: Path) -> None:
    places = [tmp_path / "one.sock", tmp_path / "two.sock"]
    agent = Attached(lambda: str(places[0]), IDLE)

    def one_call(peer: Peer) -> None:
        peer.answer(peer.request(), asked="first")

    with FakeService(places[0], one_call), FakeService(places[1], echo):
        assert ask(agent) == "first"
        until_unfit(agent)
        places.pop(0)
        assert ask(agent, "second") == "second"


def test_one_connection_serves_call_after_call(place: Path, agent: Attached) -> None:
    with FakeService(place, echo) as service:
        assert [ask(agent, str(n)) for n in range(20)] == [str(n) for n in range(20)]
        assert service.connections == 1
        ids = [request["id"] for request in service.received]
        assert len(set(ids)) == 20


def test_calls_at_the_same_time_do_not_wait_for_each_other(place: Path, agent: Attached) -> None:
    both = threading.Barrier(2)

    def meet(peer: Peer) -> None:
        request = peer.request()
        both.wait(10)
        peer.answer(request, asked=request["params"]["text"])

    with FakeService(place, meet):
        answers: dict[str, Any] = {}
        threads = [
            threading.Thread(target=lambda n=n: answers.update({n: ask(agent, n)})) for n in "ab"
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)
    assert answers == {"a": "a", "b": "b"}


# A break, at each moment


def test_a_connection_that_was_closed_between_calls_is_replaced(
    place: Path, agent: Attached
) -> None:
    def one_call(peer: Peer) -> None:
        peer.answer(peer.request(), asked="first")

    with FakeService(place, one_call, echo) as service:
        assert ask(agent) == "first"
        until_unfit(agent)
        assert ask(agent, "second") == "second"
        assert (service.connections, len(service.received)) == (2, 2)


def test_a_break_while_writing_is_retried_once_over_a_new_connection(
    place: Path, patient: Attached
) -> None:
    def read_a_little(peer: Peer) -> None:
        peer.socket.recv(1_000)

    with FakeService(place, read_a_little, echo) as service:
        assert ask(patient, LARGE) == LARGE
        assert service.connections == 2
        assert len(service.received) == 1, "it was never there whole but once"


def test_a_break_while_writing_on_a_kept_connection_is_retried(
    place: Path, patient: Attached
) -> None:
    def one_call_then_a_little(peer: Peer) -> None:
        peer.answer(peer.request(), asked="first")
        peer.socket.recv(1_000)

    with FakeService(place, one_call_then_a_little, echo) as service:
        assert ask(patient) == "first"
        assert ask(patient, LARGE) == LARGE
        assert (service.connections, len(service.received)) == (2, 2)


def test_it_is_retried_no_more_than_once(place: Path, patient: Attached) -> None:
    def read_a_little(peer: Peer) -> None:
        peer.socket.recv(1_000)

    with FakeService(place, read_a_little) as service:
        assert "no service answers" in lost(patient, LARGE)
        assert (service.connections, service.received) == (2, [])


@pytest.mark.parametrize("half", [b"", b'{"jsonrpc":"2.0","id":1,"resu'])
def test_a_break_after_the_request_is_never_retried(
    place: Path, agent: Attached, half: bytes
) -> None:
    def break_off(peer: Peer) -> None:
        peer.request()
        peer.say(half)

    with FakeService(place, break_off, echo) as service:
        said = lost(agent)
        assert "connection lost mid-call" in said
        assert "requestId" in said
        assert len(service.received) == 1
        assert ask(agent, "next") == "next"
        assert (service.connections, len(service.received)) == (2, 2)


def test_a_break_after_progress_is_not_retried(place: Path, agent: Attached) -> None:
    def break_off(peer: Peer) -> None:
        peer.progress(peer.request(), 3)

    with FakeService(place, break_off, echo) as service:
        assert "connection lost mid-call" in lost(agent)
        assert len(service.received) == 1


# Silence


def test_silence_is_ended_by_the_idle_time_and_the_next_call_is_fresh(
    place: Path, agent: Attached
) -> None:
    def say_nothing(peer: Peer) -> None:
        peer.request()
        assert peer.is_left(), "hanging up is how the service learns of it"

    with FakeService(place, say_nothing, echo) as service:
        began = time.monotonic()
        assert f"said nothing for {IDLE:g} s" in lost(agent)
        assert time.monotonic() - began >= IDLE
        assert ask(agent, "next") == "next"
        assert len(service.received) == 2


def test_each_line_of_progress_re_arms_the_idle_time(place: Path, agent: Attached) -> None:
    def take_long(peer: Peer) -> None:
        request = peer.request()
        for step in range(8):
            time.sleep(IDLE / 2)
            peer.progress(request, step)
        time.sleep(IDLE / 2)
        peer.answer(request, asked="at last")

    told: list[tuple[int, int, str]] = []
    caller = replace(AGENT, report=lambda *said: told.append(said))
    with FakeService(place, take_long):
        assert ask(agent, caller=caller) == "at last"
    assert told == [(step, 10, f"step {step}") for step in range(8)]


def test_silence_after_progress_is_ended_too(place: Path, agent: Attached) -> None:
    def fall_silent(peer: Peer) -> None:
        peer.progress(peer.request(), 1)
        peer.is_left()

    with FakeService(place, fall_silent):
        assert "said nothing" in lost(agent)


def test_lines_of_other_calls_do_not_keep_a_call_waiting(place: Path, agent: Attached) -> None:
    def talk_of_others(peer: Peer) -> None:
        request = peer.request()
        other = {**request, "id": request["id"] + 1_000}
        while True:
            time.sleep(0.02)
            peer.progress(other, 1)

    with FakeService(place, talk_of_others):
        assert "said nothing" in lost(agent)


def test_bytes_without_an_end_do_not_keep_a_call_waiting(place: Path, agent: Attached) -> None:
    def trickle(peer: Peer) -> None:
        peer.request()
        while True:
            time.sleep(0.02)
            peer.say(b" ")

    with FakeService(place, trickle):
        assert "said nothing" in lost(agent)


def test_a_service_that_takes_no_connection_or_no_bytes_is_given_up(
    place: Path, agent: Attached
) -> None:
    with FakeService(place):
        assert "said nothing" in lost(agent)
        assert "no service answers" in lost(agent, LARGE)


def test_a_full_queue_of_connections_is_waited_for_and_given_up_in_time(
    place: Path, agent: Attached
) -> None:
    with FakeService(place, backlog=0):
        others = [socket.socket(socket.AF_UNIX) for _ in range(3)]
        for other in others:
            other.setblocking(False)
            other.connect_ex(str(place))
        assert "no service answers" in lost(agent)


# Confusion


def test_a_late_reply_is_never_the_answer_of_the_next_call(place: Path, agent: Attached) -> None:
    late = threading.Event()
    first: dict[str, Any] = {}

    def answer_late(peer: Peer) -> None:
        first.update(peer.request())
        late.wait(10)
        peer.answer(first, asked="late")

    def answer_the_first_again(peer: Peer) -> None:
        request = peer.request()
        peer.answer(first, asked="late")
        peer.progress(first, 1)
        peer.answer(request, asked="right")

    with FakeService(place, answer_late, answer_the_first_again):
        assert "said nothing" in lost(agent)
        late.set()
        assert ask(agent) == "right"


def test_what_was_said_unasked_makes_a_kept_connection_unfit(place: Path, agent: Attached) -> None:
    def say_more(peer: Peer) -> None:
        request = peer.request()
        peer.answer(request, asked="first")
        peer.say({"jsonrpc": "2.0", "id": request["id"] + 1, "result": {"asked": "forged"}})
        peer.is_left()

    with FakeService(place, say_more, echo) as service:
        assert ask(agent) == "first"
        until_unfit(agent)
        assert ask(agent, "second") == "second"
        assert service.connections == 2


@pytest.mark.parametrize("line", [b"nonsense\n", b"\xff\n", b"[1]\n", b"7\n", b"{}\n", b"\n"])
def test_what_is_no_message_loses_the_call_only(place: Path, agent: Attached, line: bytes) -> None:
    def confuse(peer: Peer) -> None:
        peer.request()
        peer.say(line)
        peer.is_left()

    with FakeService(place, confuse, echo):
        assert "connection lost mid-call" in lost(agent)
        assert ask(agent, "next") == "next"


def test_an_error_of_no_request_is_the_answer_of_the_only_one(place: Path, agent: Attached) -> None:
    def refuse_the_line(peer: Peer) -> None:
        peer.request()
        error = {"code": -32600, "message": "too long", "data": {"code": "invalid_request"}}
        peer.say({"jsonrpc": "2.0", "id": None, "error": error})

    with FakeService(place, refuse_the_line), pytest.raises(VaultError) as caught:
        ask(agent)
    assert caught.value.to_dict() == {"code": "invalid_request", "message": "too long", "data": {}}


@pytest.mark.parametrize("error", [{}, None, "text", {"code": 1}, {"message": 5, "data": None}])
def test_a_strange_error_is_still_a_refusal(place: Path, agent: Attached, error: Any) -> None:
    def refuse(peer: Peer) -> None:
        peer.say({"jsonrpc": "2.0", "id": peer.request()["id"], "error": error})

    with FakeService(place, refuse), pytest.raises(VaultError) as caught:
        ask(agent)
    assert caught.value.to_dict()["code"] == "error"


# Taking back


def test_a_call_that_is_taken_back_hangs_up_at_once(place: Path, agent: Attached) -> None:
    left = threading.Event()
    taken_back = threading.Event()

    def wait(peer: Peer) -> None:
        request = peer.request()
        taken_back.set()
        with contextlib.suppress(OSError):  # it may have hung up before the progress was said
            peer.progress(request, 1)
            peer.is_left()
        left.set()

    with FakeService(place, wait, echo), pytest.raises(Cancelled):
        ask(agent, caller=replace(AGENT, cancelled=taken_back.is_set))
    assert left.wait(5)


# What this process does not let through


def test_what_is_not_let_through_is_refused_without_the_service(
    place: Path, agent: Attached
) -> None:
    reader = Caller("Agent", frozenset({"read"}))
    with FakeService(place, echo) as service:
        for error, name, arguments, caller in (
            (ScopeDenied, "knowledge_withdraw", {}, reader),
            (NotFound, "no_such_operation", {}, AGENT),
            (NotFound, "knowledge_close", {}, AGENT),
            (NotFound, "health_check", {}, AGENT),
            (InvalidArgument, LOOKUP, {"text": "a", "_actor": "Forged"}, AGENT),
        ):
            with pytest.raises(error):
                agent.call(name, arguments, caller)
        assert service.connections == 0


def test_closing_is_let_through_only_where_it_was_allowed_and_for_admins(place: Path) -> None:
    agent = Attached(lambda: str(place), IDLE, allow_close=True)
    with FakeService(place, echo) as service:
        with pytest.raises(ScopeDenied):
            agent.call("knowledge_close", {}, Caller("Agent", frozenset({"read", "write"})))
        agent.call("knowledge_close", {}, AGENT)
        assert [request["method"] for request in service.received] == ["knowledge_close"]


def test_who_acts_and_what_is_seen_go_with_each_call(place: Path, agent: Attached) -> None:
    with FakeService(place, echo) as service:
        ask(agent, caller=replace(AGENT, actor="Ada", partitions=frozenset({"b", "a"})))
        params = service.received[0]["params"]
    assert params["_actor"] == "Ada"
    assert params["_partitions"] == ["a", "b"]
    assert params["_progress_token"] == service.received[0]["id"]


@pytest.mark.parametrize("given", ["0", "-1", "soon", "nan", "inf"])
def test_the_idle_time_of_the_environment_is_a_number_of_seconds(
    monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    monkeypatch.setenv(attached.IDLE_ENVIRONMENT, given)
    with pytest.raises(InvalidArgument, match=attached.IDLE_ENVIRONMENT):
        Attached(str)
    monkeypatch.setenv(attached.IDLE_ENVIRONMENT, "2.5")
    assert Attached(str)._idle == 2.5


# The real service


@pytest.fixture
def client(served: Running) -> Iterator[Attached]:
    made = Attached(lambda: served.address, 10)
    yield made
    made.stop()


def test_answers_and_refusals_are_those_of_the_registry(served: Running, client: Attached) -> None:
    workspace = served.keeper.workspace()
    for name, arguments in (
        ("knowledge_records", {}),
        ("knowledge_lookup", {"text": "Ada Lovelace"}),
        ("knowledge_lookup", {"text": "nobody"}),
        ("knowledge_records", {"limt": 1, "limit": "x"}),
        ("knowledge_get", {"id": "pg_01kh0000000000000000000009"}),
    ):
        outcomes = []
        for call in (client.call, lambda *a: registry.call(workspace, *a)):
            try:
                outcomes.append(call(name, arguments, AGENT))
            except VaultError as error:
                outcomes.append(error.to_dict())
        assert outcomes[0] == outcomes[1]


def test_the_scopes_of_the_service_hold_whatever_the_client_is_given(
    served: Running, client: Attached
) -> None:
    served.service.caller = Caller("socket", frozenset({"read"}))
    with pytest.raises(VaultError) as caught:
        client.call("knowledge_save_page", {}, AGENT)
    assert caught.value.to_dict()["code"] == "scope_denied"
    assert caught.value.data == {"scope": "write"}


def test_a_long_call_reports_and_outlasts_the_idle_time(served: Running) -> None:
    told: list[tuple[int, int, str]] = []
    agent = Attached(lambda: served.address, 1.0)
    steps = {"steps": 30, "pause": 0.08}
    caller = replace(AGENT, report=lambda *said: told.append(said))
    assert agent.call("stepwise", steps, caller)["said"] == "30 steps"
    assert len(told) > 5
    assert told[-1] == (30, 30, "done")


def test_taking_a_call_back_ends_it_between_steps(served: Running, client: Attached) -> None:
    caller = replace(AGENT, cancelled=lambda: STARTED["back"].is_set())
    steps = {"name": "back", "steps": 10_000, "pause": 0.02, "silent": True}
    with pytest.raises(Cancelled):
        client.call("stepwise", steps, caller)
    assert until(lambda: "back" in ENDED)
    assert ENDED["back"] < 10_000


def test_falling_silent_ends_what_was_at_work(served: Running) -> None:
    agent = Attached(lambda: served.address, 0.3)
    steps = {"name": "silent", "steps": 10_000, "pause": 0.02, "silent": True}
    with pytest.raises(Unavailable, match="said nothing"):
        agent.call("stepwise", steps, AGENT)
    assert until(lambda: "silent" in ENDED)


def test_an_answer_that_is_larger_than_any_buffer_comes_whole(client: Attached) -> None:
    assert len(client.call("padded", {"size": 20_000_000}, AGENT)["said"]) == 20_000_000


def test_a_request_that_is_too_long_is_refused_not_lost(client: Attached) -> None:
    with pytest.raises(VaultError, match="a line has at most") as caught:
        client.call(LOOKUP, {"text": "x" * 17_000_000}, AGENT)
    assert caught.value.to_dict()["code"] == "invalid_request"
    assert client.call("knowledge_records", {}, AGENT)["total"] == 2


def test_a_service_that_is_killed_and_started_again_is_found_again(
    process: ServiceProcess, long: None
) -> None:
    agent = Attached(lambda: process.address, 10)
    assert agent.call("knowledge_records", {}, AGENT)["total"] == 2
    failed: list[VaultError] = []

    def work() -> None:
        try:
            agent.call("stepwise", {"steps": 10_000}, replace(AGENT, report=lambda *_: begun.set()))
        except VaultError as error:
            failed.append(error)

    begun = threading.Event()
    thread = threading.Thread(target=work)
    thread.start()
    assert begun.wait(10)
    process.kill()
    thread.join(5)
    assert "connection lost mid-call" in failed[0].message
    with pytest.raises(Unavailable, match="no service answers"):
        agent.call("knowledge_records", {}, AGENT)
    again = ServiceProcess(process.root).wait_until_ready()
    assert agent.call("knowledge_records", {}, AGENT)["total"] == 2
    assert again.stop() == 0


def test_many_threads_share_one_client(served: Running, client: Attached) -> None:
    GATES["many"].set()
    failures: list[Any] = []

    def work(number: int) -> None:
        for step in range(10):
            gate = f"{number}-{step}"
            GATES[gate].set()
            if client.call("gated", {"gate": gate}, AGENT)["said"] != gate:
                failures.append(gate)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not failures
