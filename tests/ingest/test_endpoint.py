"""A model behind an OpenAI-compatible endpoint: forms, retries, limits, over real HTTP."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.ingest.conftest import Library
from tests.ingest.oracle import Oracle
from vault_kg.errors import Cancelled, Unavailable
from vault_kg.ingest import configured
from vault_kg.ingest.asking import Question
from vault_kg.ingest.endpoint import Endpoint

pytest.importorskip("openai")
FORM = {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}}
QUESTION = Question("system", "<document>\nAda\n</document>", {
    "type": "object", "properties": {"entities": FORM}})  # fmt: skip


class Api(ThreadingHTTPServer):
    """An endpoint on loopback that answers as told: with statuses first, then as the oracle."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.oracle = Oracle()
        self.body: tuple[str, bytes] | None = None
        """What it says whatever it is asked: media type and content."""
        self.statuses: list[int] = []
        self.refused_forms: dict[str, int] = {}
        self.finish = "stop"
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str | None] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: Api

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(body)
        self.server.keys.append(self.headers.get("Authorization"))
        form = body["response_format"]
        kind = form["type"] + ("+schema" if "schema" in form else "")
        status = self.server.statuses.pop(0) if self.server.statuses else 200
        if kind in self.server.refused_forms:
            status = self.server.refused_forms[kind]
        about = "response_format" if kind in self.server.refused_forms else "it"
        problem = {"error": {"message": f"no, {about} is not taken"}}
        self._send(status, self._answer(body) if status == 200 else problem)

    def _answer(self, body: dict[str, Any]) -> dict[str, Any]:
        user = body["messages"][1]["content"]
        keys = ["entities"] if "List everything" in user else ["relations", "claims"]
        schema = {"properties": dict.fromkeys(keys, FORM)}
        text = self.server.oracle.ask(Question("", user, schema), 0, lambda: False).text
        return {
            "id": "1", "object": "chat.completion", "created": 0, "model": body["model"],
            "choices": [{"index": 0, "finish_reason": self.server.finish,
                         "message": {"role": "assistant", "content": f"```json\n{text}\n```"}}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 7, "total_tokens": 8},
        }  # fmt: skip

    def _send(self, status: int, value: dict[str, Any]) -> None:
        kind, data = self.server.body or ("application/json", json.dumps(value).encode())
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def api() -> Iterator[Api]:
    server = Api()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def asked(api: Api, **more: Any) -> Endpoint:
    return Endpoint(api.url, "big-model", None, call_seconds=10, **{"waits": (0.0, 0.0)} | more)


def never() -> bool:
    return False


def test_a_document_is_read_through_an_endpoint(
    vault: Library, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    api.oracle.thing("Ada Lovelace").claim("Ada Lovelace", "Ada Lovelace wrote the notes.")
    monkeypatch.setenv(configured.MODEL, "big-model")
    monkeypatch.setenv(configured.ENDPOINT, api.url)
    monkeypatch.setenv(configured.KEY, "secret")
    done = vault.ingest("Ada Lovelace wrote the notes.\n")
    assert (done["model"], done["calls"], done["tokens"]) == ("big-model", 2, 14)
    assert done["claims_extracted"] == 1 and api.keys == ["Bearer secret"] * 2
    assert api.asked[0]["response_format"]["json_schema"]["schema"]["required"] == ["entities"]
    assert api.asked[0]["max_tokens"] == 512 and api.asked[0]["temperature"] == 0


@pytest.mark.parametrize("status", [429, 500, 503])
def test_what_may_work_later_is_tried_again(api: Api, status: int) -> None:
    api.statuses = [status, status]
    answer = asked(api).ask(QUESTION, 100, never)
    assert answer.complete and answer.tokens == 7 and len(api.asked) == 3


def test_it_is_not_tried_for_ever(api: Api) -> None:
    api.statuses = [503] * 9
    with pytest.raises(Unavailable, match=r"big-model at http://127\.0\.0\.1"):
        asked(api).ask(QUESTION, 100, never)
    assert len(api.asked) == 3


def test_what_cannot_work_later_is_not_tried_again(api: Api) -> None:
    api.statuses = [401]
    with pytest.raises(Unavailable, match="gave no answer"):
        asked(api).ask(QUESTION, 100, never)
    assert len(api.asked) == 1


def test_an_endpoint_is_told_the_form_in_the_way_that_it_takes(api: Api) -> None:
    api.refused_forms = {"json_schema": 500, "json_object+schema": 400}
    endpoint = asked(api)
    endpoint.ask(QUESTION, 100, never)
    endpoint.ask(QUESTION, 100, never)
    forms = [body["response_format"]["type"] for body in api.asked]
    assert forms == ["json_schema", "json_object", "json_object", "json_object"]
    said = [body["messages"][1]["content"] for body in api.asked]
    assert "Answer with one JSON object" in said[2] and "Answer with" not in said[0]


def test_an_answer_at_the_limit_is_not_complete(api: Api) -> None:
    api.finish = "length"
    assert not asked(api).ask(QUESTION, 100, never).complete


def test_waiting_ends_when_the_caller_goes(api: Api) -> None:
    api.statuses = [503] * 9
    with pytest.raises(Cancelled):
        asked(api, waits=(60.0,)).ask(QUESTION, 100, lambda: True)


def test_nobody_there_is_told() -> None:
    endpoint = Endpoint("http://127.0.0.1:9/v1", "m", None, call_seconds=1, waits=())
    with pytest.raises(Unavailable, match="gave no answer"):
        endpoint.ask(QUESTION, 100, never)


@pytest.mark.parametrize(
    "body",
    [("text/html", b"<html>hello</html>"), ("application/json", b"not json"),
     *(("application/json", json.dumps(value).encode()) for value in (
         None, [], "x", {}, {"choices": []}, {"choices": None}, {"choices": [{}]},
         {"choices": [{"message": None}]}, {"choices": [{"message": {"content": [7]}}]},
         {"choices": [{"message": {"content": "{}"}}], "usage": {"completion_tokens": "many"}},
     ))],
)  # fmt: skip
def test_what_is_no_api_of_this_kind_is_said(api: Api, body: tuple[str, bytes]) -> None:
    api.body = body
    with pytest.raises(Unavailable, match="no OpenAI-compatible API"):
        asked(api).ask(QUESTION, 100, never)


def test_an_answer_needs_to_say_no_more_than_what_is_read(api: Api) -> None:
    said = {"choices": [{"message": {"content": "{}"}}], "usage": {}}
    api.body = ("application/json", json.dumps(said).encode())
    answer = asked(api).ask(QUESTION, 100, never)
    assert (answer.text, answer.complete, answer.tokens) == ("{}", True, 0)
