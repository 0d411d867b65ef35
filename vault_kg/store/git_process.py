"""Running Git so that nothing of a repository's configuration runs code on our behalf.

Every Git process of the package starts here: hooks, file system monitors, signing, lazy fetching
and prompts are off, the caller's `GIT_*` variables are not inherited, and nothing is ever sent.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from vault_kg.errors import Busy, Unavailable

if TYPE_CHECKING:
    from pathlib import Path

_SETTINGS = (
    f"core.hooksPath={os.devnull}",
    "core.fsmonitor=false",
    "core.quotePath=false",
    "core.fsync=committed",
    "core.fsyncMethod=fsync",
    "commit.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.allow=never",
    "advice.graftFileDeprecated=false",
)
"""What each process is told, above every configuration file."""

COMMITTER_NAME = "vault-kg"
COMMITTER_EMAIL = "vault-kg@localhost"


class GitUnavailable(Unavailable):
    """Git cannot be used for this vault until somebody acts; `data.reason` is a short code.

    Reasons: `git_missing`, `no_permission`, `foreign_repository`, `bare_repository`,
    `not_owned`, `object_format`, `git_failed`.
    """

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message, reason=reason)
        self.reason = reason


class GitPending(Busy):
    """The commit cannot be made now and can be later; `data.reason` is a short code.

    Reasons: `index_locked`, `ref_locked`, `ref_moved`, `detached_head`, `disk_full`, and for an
    operation in progress `merge`, `rebase`, `cherry_pick`, `revert`, `bisect` or `sequencer`.
    """

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message, reason=reason)
        self.reason = reason


@dataclass(frozen=True)
class Finished:
    """How one Git process ended."""

    returncode: int
    stdout: bytes
    stderr: bytes

    @property
    def complaint(self) -> str:
        """The line in which Git said what was wrong, for a message."""
        lines = self.stderr.decode("utf-8", "replace").strip().splitlines()
        fatal = [line for line in lines if line.startswith(("fatal: ", "error: "))]
        said = (fatal or lines or [f"Git ended with status {self.returncode}"])[-1]
        return said.removeprefix("fatal: ").removeprefix("error: ")


class Git:
    """Git, run at the top of one vault and confined to the repository there."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def run(self, *arguments: str, data: bytes = b"", index: Path | None = None) -> Finished:
        """Run one command to its end.

        Args:
            arguments: The command and its arguments.
            data: Its standard input.
            index: An index file to use in place of the repository's own.

        Raises:
            GitUnavailable: Git cannot be started.
        """
        process = self.start(*arguments, index=index, keep_errors=True)
        stdout, stderr = process.communicate(data)
        return Finished(process.returncode, stdout, stderr)

    def start(
        self,
        *arguments: str,
        index: Path | None = None,
        keep_errors: bool = False,
        stdin: int = subprocess.PIPE,
    ) -> subprocess.Popen[bytes]:
        """Start one command and leave it running.

        Raises:
            GitUnavailable: Git cannot be started.
        """
        command = ["git", "--no-pager", "--literal-pathspecs"]
        for setting in _SETTINGS:
            command += ["-c", setting]
        try:
            return subprocess.Popen(
                [*command, *arguments],
                cwd=self.root,
                env=self._environment(index),
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE if keep_errors else subprocess.DEVNULL,
                # An interrupt at the terminal is for us to answer, not for a commit half made.
                process_group=0 if os.name == "posix" else None,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        except FileNotFoundError as missing:
            if not self.root.is_dir():
                message = f"{self.root} is not a folder: open the vault where it is now"
                raise GitUnavailable(message, "git_failed") from missing
            message = "git is not installed: install Git, or add it to PATH, to record history"
            raise GitUnavailable(message, "git_missing") from missing
        except OSError as refused:
            message = f"git cannot be started: {refused.strerror}"
            raise GitUnavailable(message, "git_failed") from refused

    def _environment(self, index: Path | None) -> dict[str, str]:
        env = {name: value for name, value in os.environ.items() if _is_inherited(name)}
        env |= {
            "LC_ALL": "C.UTF-8",
            "GIT_CEILING_DIRECTORIES": str(self.root.parent),
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_ALLOW_PROTOCOL": "none",
            "GIT_COMMITTER_NAME": COMMITTER_NAME,
            "GIT_COMMITTER_EMAIL": COMMITTER_EMAIL,
        }
        if index is not None:
            env["GIT_INDEX_FILE"] = str(index)
        return env


def _is_inherited(variable: str) -> bool:
    """Tell whether a variable is none of Git's, or says where Git or its configuration is."""
    if variable == "GIT_CONFIG_PARAMETERS":  # a command line of Git that we were started from
        return False
    return not variable.startswith("GIT_") or variable.startswith(("GIT_CONFIG_", "GIT_EXEC_PATH"))


@dataclass(frozen=True)
class GitObject:
    """An object as Git stores it."""

    oid: str
    kind: str
    data: bytes


class LastingGit:
    """A Git process that answers many questions, started with the first of them.

    Each process has its own: after a fork the child starts another.
    """

    def __init__(self, git: Git, *arguments: str, keep_errors: bool = False) -> None:
        self._git = git
        self._arguments = arguments
        self._keep_errors = keep_errors
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0

    def pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        """Return what to write questions to and to read answers from.

        Raises:
            GitUnavailable: Git cannot be started.
        """
        if self._process is None or self._owner != os.getpid():
            self._process = self._git.start(*self._arguments, keep_errors=self._keep_errors)
            self._owner = os.getpid()
        assert self._process.stdin is not None and self._process.stdout is not None
        return self._process.stdin, self._process.stdout

    def stop(self) -> str:
        """End the process and return what it wrote to standard error, if that was kept."""
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():
            return ""
        try:
            _, errors = process.communicate(timeout=1)
        except subprocess.TimeoutExpired:
            process.kill()
            _, errors = process.communicate()
        return (errors or b"").decode("utf-8", "replace").strip()


class ObjectReader:
    """A lasting `git cat-file --batch`, which finds loose, packed and borrowed objects alike."""

    def __init__(self, git: Git) -> None:
        self._git = LastingGit(git, "cat-file", "--batch")
        self._lock = threading.Lock()

    def read(self, name: str) -> GitObject | None:
        """Return the object that a name of one line stands for, or None.

        Raises:
            GitUnavailable: Git cannot be started, or does not answer.
        """
        question = name.encode("utf-8", "surrogateescape")
        if not question or b"\n" in question or b"\0" in question:
            return None
        with self._lock:
            for _ in range(2):
                with contextlib.suppress(OSError, EOFError):
                    return self._ask(question)
                self._git.stop()
        raise GitUnavailable("git cat-file does not answer: run `git fsck`", "git_failed")

    def close(self) -> None:
        """End the process; the next read starts another."""
        with self._lock:
            self._git.stop()

    def _ask(self, question: bytes) -> GitObject | None:
        asked, answers = self._git.pipes()
        asked.write(question + b"\n")
        asked.flush()
        answer = answers.readline()
        if not answer.endswith(b"\n"):
            raise EOFError
        if answer in (question + b" missing\n", question + b" ambiguous\n"):
            return None
        oid, kind, size = answer.split()
        data = answers.read(int(size) + 1)
        if len(data) != int(size) + 1:
            raise EOFError
        return GitObject(oid.decode(), kind.decode(), data[:-1])


class HeadMover:
    """A lasting `git update-ref`, which moves the branch that HEAD is on by compare-and-swap."""

    def __init__(self, git: Git) -> None:
        arguments = ("update-ref", "--stdin", "-z", "-m", "vault-kg")
        self._git = LastingGit(git, *arguments, keep_errors=True)

    def move(self, new: str, old: str) -> str | None:
        """Move the branch from one commit to another.

        Returns:
            None when it is moved and on the disk; else what Git complains of.

        Raises:
            GitUnavailable: Git cannot be started.
        """
        try:
            asked, answers = self._git.pipes()
            asked.write(f"start\0update HEAD\0{new}\0{old}\0commit\0".encode())
            asked.flush()
            if (answers.readline(), answers.readline()) == (b"start: ok\n", b"commit: ok\n"):
                return None
        except OSError:
            pass  # it ended, and says why on standard error
        return self.stop() or "git update-ref does not answer"

    def stop(self) -> str:
        """End the process; the next move starts another."""
        return self._git.stop()
