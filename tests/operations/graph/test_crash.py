"""A process that dies while it deletes or merges: wholly done or never begun, and told once."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.operations.builder import Clock
from tests.operations.conftest import fast_folder
from tests.operations.graph.graphs import Graph
from vault_kg.operations.workspace import Workspace
from vault_kg.state import journal as rows
from vault_kg.store import failpoints

POINTS = ("accept.before", "accept.after", "install.temp-written", "install.exchanged",
          "install.exchanged:3", "install.file-done:2", "install.all-done", "publish.before",
          "publish.inside", "publish.after", "git.before", "git.committed")  # fmt: skip


@pytest.fixture(scope="module")
def made() -> Iterator[tuple[Path, dict[str, dict[str, Any]]]]:
    """A vault, and what is asked of copies of it."""
    with pytest.MonkeyPatch.context() as patch, fast_folder() as name:
        patch.setenv("VAULT_KG_EMBEDDING_MODEL", "off")
        graph = Graph(Path(name) / "vault", Clock())
        ada, bob = graph.page("Ada"), graph.page("Bob")
        source = graph.source("One.\n", name="one.txt")
        graph.claim(ada, "Alone.", evidence=[{"source": source}])
        graph.claim(ada, "Both.", evidence=[{"source": source}, *graph.evidence])
        graph.relationship(ada, bob, fact="They met.", evidence=[{"source": source}])
        graph.ws.close()
        yield (
            graph.root,
            {
                "delete_episode": {"episode_uuid": source},
                "merge_entities": {"canonical_name": "Ada", "alias_names": ["Bob"], "kind": "Person"},
            },
        )  # fmt: skip


def killed(root: Path, name: str, arguments: dict[str, Any], point: str) -> int:
    command = [sys.executable, "-m", "vault_kg.cli", "call", f"knowledge_{name}"]
    done = subprocess.run(
        [*command, "--vault", str(root), "--json", json.dumps(arguments)],
        env=os.environ | {failpoints.ENVIRONMENT: point}, capture_output=True, check=False,
    )  # fmt: skip
    return done.returncode


@pytest.mark.parametrize(
    ("name", "point"),
    [("delete_episode", point) for point in POINTS]
    + [("merge_entities", point) for point in POINTS[3::4]],
)
def test_it_is_finished_or_never_happened(
    made: tuple[Path, dict[str, dict[str, Any]]], folder: Path, name: str, point: str
) -> None:
    root = Path(shutil.copytree(made[0], folder / "copy", symlinks=True))
    arguments = made[1][name] | {"request_id": "once"}
    code = killed(root, name, arguments, point)
    assert code == failpoints.EXIT_CODE or point.endswith((":2", ":3")), code
    graph = Graph.__new__(Graph)
    graph.root, graph.clock = root, Clock()
    graph.ws = Workspace.open(root, clock=graph.clock)
    try:
        entries = [e for e in rows.published(graph.ws.database, 0, 1_000) if e.request_id == "once"]
        assert len(entries) == (0 if point == "accept.before" else 1)
        first = graph.ask(name, **arguments)
        assert graph.ask(name, **arguments) == first and first["git"]["state"] == "committed"
        if name == "delete_episode":
            assert first["withdrawn_count"] == 2 and first["updated_count"] == 1
            assert len(graph.listed()) == 3 and not list(root.rglob("one.txt"))
        else:
            assert first["merged_count"] == 1 and graph.names() == {"Ada"}
        assert list((root / ".vault-kg/tmp").glob("*")) == []
        assert graph.git("status", "--short", "--", "main") == ""
        graph.scan()
        assert graph.findings(section="files") == graph.findings(section="missing") == []
    finally:
        graph.ws.close()
