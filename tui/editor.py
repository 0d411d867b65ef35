"""Opening a file in the person's editor, at a line, with the terminal handed over meanwhile."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from textual.app import SuspendNotSupported
from textual.dom import DOMNode

from tui.asking import ask, tell
from tui.plain import block
from vault_kg.errors import InvalidArgument, VaultError

FALLBACKS = ("nano", "vim", "vi", "emacs", "hx")


def command(path: Path, line: int | None) -> list[str]:
    """Return the editor's command line for a file at a line.

    Raises:
        InvalidArgument: neither $VISUAL nor $EDITOR names one, and none is installed.
    """
    said = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    words = shlex.split(said) if said else [e for e in FALLBACKS if shutil.which(e)][:1]
    if not words:
        raise InvalidArgument("there is no editor; set EDITOR to the command of yours")
    name = Path(words[0]).name.removesuffix(".exe")
    at = max(1, line or 1)
    if name in ("code", "codium", "cursor"):
        return [*words, "--wait", "--goto", f"{path}:{at}"]
    if name == "subl":
        return [*words, "--wait", f"{path}:{at}"]
    if name in ("hx", "helix", "zed"):
        return [*words, f"{path}:{at}"]
    return [*words, f"+{at}", str(path)]


def run(node: DOMNode, path: Path, line: int | None = None) -> bool:
    """Run the editor until it ends; the UI stands still, as the terminal is the editor's.

    Returns:
        Whether it ended well; else a notice says why not.
    """
    try:
        words = command(path, line)
        with node.app.suspend():
            problem = _problem(words)
    except SuspendNotSupported:
        problem = f"here the terminal cannot be handed to an editor; the file is {path}"
    except (VaultError, ValueError) as error:
        problem = f"the editor cannot be started: {error}"
    if problem:
        node.app.notify(block(problem), severity="error", markup=False)
    return not problem


def _problem(words: list[str]) -> str:
    """Run a command line; returns what went wrong. An error must not leave the terminal with it."""
    try:
        code = subprocess.run(words, check=False).returncode
    except OSError as error:
        return f"the editor cannot be started: {error}; set EDITOR to the command of yours"
    return f"the editor ended with {code}" if code else ""


def edit(node: DOMNode, path: str, line: int | None, then: Callable[[], None]) -> None:
    """Open a file of the vault; afterwards take the change in, say what it made, and go on."""

    def opened(file: Path) -> None:
        before = file.read_bytes() if file.is_file() else None
        if not run(node, file, line):
            return
        after = file.read_bytes() if file.is_file() else None
        if before == after:
            tell(node, f"{path} is as it was")
            return
        ask(node, lambda desk: desk.observe(path), noticed, group="observe")

    def noticed(said: str) -> None:
        tell(node, said, "Edited")
        then()

    ask(node, lambda desk: desk.file(path), opened, group="editor")
