"""A small board for tests: the vault of the records family, with short words for sessions."""

from __future__ import annotations

from typing import Any

import pytest

from tests.operations.builder import ANYBODY, VaultBox
from vault_kg.errors import VaultError
from vault_kg.operations.caller import Caller

SPEC = {"source_type": "spec", "source_id": "spec_007", "source_version": 4}


class Board(VaultBox):
    """A vault whose sessions are asked in short words."""

    def ask(self, name: str, caller: Caller = ANYBODY, /, **arguments: Any) -> dict[str, Any]:
        return self.call(f"kg_{name}", caller, **arguments)

    def refusal(self, name: str, caller: Caller = ANYBODY, /, **arguments: Any) -> VaultError:
        """Ask what must be refused; returns the refusal, and holds that nothing was written."""
        before = self.position, self.files()
        with pytest.raises(VaultError) as caught:
            self.ask(name, caller, **arguments)
        assert (self.position, self.files()) == before, "a refusal writes nothing"
        error = caught.value
        if error.status is not None:
            assert error.data["status"] == error.status
            assert f"{error.status} {error.code}: " in error.message
        return error

    def begin(self, caller: Caller = ANYBODY, /, **more: Any) -> str:
        arguments = {"board_id": "main", **SPEC, "payload_hash": self.new_request()} | more
        begun = self.ask("begin_consolidation", caller, **arguments)
        assert begun["session_id"] is not None and not begun["nothing_changed"]
        return str(begun["session_id"])

    def node(
        self, session: str, title: str, body: str = "", type: str = "Decision", **more: Any
    ) -> str:
        done = self.ask(
            "add_node_candidate", session_id=session, node_type=type, title=title, body=body, **more
        )
        return str(done["candidate_id"])

    def edge(self, session: str, src: str, rel: str, dst: str, **more: Any) -> str:
        done = self.ask(
            "add_edge_candidate", session_id=session, src=end(src), dst=end(dst), rel_type=rel, **more
        )  # fmt: skip
        return str(done["edge_candidate_id"])

    def propose(self, session: str, caller: Caller = ANYBODY) -> dict[str, dict[str, Any]]:
        answer = self.ask("propose_reconciliation", caller, session_id=session)
        return {p["candidate_id"]: p for p in (*answer["proposals"], *answer["edge_proposals"])}

    def hint(self, session: str, candidate: str = "cand_001") -> str:
        return str(self.propose(session)[candidate]["hint"])

    def commit(self, session: str, caller: Caller = ANYBODY, **more: Any) -> dict[str, Any]:
        return self.ask("commit_consolidation", caller, session_id=session, **more)

    def consolidate(self, title: str, body: str = "", **more: Any) -> str:
        """Commit one node in a session of its own; returns the node."""
        session = self.begin()
        self.node(session, title, body, **more)
        self.propose(session)
        applied = self.commit(session)["applied"]
        (done,) = [*applied["added"], *applied["updated"], *applied["noop"]]
        return str(done["node_id"])

    def configure(self, text: str) -> None:
        """Add to the vault's configuration."""
        with (self.root / ".vault-kg/vault.toml").open("a") as config:
            config.write("\n" + text)


def paged(board: Board, name: str, **asked: Any) -> list[dict[str, Any]]:
    """Return all pages of a list, each by the cursor of the one before."""
    pages = [board.ask(name, **asked)]
    while (cursor := pages[-1]["next_cursor"]) is not None:
        pages.append(board.ask(name, cursor=cursor, **asked))
    return pages


def end(name: str) -> dict[str, str]:
    return {"candidate_id" if name.startswith("cand_") else "node_id": name}


def override(candidate: str, hint: str, **more: Any) -> dict[str, Any]:
    return {"candidate_id": candidate, "hint": hint, "rationale": "we looked at it"} | more
