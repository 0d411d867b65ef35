"""Running an agent's command headless: its own process group, a time limit, and nothing left behind."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from vault_kg.errors import InvalidArgument

GRACE_SECONDS: Final = 5.0
"""Between asking the process group to end and ending it."""

MAX_SAID: Final = 2_000


@dataclass(frozen=True)
class Ended:
    """How a command ended, and the last of what it said."""

    state: Literal["done", "failed", "timed_out"]
    reason: str
    said: str


def command_of(text: str) -> list[str]:
    """Split a command as a shell would; it is run without one.

    Raises:
        InvalidArgument: it is empty, or its quotes do not match.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InvalidArgument(f"the agent's command cannot be read: {error}") from None
    if not words:
        raise InvalidArgument(
            "no agent: give one with --agent, or `agent` in the table [maintenance] of vault.toml"
        )
    return words


def run(command: Sequence[str], prompt: str, seconds: float, cwd: str | None = None) -> Ended:
    """Run a command with a prompt as its standard input.

    Args:
        command: the program and its arguments.
        prompt: what it is told.
        seconds: after which its whole process group is ended.
        cwd: where it runs.
    """
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=cwd,
            start_new_session=os.name == "posix", text=True, encoding="utf-8", errors="replace",
        )  # fmt: skip
    except OSError as error:
        return Ended("failed", f"{command[0]} cannot be started: {error.strerror}", "")
    try:
        said, _ = process.communicate(prompt, timeout=seconds)
    except subprocess.TimeoutExpired:
        said = _end(process)
        return Ended("timed_out", f"ended after {seconds:g} s", said[-MAX_SAID:])
    except BaseException:
        _end(process)
        raise
    _signal(process, signal.SIGTERM)  # whatever it started and left
    if process.returncode == 0:
        return Ended("done", "", said[-MAX_SAID:])
    return Ended("failed", f"it ended with status {process.returncode}", said[-MAX_SAID:])


def _end(process: subprocess.Popen[str]) -> str:
    """End the whole group of a process: first asked, then made to."""
    _signal(process, signal.SIGTERM)
    try:
        said, _ = process.communicate(timeout=GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        _signal(process, getattr(signal, "SIGKILL", signal.SIGTERM))
        process.kill()
        said = ""
        if process.stdout is not None:
            process.stdout.close()
        process.wait()
    else:
        _signal(process, getattr(signal, "SIGKILL", signal.SIGTERM))
    return said


def _signal(process: subprocess.Popen[str], number: int) -> None:
    try:
        if os.name == "posix":
            os.killpg(process.pid, number)
        elif process.poll() is None:
            process.terminate()
    except ProcessLookupError:
        pass  # none of the group is left
    except PermissionError:
        pass  # macOS says so of a group in which only dead processes are left
