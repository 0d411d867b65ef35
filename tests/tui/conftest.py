"""What the tests of the review UI stand on: a small vault, as those of the operations do."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from textual.drivers.headless_driver import HeadlessDriver

from tests.operations.builder import VaultBox
from tests.operations.conftest import fast_folder


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_KG_EMBEDDING_MODEL", "off")
    monkeypatch.delenv("VISUAL", raising=False)


@pytest.fixture
def editor(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Makes `$EDITOR` a program that changes the file's text `s` by a line of Python.

    It writes its arguments into the file that is returned. The terminal is handed over to it as to
    any editor.
    """
    monkeypatch.setattr(HeadlessDriver, "can_suspend", property(lambda _: True))
    script, said = folder / "editor.py", folder / "editor-arguments"

    def make(change: str) -> Path:
        script.write_text(
            "import re, sys\nfrom pathlib import Path\np = Path(sys.argv[-1])\n"
            f"Path({str(said)!r}).write_text(' '.join(sys.argv[1:]))\n"
            f"s = p.read_text()\n{change}\np.write_text(s)\n"
        )
        monkeypatch.setenv("EDITOR", f"{sys.executable} {script}")
        return said

    return make


@pytest.fixture
def folder() -> Iterator[Path]:
    with fast_folder() as name:
        yield Path(name)


@pytest.fixture
def vault(folder: Path) -> Iterator[VaultBox]:
    box = VaultBox(folder / "vault")
    yield box
    box.ws.close()


@pytest.fixture
def small(vault: VaultBox) -> VaultBox:
    ada = vault.page("Ada Lovelace", summary="Wrote the notes.", tags=["mathematics"])
    vault.page("Analytical Engine", "Project", body="A mill and a store. See [[Nowhere]].")
    vault.claim(ada, "Ada wrote the notes.")
    vault.put("notes/idea.md", "# An idea\n\nOf looms.\n")
    vault.scan()
    return vault
