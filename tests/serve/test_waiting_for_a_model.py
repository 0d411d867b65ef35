"""While a model reads, others write: documents that are read in take nobody's turn."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.serve.served import Client, Running, until
from vault_kg.serve.connection import TURNS
from vault_kg.serve.service import THREADS

SAYS_NOTHING = {
    "id": "1", "object": "chat.completion", "created": 0, "model": "slow",
    "choices": [{"index": 0, "finish_reason": "stop",
                 "message": {"role": "assistant", "content": '{"entities": []}'}}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
}  # fmt: skip


class SlowModel(ThreadingHTTPServer):
    """A model behind an endpoint on loopback that answers when the test lets it."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.waiting = 0
        self.may_answer = threading.Event()


class _Handler(BaseHTTPRequestHandler):
    server: SlowModel

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.waiting += 1
        self.server.may_answer.wait(30)
        data = json.dumps(SAYS_NOTHING).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowModel]:
    pytest.importorskip("openai")
    made = SlowModel()
    threading.Thread(target=made.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{made.server_address[1]}/v1"
    monkeypatch.setenv("VAULT_KG_EXTRACTION_ENDPOINT", url)
    monkeypatch.setenv("VAULT_KG_EXTRACTION_MODEL", "slow")
    yield made
    made.may_answer.set()
    made.shutdown()
    made.server_close()


def test_others_write_while_a_model_reads(served: Running, model: SlowModel) -> None:
    many = max(THREADS.values()) + 1
    readers: list[tuple[Client, list[int]]] = []
    for first in range(0, many, TURNS):
        client = served.client()
        asked = [
            client.ask(
                "knowledge_process_chunk", chunk_text=f"Text number {n}.", chunk_id=str(n),
                source_file="notes.txt",
            )
            for n in range(first, min(first + TURNS, many))
        ]  # fmt: skip
        readers.append((client, asked))
    until(lambda: model.waiting >= min(many, min(THREADS.values())))
    with served.client() as writer:
        page = {"requestId": "p", "type": "Person", "title": "Somebody else"}
        assert writer.call("knowledge_save_page", **page)["changed"]
    assert not model.may_answer.is_set(), "it was written while the model was still waited for"
    model.may_answer.set()
    for client, asked in readers:
        for request in asked:
            assert "result" in client.answer(request)
        client.close()
