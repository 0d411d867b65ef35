"""Two sessions write, rename, join and delete as they like; a small model says what must come of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.maintain.conftest import Garden, Talk
from tests.operations.builder import Clock, VaultBox
from tests.operations.conftest import fast_folder
from vault_kg.errors import InvalidArgument, NotFound, StaleRevision, VaultError

NAMES = st.sampled_from([f"n{n}" for n in range(5)])
TALKERS = st.integers(0, 1)
GISTS = st.sampled_from(["One.", "Two.", "Three."])
NOTES = st.none() | st.lists(st.sampled_from(["a", "b", "c"]), max_size=2, unique=True)


class Gardeners(RuleBasedStateMachine):
    """`nodes` is what stands: by name its record, gist, notes and revision."""

    @initialize()
    def begin(self) -> None:
        self.folder = fast_folder()
        root = Path(self.folder.__enter__())
        self.box = VaultBox(root / "vault", Clock())
        self.garden = Garden(self.box, root)
        self.talks = [self.garden.talk(), self.garden.talk()]
        self.nodes: dict[str, dict[str, Any]] = {}
        self.former: dict[str, str] = {}
        self.edges: set[tuple[str, str]] = set()
        self.seen: list[dict[str, tuple[int, bool]]] = [{}, {}]

    def teardown(self) -> None:
        if hasattr(self, "box"):
            self.box.ws.close()
            self.folder.__exit__(None, None, None)

    # What the model knows

    def find(self, name: str) -> str | None:
        """Return what a name means now: a node, or one that had the name before."""
        if name in self.nodes:
            return name
        record = self.former.get(name)
        return next((one for one, node in self.nodes.items() if node["record"] == record), None)

    def may(self, who: int, name: str, *, whole: bool) -> bool:
        node = self.nodes[name]
        revision, full = self.seen[who].get(node["record"], (0, False))
        return revision == node["revision"] and (full or not whole)

    def saw(self, who: int, name: str, full: bool) -> None:
        node = self.nodes[name]
        before, was_full = self.seen[who].get(node["record"], (0, False))
        stays = before == node["revision"] and was_full
        self.seen[who][node["record"]] = (node["revision"], full or stays)

    def ask(self, talk: Talk, tool: str, expected: type[VaultError] | None, **more: Any) -> Any:
        if expected is None:
            return talk.call(tool, **more)
        assert isinstance(talk.refused(tool, **more), expected)
        return None

    # What sessions do

    @rule(who=TALKERS, name=NAMES, gist=GISTS, notes=NOTES)
    def put(self, who: int, name: str, gist: str, notes: list[str] | None) -> None:
        asked: dict[str, Any] = {"id": name, "gist": gist, "level": "user"}
        if notes is not None:
            asked["notes"] = notes
        found = self.find(name)
        if found is None:
            answer = self.ask(self.talks[who], "kg_put_node", None, **asked)
            self.nodes[name] = {
                "record": answer["record"], "gist": gist, "notes": notes or [], "revision": 1,
            }  # fmt: skip
            self.former.pop(name, None)
            self.saw(who, name, True)
            return
        node = self.nodes[found]
        if not self.may(who, found, whole=notes is not None and bool(node["notes"])):
            self.ask(self.talks[who], "kg_put_node", StaleRevision, **asked)
            self.saw(who, found, True)
            return
        was_full = self.seen[who][node["record"]][1]
        after = node | {"gist": gist, "notes": node["notes"] if notes is None else notes}
        answer = self.ask(self.talks[who], "kg_put_node", None, **asked)
        assert answer["changed"] == (after != node)
        if after != node:
            self.nodes[found] = after | {"revision": node["revision"] + 1}
            self.seen[who][node["record"]] = (node["revision"] + 1, was_full)

    @rule(who=TALKERS, old=NAMES, new=NAMES)
    def rename(self, who: int, old: str, new: str) -> None:
        asked = {"old_id": old, "new_id": new}
        found = self.find(old)
        if found is None:
            self.ask(self.talks[who], "kg_rename_node", NotFound, **asked)
        elif found == new:
            self.ask(self.talks[who], "kg_rename_node", InvalidArgument, **asked)
        elif not self.may(who, found, whole=False):
            self.ask(self.talks[who], "kg_rename_node", StaleRevision, **asked)
            self.saw(who, found, True)
        elif new in self.nodes:
            self.ask(self.talks[who], "kg_rename_node", InvalidArgument, **asked)
        else:
            answer = self.ask(self.talks[who], "kg_rename_node", None, **asked)
            node = self.nodes.pop(found)
            self.nodes[new] = node | {"revision": node["revision"] + 1}
            self.seen[who][node["record"]] = (
                node["revision"] + 1, self.seen[who][node["record"]][1],
            )  # fmt: skip
            self.former.pop(new, None)
            self.former[found] = node["record"]
            assert answer["edges"] == sum(node["record"] in edge for edge in self.edges)

    @rule(who=TALKERS, name=NAMES)
    def read(self, who: int, name: str) -> None:
        found = self.find(name)
        if found is None:
            self.ask(self.talks[who], "kg_read", NotFound, ids=[name])
            return
        (shown,) = self.talks[who].read(name)["nodes"]
        node = self.nodes[found]
        assert (shown["id"], shown["gist"], shown["notes"]) == (found, node["gist"], node["notes"])
        self.saw(who, found, True)

    @rule(who=TALKERS, name=NAMES)
    def delete(self, who: int, name: str) -> None:
        found = self.find(name)
        if found is None:
            self.ask(self.talks[who], "kg_delete_node", NotFound, id=name)
        elif not self.may(who, found, whole=True):
            self.ask(self.talks[who], "kg_delete_node", StaleRevision, id=name)
            self.saw(who, found, True)
        else:
            answer = self.ask(self.talks[who], "kg_delete_node", None, id=name)
            record = self.nodes.pop(found)["record"]
            gone = {edge for edge in self.edges if record in edge}
            assert answer["edges_deleted"] == len(gone)
            self.edges -= gone

    @rule(who=TALKERS, source=NAMES, other=NAMES)
    def join(self, who: int, source: str, other: str) -> None:
        ends = [self.find(source), self.find(other)]
        asked = {"from": source, "to": other, "rel": "of", "level": "user"}
        if None in ends:
            self.ask(self.talks[who], "kg_put_edge", NotFound, **asked)
        elif ends[0] == ends[1]:
            self.ask(self.talks[who], "kg_put_edge", InvalidArgument, **asked)
        else:
            edge = tuple(self.nodes[str(end)]["record"] for end in ends)
            answer = self.ask(self.talks[who], "kg_put_edge", None, **asked)
            assert answer["created"] == (edge not in self.edges)
            self.edges.add(edge)  # type: ignore[arg-type]

    @rule()
    def reopen(self) -> None:
        self.box.reopen()
        self.box.scan()

    # What must hold

    @invariant()
    def the_graph_is_the_models(self) -> None:
        if not hasattr(self, "box"):
            return
        level = self.box.call("maintain_status")["graphs"]
        found = next((one for one in level if one["partition"] == "user"), None)
        assert (found["nodes"] if found else 0) == len(self.nodes)
        assert (found["edges"] if found else 0) == len(self.edges)
        folder = self.box.root / "user/pages/entity"
        present = {path.stem for path in folder.iterdir()} if folder.exists() else set()
        assert set(self.nodes) <= present
        assert not self.box.findings()


Gardeners.TestCase.settings = settings(max_examples=25, stateful_step_count=20, deadline=None)
TestGardeners = Gardeners.TestCase
