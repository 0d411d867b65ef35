"""Running an agent's command headless: its own process group, a time limit, and nothing left behind."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from vault_kg.errors import InvalidArgument

GRACE_SECONDS: Final = 5.0
"""Between asking the process group to end and ending it."""

MAX_SAID: Final = 2_000
LOOK_SECONDS: Final = 0.1


INTERRUPTED: Final = "it was interrupted"


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


def run(
    command: Sequence[str],
    prompt: str,
    seconds: float,
    cwd: str | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> Ended:
    """Run a command with a prompt as its standard input.

    Args:
        command: the program and its arguments.
        prompt: what it is told.
        seconds: after which its whole process group is ended.
        cwd: where it runs.
        environment: what is set for it besides this process's own environment.
        stopped: asked all the time; once it says so, the group is ended too.
    """
    if stopped():
        return Ended("failed", INTERRUPTED, "")
    try:
        with tempfile.TemporaryFile() as told:  # a pipe would wait for a slow reader
            told.write(prompt.encode("utf-8", "replace"))
            told.seek(0)
            process = subprocess.Popen(
                command, stdin=told, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=cwd,
                start_new_session=os.name == "posix", text=True, encoding="utf-8",
                errors="replace", env={**os.environ, **(environment or {})},
            )  # fmt: skip
    except OSError as error:
        return Ended("failed", f"{command[0]} cannot be started: {error.strerror}", "")
    try:
        said = _heard(process, time.monotonic() + seconds, stopped)
    except BaseException:
        _end(process)
        raise
    if said is None:
        was_stopped = stopped()
        last = _end(process)[-MAX_SAID:]
        if was_stopped:
            return Ended("failed", INTERRUPTED, last)
        return Ended("timed_out", f"ended after {seconds:g} s", last)
    _signal(process, signal.SIGTERM)  # whatever it started and left
    if process.returncode == 0:
        return Ended("done", "", said[-MAX_SAID:])
    return Ended("failed", f"it ended with status {process.returncode}", said[-MAX_SAID:])


def _heard(
    process: subprocess.Popen[str], deadline: float, stopped: Callable[[], bool]
) -> str | None:
    """Return all that a process said, or None where its time was up or it was stopped."""
    while not stopped() and time.monotonic() < deadline:
        try:
            said, _ = process.communicate(timeout=LOOK_SECONDS)
        except subprocess.TimeoutExpired:
            continue
        return said
    return None


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
