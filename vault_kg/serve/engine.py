"""What runs the calls that come over MCP: the vault in this process, or a running service."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from vault_kg.errors import ScopeDenied, Unavailable
from vault_kg.operations.caller import Caller
from vault_kg.serve.keeper import Keeper

CLOSE = "knowledge_close"


class Engine(Protocol):
    """Runs operations."""

    @property
    def can_close(self) -> bool:
        """Whether `knowledge_close` is offered."""

    def start(self) -> None:
        """Begin what goes on beside the calls."""

    def call(self, name: str, arguments: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        """Run an operation.

        Raises:
            VaultError: a refusal.
        """

    def stop(self) -> None:
        """End what goes on beside the calls."""


class Standalone:
    """Runs operations on the vault itself, which is opened at the first call."""

    can_close = True

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper
        self._closed = False

    def start(self) -> None:
        """Begin to keep the index true to the files."""
        self._keeper.start()

    def call(self, name: str, arguments: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        """Run an operation; `knowledge_close` closes the vault for this server only.

        Raises:
            VaultError: a refusal.
        """
        if self._closed:
            raise Unavailable(f"this server was closed by {CLOSE}; start it anew")
        if name == CLOSE:
            return self._close(caller)
        return self._keeper.call(name, arguments, caller)

    def stop(self) -> None:
        """End the background work and close the vault."""
        if not self._closed:
            self._keeper.stop()

    def _close(self, caller: Caller) -> dict[str, Any]:
        if "admin" not in caller.scopes:
            raise ScopeDenied(f"{CLOSE} needs the scope 'admin'", scope="admin")
        self._closed = True
        self._keeper.stop()
        return {"status": "closed"}
