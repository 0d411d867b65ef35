"""One run in a real terminal, under tmux: seen, typed into, handed to the editor, and left."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.operations.builder import VaultBox

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not here")


class Terminal:
    """A terminal of 80 by 24 in which `vault-kg tui` runs."""

    def __init__(self, folder: Path, vault: Path, editor: str) -> None:
        self._socket = str(folder / "tmux.sock")
        command = shlex.join(
            [sys.executable, "-m", "vault_kg.cli", "tui", "--vault", str(vault), "--actor", "me"]
        )
        env = f"PYTHONPATH={ROOT} VAULT_KG_EMBEDDING_MODEL=off EDITOR={shlex.quote(editor)}"
        self._tmux(
            "-f", os.devnull, "new-session", "-d", "-x", "80", "-y", "24",
            f"{env} {command}; echo ended with $?; sleep 60",
        )  # fmt: skip

    def _tmux(self, *arguments: str) -> str:
        done = subprocess.run(
            ["tmux", "-S", self._socket, *arguments],
            env=os.environ | {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8"},
            capture_output=True, text=True, check=True, timeout=20,
        )  # fmt: skip
        return done.stdout

    def press(self, *keys: str) -> None:
        self._tmux("send-keys", *keys)

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-l", text)

    def see(self, *expected: str) -> str:
        deadline = time.monotonic() + 25
        while True:
            shown = self._tmux("capture-pane", "-p")
            if all(part in shown for part in expected):
                return shown
            assert time.monotonic() < deadline, f"{expected} is not seen:\n{shown}"
            time.sleep(0.1)

    def close(self) -> None:
        self._tmux("kill-server")


@pytest.fixture
def terminal(folder: Path, vault: VaultBox) -> Iterator[Terminal]:
    vault.page("Ada", body="Old words.\n")
    script = folder / "editor.sh"
    script.write_text('#!/bin/sh\nsed -i "s/Old words/New words/" "$2"\n')
    script.chmod(0o755)
    made = Terminal(folder, vault.root, str(script))
    yield made
    made.close()


def test_a_real_terminal(terminal: Terminal, vault: VaultBox) -> None:
    terminal.see("1Recent", "saved page  Ada", "q Quit")
    terminal.press("4")
    terminal.see("Shelves", "Person 1")
    terminal.press("/")
    terminal.type("old")
    terminal.see("1 hit")
    terminal.press("Enter")
    terminal.press("Enter")
    terminal.see("Old words.", "revision 1", "w Withdraw")
    terminal.press("e")
    terminal.see("New words.", "revision 2")
    terminal.press("q")
    shown = terminal.see("ended with 0")
    assert "Recent" not in shown, "the terminal is given back as it was"
    assert "New words" in vault.path(vault.lookup("Ada")).read_text()
