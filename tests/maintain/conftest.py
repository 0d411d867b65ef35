"""What the tests of maintenance stand on: a small vault with sessions over the kg_* tools."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.operations.builder import ANYBODY, Clock, VaultBox
from tests.operations.conftest import fast_folder
from vault_kg.errors import VaultError
from vault_kg.operations.caller import Caller


@dataclass
class Talk:
    """One session, with short words for what an agent says."""

    box: VaultBox
    id: str
    caller: Caller = field(default=ANYBODY)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return self.box.call(tool, self.caller, session_id=self.id, **arguments)

    def read(self, *ids: str, **more: Any) -> dict[str, Any]:
        return self.call("kg_read", **({"ids": list(ids)} if ids else {}), **more)

    def put(self, id: str, gist: str = "Something.", level: str = "user", **more: Any) -> str:
        self.call("kg_put_node", id=id, gist=gist, level=level, **more)
        return id

    def join(
        self, source: str, target: str, rel: str = "relates-to", level: str = "user", **more: Any
    ) -> dict[str, Any]:
        return self.call(
            "kg_put_edge", **{"from": source, "to": target}, rel=rel, level=level, **more
        )

    def node(self, id: str, **more: Any) -> dict[str, Any]:
        found: dict[str, Any] = self.read(id, **more)["nodes"][0]
        return found

    def refused(self, tool: str, **arguments: Any) -> VaultError:
        before = self.box.position, self.box.files()
        with pytest.raises(VaultError) as caught:
            self.call(tool, **arguments)
        assert (self.box.position, self.box.files()) == before, "a refusal writes nothing"
        return caught.value

    def debt(self, level: str = "user") -> str:
        found = next(one for one in self.read()["levels"] if one["level"] == level)
        return str(found["debt_line"])


@dataclass
class Garden:
    """A vault with project folders beside it."""

    box: VaultBox
    folder: Path

    def project(self, name: str = "alpha") -> str:
        root = self.folder / name
        (root / ".git").mkdir(parents=True, exist_ok=True)
        return str(root)

    def talk(self, project: str = "alpha", caller: Caller = ANYBODY, **more: Any) -> Talk:
        answer = self.box.call("kg_read", caller, cwd=self.project(project), **more)
        said = re.match(r"session_id: ([0-9a-f]{8})\n", answer["text"])
        assert said and said[1] == answer["session_id"]
        return Talk(self.box, answer["session_id"], caller)


@pytest.fixture(scope="module", autouse=True)
def _no_model() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VAULT_KG_EMBEDDING_MODEL", "off")
        yield


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def garden(clock: Clock) -> Iterator[Garden]:
    with fast_folder() as name:
        folder = Path(name)
        box = VaultBox(folder / "vault", clock)
        yield Garden(box, folder)
        box.ws.close()


@pytest.fixture
def talk(garden: Garden) -> Talk:
    return garden.talk()
