"""Every read that there is, asked in many ways by one who sees a part: no word, id or title of the rest.

The arguments come from each operation's schema, so that an operation that is new is asked, too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.operations.builder import Clock, VaultBox
from tests.operations.conftest import fast_folder
from vault_kg.errors import VaultError
from vault_kg.operations import registry
from vault_kg.operations.caller import Caller

PUB = Caller("pub", partitions=frozenset({"pub"}))
SECRET = "Zugzwang"

READS = sorted(
    name
    for name, found in registry.operations().items()
    if found.read_only and not found.asks_model
)
_IDS = re.compile(r"(^id$|_id$|Id$|uuid|ids$|artifact|owner|source$|^from$|^to$|symbol|uid)")
_NO_RECORD = {
    "session_id", "sessionId", "board_id", "boardId", "group_ids", "group_id", "expectedVaultId",
    "job_id", "chunk_id", "conflictId", "task_id", "requestId", "request_id",
}  # fmt: skip
_TEXTS = {"text", "query", "q", "topic", "area", "name", "symbol", "pattern", "name_prefix"}
_GIVEN = {
    "q": "Ada",
    "query": "MATCH (a)-[r]->(b) RETURN a, r, b",
    "job_id": "x",
    "new_name": "Ade",
}
"""What is given for a key that is required."""
_WORDS = ("Ada", "Old claim", "secret", "a to b", "Dec")


class Divided(VaultBox):
    """Records of a visible partition that name hidden ones in every way, in every state."""

    def fill(self) -> None:
        seen = [{"source": self.source("Seen words.\n", "seen.txt", partition="pub")}]
        unseen = self.source(f"{SECRET} words.\n", "unseen.txt", partition="sec")
        hidden = self.page(f"{SECRET} Xavier", partition="sec", body=f"{SECRET} body.")
        other = self.page(f"{SECRET} choice", "Decision", partition="sec")
        ada = self.page("Ada", partition="pub", body="Ada knows [[Bob]].")
        bob = self.page("Bob", partition="pub")
        dec, second = (self.page(t, "Decision", partition="pub") for t in ("Dec", "Dec two"))
        of_pub: dict[str, Any] = {"partition": "pub", "evidence": seen}
        of_sec: dict[str, Any] = {"partition": "sec", "evidence": [{"source": unseen}]}
        about = [
            self.claim(hidden, f"{SECRET} is on [[Ada]], not [[Nowhere]].", **of_pub),
            self.claim(ada, f"{SECRET} on Ada.", **of_sec),
            self.relationship(ada, hidden, fact=f"{SECRET} a to x.", **of_pub),
            self.relationship(ada, bob, fact=f"{SECRET} a to b.", **of_sec),
            self.relationship(dec, other, "contradicts", f"{SECRET} differs.", **of_pub),
        ]
        shown = [
            self.claim(ada, "It names others.", entities=[hidden, bob], **of_pub),
            self.relationship(ada, bob, fact="a to b", **of_pub),
            self.relationship(dec, second, "depends_on", "It needs it.", **of_pub),
        ]
        old = self.claim(ada, "Old claim", **of_pub)
        new = self.claim_values(hidden, f"{SECRET} replaces it.", **of_pub)
        print_ = self.call("knowledge_ontology", partition="pub")["fingerprint"]
        done = self.correct(old, new, expectedOntologyFingerprint=print_)
        gone = self.claim(hidden, f"{SECRET} is gone.", **of_pub)
        self.withdraw(gone)
        moved = self.page("Moved", partition="sec", body=f"{SECRET} draft.")
        self.change(moved, body="For everybody.")
        self.path(moved).rename(self.root / "pub/pages/person/moved.md")
        self.put("sec/note.md", f"# {SECRET} note\n[[Ada]] [[missing thing]]\n")
        self.put("pub/note.md", "# Seen note\n[[Ada]]\n")
        self.scan()
        self.hidden = [hidden, other, *about, done["replacementId"], gone, unseen]
        self.seen = [ada, bob, dec, *shown, old, moved, seen[0]["source"]]
        self.commit = self.git("rev-parse", "HEAD")


@pytest.fixture(scope="module")
def divided() -> Iterator[Divided]:
    with pytest.MonkeyPatch.context() as patch, fast_folder() as name:
        patch.setenv("VAULT_KG_EMBEDDING_MODEL", "off")
        box = Divided(Path(name) / "vault", Clock())
        box.fill()
        yield box
        box.ws.close()


def asked(box: Divided, name: str) -> Iterator[dict[str, Any]]:
    """Yield many ways to ask an operation, of seen and hidden things."""
    schema = registry.operations()[name].request.model_json_schema(by_alias=True)
    known: dict[str, dict[str, Any]] = schema.get("properties", {})
    always: dict[str, Any] = {"cwd": "/tmp/none"} if "cwd" in known else {}
    for key in schema.get("required", ()):
        always[key] = _GIVEN.get(key, box.seen[0])
    moments = (
        {"revision": 10**6},
        {"time": "2027-01-01"},
        {"revision": 12},
        {"commit": box.commit},
    )
    settings: list[dict[str, Any]] = [
        {}, {"include_inactive": True}, {"lifecycle": "all"}, {"lifecycle": "historical"},
        {"diff": True}, {"depth": 3}, {"max_depth": 2}, {"revision": 1}, {"revision": 2},
        {"followMerges": False},
        *({key: moment} for key in ("asOf", "as_of") for moment in moments),
    ]  # fmt: skip
    for more in settings:
        if not set(more) <= set(known):
            continue
        yield always | more
        for key in known:
            if _IDS.search(key) and key not in _NO_RECORD:
                many = "array" in json.dumps(known[key])
                for uid in (*box.seen, *box.hidden):
                    yield always | more | {key: [uid] if many else uid}
            if key in _TEXTS:
                for text in _WORDS:
                    yield always | more | {key: text}


@pytest.mark.parametrize("name", READS)
def test_nothing_hidden_is_told(divided: Divided, name: str) -> None:
    answered = 0
    for arguments in asked(divided, name):
        try:
            answer: Any = registry.call(divided.ws, name, arguments, PUB)
            answered += 1
        except VaultError as error:
            answer = error.to_dict()
        told, given = json.dumps(answer, default=str), json.dumps(arguments)
        named = [word for word in (SECRET, *divided.hidden) if word in told and word not in given]
        assert named == [], (arguments, told[max(0, told.find(named[0]) - 200) :][:400])
    assert answered or name in UNANSWERED, "at least one way to ask it is a good one"


UNANSWERED = {
    "graph_path", "graph_rename_plan", "kg_get_similar_nodes", "kg_read", "kg_sync",
    "knowledge_conflict",
}  # fmt: skip
"""Reads that need what no schema tells: an edge of code, a session, a conflict."""


def test_one_who_sees_all_is_told_of_it(divided: Divided) -> None:
    found = divided.call("knowledge_search", query=SECRET, mode="text")
    assert found["total"] >= 6
    assert set(divided.hidden) - divided.listed(lifecycle="all") == {divided.hidden[-1]}
