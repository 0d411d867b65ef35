"""A vault with a project beside it, both in one graph, asked through the registry."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.extract.tiny import SUFFIX, Tiny, resolver
from tests.operations.builder import ANYBODY, VaultBox
from vault_kg.extract import opening, roots, updating
from vault_kg.extract.backends.protocol import GraphReader
from vault_kg.extract.indexing import Rules
from vault_kg.extract.tools import (  # noqa: F401 - registers
    changes,
    context,
    doctor,
    export,
    finding,
    hygiene,
    impact,
    paths,
    rename,
    similar,
    structure,
    surface,
)
from vault_kg.operations.caller import Caller


class Coded:
    """Short words for what tests do to a vault with a graph."""

    def __init__(self, box: VaultBox, project: Path, patch: pytest.MonkeyPatch) -> None:
        self.box = box
        self.project = project
        self.tiny = Tiny()
        project.mkdir()
        patch.setattr(updating, "rules", self._rules)
        self.root = roots.add(box.root, project)

    def _rules(self) -> Rules:
        return Rules(lambda path: self.tiny if path.endswith(SUFFIX) else None, resolver)

    def put(self, **files: str) -> None:
        """Write files of the project by stem; `/` in a stem is written `__`."""
        for stem, text in files.items():
            path = self.project / (stem.replace("__", "/") + SUFFIX)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.replace("; ", "\n") + "\n")

    def index(self, **arguments: Any) -> dict[str, Any]:
        return self.ask("graph_index", **arguments)

    def ask(self, name: str, caller: Caller = ANYBODY, /, **arguments: Any) -> dict[str, Any]:
        """Return the data of an answer, whose envelope is looked at."""
        answer = self.box.call(name, caller, **arguments)
        assert answer["ok"] is True and answer["data"]["meta"]["layer"] == "graph"
        assert not [k for k in answer["data"] if k != k.lower()]
        data: dict[str, Any] = answer["data"]
        return data

    @property
    def reader(self) -> GraphReader:
        return opening.backend(self.box.ws).reader(None)

    def git(self, *arguments: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=t", "-c", "user.email=t@t", *arguments],
            cwd=self.project, check=True, capture_output=True,
        )  # fmt: skip


def function(path: str, name: str) -> str:
    return f"code:function:{path}{SUFFIX}::{name}"


def labels(nodes: list[dict[str, Any]]) -> list[str]:
    """Return the labels of nodes, or of what holds a node."""
    return [each.get("node", each)["label"] for each in nodes]
