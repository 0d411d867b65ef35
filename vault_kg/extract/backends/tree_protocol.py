"""What a backend remembers of the trees that the graph mirrors, and of itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from vault_kg.extract.backends.values import FileState, Stored


class TreeBackend(Protocol):
    """The files of each root as they were read, and settings."""

    def states(self, root: str) -> dict[str, FileState]:
        """Return what was last read of each file of a root."""
        ...

    def state(self, root: str, path: str) -> FileState | None:
        """Return what was last read of a file."""
        ...

    def put_state(self, root: str, state: FileState) -> None:
        """Remember what was read of a file."""
        ...

    def forget_states(self, root: str, paths: Iterable[str]) -> None:
        """Forget what was read of files."""
        ...

    def stored(self, root: str) -> Stored:
        """Return what was kept of a root's tree."""
        ...

    def put_stored(self, root: str, stored: Stored) -> None:
        """Keep what tells that a root's tree is the same."""
        ...

    def doubt(self, root: str) -> None:
        """Say that not all files of a root are as they were read."""
        ...

    def setting(self, name: str) -> str | None:
        """Return a remembered text."""
        ...

    def put_setting(self, name: str, value: str) -> None:
        """Remember a text."""
        ...
