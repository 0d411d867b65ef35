"""What the tests of the command line stand on: a small vault, and two ways to run `vault-kg`.

`shell` starts a real process; `vault_kg` runs the same `main` in this one, which is faster.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.operations.builder import VaultBox
from vault_kg.cli import main

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Outcome:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True)
class SmallVault:
    """A copy of the small vault, closed, and the ids in it."""

    root: Path
    ids: dict[str, str]

    def __getitem__(self, name: str) -> str:
        return self.ids[name]

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=self.root, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def path(self, name: str) -> Path:
        for path in self.root.rglob("*.md"):
            if f"\nid: {self.ids[name]}" in path.read_text():
                return path
        raise AssertionError(name)


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    home = tmp_path_factory.mktemp("home")
    kept = {
        k: v for k, v in os.environ.items() if not k.startswith(("VAULT_KG", "GIT_", "NO_COLOR"))
    }
    return kept | {
        "HOME": str(home),
        "VAULT_KG_EMBEDDING_MODEL": "off",
        "PYTHONPATH": str(ROOT),
        "COLUMNS": "100",
    }


@pytest.fixture(autouse=True)
def _environment(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("VAULT_KG_ACTOR", "VAULT_KG_DEBUG", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", environment["HOME"])
    monkeypatch.setenv("VAULT_KG_EMBEDDING_MODEL", "off")


@pytest.fixture(scope="session")
def _original(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallVault]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VAULT_KG_EMBEDDING_MODEL", "off")
        box = VaultBox(tmp_path_factory.mktemp("original") / "vault")
        ids = {
            "ada": box.page("Ada Lovelace", summary="Wrote the notes.", aliases=["Ada"],
                            fields={"born": "1815-12-10"}, body="Friend of [[Charles Babbage]]."),
            "charles": box.page("Charles Babbage"),
            "countess": box.page("Countess of Lovelace", tags=["noble"],
                                 fields={"died": "1852-11-27"}),
            "engine": box.page("Analytical Engine", "Project"),
        }  # fmt: skip
        ids["source"] = box.evidence[0]["source"]
        ids["claim"] = box.claim(
            ids["ada"], "Ada wrote the notes.", confidence=0.9, entities=[ids["engine"]],
            evidence=[{"source": ids["source"], "lines": "1", "quote": "Ada wrote the notes."}],
        )  # fmt: skip
        ids["knows"] = box.relationship(ids["ada"], ids["charles"], "knows", "They met in 1833.")
        box.put("notes/idea.md", "# An idea\n\nOn [[Ada]] and *looms*. #weaving\n")
        box.scan()
        box.ws.close()
        yield SmallVault(box.root, ids)


@pytest.fixture
def vault(_original: SmallVault, tmp_path: Path) -> SmallVault:
    root = tmp_path / "vault"
    shutil.copytree(_original.root, root, symlinks=True)
    return SmallVault(root, _original.ids)


@pytest.fixture
def shell(environment: dict[str, str]) -> Callable[..., Outcome]:
    """Run `vault-kg` as a process of its own."""

    def run(
        *arguments: str | Path, cwd: Path | None = None, input: str | bytes = "", **more: str
    ) -> Outcome:
        given = input.encode() if isinstance(input, str) else input
        done = subprocess.run(
            [sys.executable, "-m", "vault_kg.cli", *map(str, arguments)],
            cwd=cwd, input=given, env=environment | more, capture_output=True, timeout=60,
        )  # fmt: skip
        return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


@pytest.fixture
def vault_kg(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Outcome]:
    """Run `vault-kg` in this process."""

    def run(*arguments: str | Path, cwd: Path | None = None, input: str = "") -> Outcome:
        import io

        if cwd is not None:
            monkeypatch.chdir(cwd)
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(input.encode())))
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return Outcome(code, said.out, said.err)

    return run
