from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_kg.errors import Ambiguous, IdentityRefused, InvalidArgument, NotFound, Unavailable
from vault_kg.serve import rpc
from vault_kg.serve.rpc import MISSING, Call, Malformed

ANY_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def line(**message: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode()


def one(raw: bytes) -> Call | Malformed:
    found, is_batch = rpc.read(raw)
    assert not is_batch
    assert len(found) == 1
    return found[0]


def call_of(raw: bytes) -> Call:
    found = one(raw)
    assert isinstance(found, Call)
    return found


def error_of(raw: bytes) -> tuple[int, Any]:
    found = one(raw)
    assert isinstance(found, Malformed) and found.answer is not None
    return found.answer["error"]["code"], found.answer["id"]


@pytest.mark.parametrize("id", [1, 0, -7, 2.5, "a", "", None, 10**30])
def test_a_request_carries_its_id_and_named_arguments(id: Any) -> None:
    call = call_of(line(id=id, method="m", params={"a": 1}))
    assert (call.id, call.method, call.params) == (id, "m", {"a": 1})
    assert call.wants_answer


@pytest.mark.parametrize("params", [{}, {"params": {}}, {"params": None}])
def test_params_may_be_left_out(params: dict[str, Any]) -> None:
    assert call_of(line(id=1, method="m", **params)).params == {}


def test_a_request_without_an_id_is_a_notification() -> None:
    call = call_of(line(method="m"))
    assert call.id is MISSING
    assert not call.wants_answer


def test_what_concerns_the_transport_is_taken_out_of_the_arguments() -> None:
    given = {"_progress_token": "t", "_actor": " Ada\n L. ", "_partitions": ["a", "b"], "x": 1}
    call = call_of(line(id=1, method="m", params=given))
    assert (call.progress_token, call.actor, call.params) == ("t", "Ada L.", {"x": 1})
    assert call.partitions == {"a", "b"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"_progress_token": []}, {"_progress_token": True}, {"_actor": 1}, {"_actor": ""},
        {"_actor": "\n"}, {"_partitions": "main"}, {"_partitions": [1]},
    ],
)  # fmt: skip
def test_what_concerns_the_transport_is_typed(wrong: dict[str, Any]) -> None:
    assert error_of(line(id=1, method="m", params=wrong)) == (rpc.INVALID_PARAMS, 1)


@pytest.mark.parametrize(
    "raw",
    [
        b"{", b"nonsense", b"\xff\xfe", b'{"jsonrpc":"2.0","id":1,"method":"\xc3\x28"}', b"\x00",
        b'{"jsonrpc":"2.0","id":NaN,"method":"m"}', b"[" * 100_000, b'{"a":' * 50_000,
        b"9" * 10_000, b'\xef\xbb\xbf{"jsonrpc":"2.0"}', b'"\xed\xa0\x80"',
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "m"}).encode("utf-16"),
    ],
    ids=lambda raw: repr(raw[:20]),
)  # fmt: skip
def test_what_is_not_json_is_a_parse_error_of_no_request(raw: bytes) -> None:
    assert error_of(raw) == (rpc.PARSE_ERROR, None)


@pytest.mark.parametrize(
    ("raw", "id"),
    [
        (b"1", None), (b"null", None), (b'"text"', None), (b"{}", None),
        (b'{"id":1,"method":"m"}', 1), (b'{"jsonrpc":"1.0","id":"a","method":"m"}', "a"),
        (b'{"jsonrpc":2.0,"id":1,"method":"m"}', 1), (line(id=1), 1), (line(id=1, method=1), 1),
        (line(id=1, method=None), 1), (line(id=True, method="m"), None),
        (line(id=[1], method="m"), None), (line(id={}, method="m"), None),
        (b'{"jsonrpc":"2.0","id":1e999,"method":"m"}', None), (line(id=4, method="m", params=7), 4),
        (line(id=4, method="m", params="text"), 4),
    ],
)  # fmt: skip
def test_what_is_no_request_is_an_invalid_request(raw: bytes, id: Any) -> None:
    assert error_of(raw) == (rpc.INVALID_REQUEST, id)


def test_arguments_are_named_never_positional() -> None:
    assert error_of(line(id=1, method="m", params=[1])) == (rpc.INVALID_PARAMS, 1)


def test_a_wrong_notification_is_not_answered() -> None:
    for params in ([1], {"_actor": 1}):
        found = one(line(method="m", params=params))
        assert isinstance(found, Malformed)
        assert found.answer is None


def test_a_batch_is_read_item_by_item() -> None:
    found, is_batch = rpc.read(
        b"[" + b",".join([line(id=1, method="a"), b"1", line(method="b")]) + b"]"
    )
    assert is_batch
    kinds = [type(item) for item in found]
    assert kinds == [Call, Malformed, Call]


@pytest.mark.parametrize("count", [0, rpc.MAX_BATCH + 1])
def test_a_batch_of_none_or_too_many_is_one_error(count: int) -> None:
    assert error_of(json.dumps([1] * count).encode()) == (rpc.INVALID_REQUEST, None)


@given(st.binary(max_size=300))
def test_no_bytes_are_fatal(raw: bytes) -> None:
    for item in rpc.read(raw)[0]:
        assert isinstance(item, Call) or json.loads(rpc.encode(item.answer))["error"]["message"]


@given(ANY_JSON)
def test_no_json_is_fatal(value: Any) -> None:
    for item in rpc.read(json.dumps(value).encode())[0]:
        assert isinstance(item, Malformed)
        assert b"\n" not in rpc.encode(item.answer)[:-1]


@given(ANY_JSON)
def test_a_message_is_one_line_and_comes_back_equal(value: Any) -> None:
    raw = rpc.encode(value)
    assert raw.endswith(b"\n") and raw.count(b"\n") == 1
    assert json.loads(raw) == value


def test_a_lone_surrogate_survives_as_an_escape() -> None:
    assert json.loads(rpc.encode({"id": "\ud800"})) == {"id": "\ud800"}


def test_what_json_has_no_number_for_is_null() -> None:
    raw = rpc.encode({"a": [math.inf, {"b": math.nan}], "c": 1.5})
    assert json.loads(raw) == {"a": [None, {"b": None}], "c": 1.5}


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InvalidArgument("x"), -32602), (Unavailable("x"), -32001), (Ambiguous("x"), -32002),
        (NotFound("x"), -32000), (IdentityRefused("x"), -32003),
    ],
)  # fmt: skip
def test_a_refusal_keeps_its_stable_code_and_data(error: Any, code: int) -> None:
    error.data["place"] = "here"
    told = rpc.refusal(7, error)
    assert (told["id"], told["error"]["code"]) == (7, code)
    assert told["error"]["data"] == {"place": "here", "code": error.code}


def test_an_unknown_total_is_null_in_a_progress_frame() -> None:
    frame = rpc.progress(Call(3, "m", {}, "t"), 5, 0, "counting")
    assert frame == {
        "type": "progress", "id": 3, "token": "t", "progress": 5, "total": None,
        "message": "counting",
    }  # fmt: skip
