"""How the UI reaches a vault: opened in this process, or through the service that runs already."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from vault_kg.errors import Unavailable
from vault_kg.operations import registry
from vault_kg.operations.caller import Caller
from vault_kg.serve import endpoint
from vault_kg.serve.attached import Attached
from vault_kg.serve.engine import Engine, Standalone
from vault_kg.serve.keeper import Keeper


class Connected:
    """Asks a running service, which keeps the index and the model.

    What only a person may do (the scope `review`) no service holds for its clients; it is done on
    the vault itself, which is opened for it and shares the write lane with the service.
    """

    can_close = False

    def __init__(self, service: Attached, own: Engine) -> None:
        self._service = service
        self._own = own

    def start(self) -> None:
        """Do nothing: what goes on beside the calls is the service's."""

    def call(self, name: str, arguments: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        """Run an operation where it may be run.

        Raises:
            VaultError: a refusal, or a service that cannot be reached.
        """
        found = registry.find(name)
        engine = self._own if found is not None and found.scope == "review" else self._service
        return engine.call(name, arguments, caller)

    def stop(self) -> None:
        """Close the connections, and the vault where it was opened."""
        self._service.stop()
        self._own.stop()


def opened(root: Path, state: Path | None = None, *, watch: bool = True) -> Engine:
    """Return an engine that opens the vault at the first call."""
    return Standalone(Keeper(root, state, watch=watch))


def connected(root: Path, state: Path | None = None, *, otherwise: Callable[[str], None]) -> Engine:
    """Return an engine on the vault's running service; where none answers, on the vault itself.

    Args:
        root: the vault's folder.
        state: its state, where that is elsewhere.
        otherwise: told why the vault is opened here instead.
    """
    service = Attached(lambda: endpoint.find(root / endpoint.PRIVATE))
    try:
        service.check()
    except Unavailable:
        otherwise("No service of this vault runs; this program opened it itself.")
        return opened(root, state)
    return Connected(service, opened(root, state, watch=False))
