"""Sessions of several agents in any order against a model: what is open, committed, undone, current."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule

from tests.consolidation.boards import Board
from tests.operations.builder import Clock
from tests.operations.conftest import fast_folder
from vault_kg.errors import VaultError
from vault_kg.operations.caller import Caller

AGENTS = tuple(Caller(name) for name in ("one", "two"))
TITLES = st.sampled_from(["Retries", "Delays", "Signatures"])
BODIES = st.sampled_from(["Once.", "Twice.", "Thrice."])


@dataclass
class Model:
    """A session as it should be."""

    id: str
    agent: Caller
    proposed: bool = False
    nodes: list[tuple[str, str]] = field(default_factory=list)
    state: str = "open"
    answer: dict[str, Any] | None = None


class Sessions(RuleBasedStateMachine):
    sessions = Bundle("sessions")

    @initialize()
    def begin_world(self) -> None:
        self.folder = fast_folder()
        self.clock = Clock()
        self.board = Board(Path(self.folder.name) / "vault", self.clock)
        self.models: list[Model] = []
        self.events = 0

    @rule(target=sessions, agent=st.sampled_from(AGENTS))
    def begin(self, agent: Caller) -> Model:
        model = Model(self.board.begin(agent), agent)
        self.models.append(model)
        return model

    @rule(model=sessions, title=TITLES, body=BODIES)
    def add(self, model: Model, title: str, body: str) -> None:
        code = self.ask(
            "add_node_candidate", model, node_type="Requirement", title=title, body=body
        )
        if model.state != "open":
            assert code in ("session_closed", "session_expired")
        elif (title, body) in model.nodes:
            assert code == "invalid_argument"
        else:
            assert code == "ok"
            model.nodes.append((title, body))
            model.proposed = False

    @rule(model=sessions)
    def propose(self, model: Model) -> None:
        code = self.ask("propose_reconciliation", model)
        assert (code == "ok") is (model.state == "open"), code
        model.proposed = model.proposed or code == "ok"

    @rule(model=sessions)
    def commit(self, model: Model) -> None:
        code = self.ask("commit_consolidation", model)
        if model.state in ("committed", "undone"):
            assert code == "ok" and self.last == model.answer, "the first answer"
        elif model.state != "open":
            assert code in ("session_closed", "session_expired")
        elif model.nodes and not model.proposed:
            assert code == "invalid_argument"
        else:
            assert code in ("ok", "commit_conflict")
        if code == "ok" and model.state == "open":
            model.state, model.answer = "committed", self.last
            self.events += 1

    @rule(model=sessions)
    def abort(self, model: Model) -> None:
        code = self.ask("abort_consolidation", model)
        assert (code == "ok") is (model.state in ("open", "aborted", "expired")), code
        if code == "ok":
            model.state = "aborted"

    @rule(model=sessions)
    def a_stranger_may_not(self, model: Model) -> None:
        other = next(agent for agent in AGENTS if agent != model.agent)
        stranger = Model(model.id, other)
        assert self.ask("commit_consolidation", stranger) == "permission_denied"

    @rule(model=sessions)
    def undo(self, model: Model) -> None:
        code = self.ask("undo_consolidation", model, reason="a mistake")
        if model.state == "committed":
            assert code in ("ok", "undo_blocked")
        else:
            assert code == ("ok" if model.state == "undone" else "not_found")
        if code == "ok" and model.state == "committed":
            model.state = "undone"
            self.events += 1

    @rule()
    def time_passes(self) -> None:
        self.clock.at += timedelta(hours=2)
        for model in self.models:
            model.state = "expired" if model.state == "open" else model.state

    @rule()
    def restart(self) -> None:
        self.board.reopen()

    @rule(model=consumes(sessions))
    def forget(self, model: Model) -> None:
        """Let a session be as it is."""

    @invariant()
    def the_lists_say_the_same(self) -> None:
        shown = {s["session_id"] for s in self.board.ask("sessions")["sessions"]}
        assert shown == {m.id for m in self.models if m.state == "open"}
        audit = {r["session_id"]: r["undone"] for r in self.board.ask("audit", limit=500)["rows"]}
        assert set(audit) == {m.id for m in self.models if m.state in ("committed", "undone")}
        assert {s for s, undone in audit.items() if undone} == {
            m.id for m in self.models if m.state == "undone"
        }  # fmt: skip
        events = self.board.ask("outbox_read", limit=1000)["events"]
        assert len(events) == self.events == len({e["event_id"] for e in events})

    @invariant()
    def no_node_is_there_twice(self) -> None:
        found = self.board.call("knowledge_records", type="Requirement", limit=1000)["records"]
        texts = [(r["title"], self.board.get(r["id"])["body"].strip()) for r in found]
        assert len(texts) == len(set(texts))

    def ask(self, name: str, model: Model, **arguments: Any) -> str:
        try:
            self.last = self.board.ask(name, model.agent, session_id=model.id, **arguments)
        except VaultError as error:
            return error.code
        return "ok"

    def teardown(self) -> None:
        self.board.ws.close()
        self.folder.cleanup()


Sessions.TestCase.settings = settings(max_examples=15, stateful_step_count=25, deadline=None)
TestSessions = Sessions.TestCase
