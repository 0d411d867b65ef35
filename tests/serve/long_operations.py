"""Operations that take long, for tests of the transports; run as a program, `vault-kg` with them.

They are run by the real registry and the real service; only what they do is ours.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import defaultdict

from pydantic import Field

from vault_kg.errors import Cancelled
from vault_kg.operations import registry
from vault_kg.operations.base import Model, Request
from vault_kg.operations.caller import Caller
from vault_kg.operations.registry import Operation
from vault_kg.operations.workspace import Workspace

GATES: dict[str, threading.Event] = defaultdict(threading.Event)
"""What `gated` waits for, by name."""

STARTED: dict[str, threading.Event] = defaultdict(threading.Event)
ENDED: dict[str, int] = {}
"""How many steps were done when a `stepwise` call ended, by its name."""

LONGEST = 30.0


class Gated(Request):
    gate: str = "gate"


class Steps(Request):
    name: str = "steps"
    steps: int = Field(10, ge=1)
    pause: float = 0.02
    silent: bool = False


class Padding(Request):
    size: int = 1_000


class Said(Model):
    said: str
    partitions: list[str] | None = None
    actor: str = ""


def gated(_: Workspace, request: Gated, caller: Caller) -> Said:
    """Wait until the test opens a gate."""
    STARTED[request.gate].set()
    assert GATES[request.gate].wait(LONGEST)
    return _said(request.gate, caller)


def stepwise(_: Workspace, request: Steps, caller: Caller) -> Said:
    """Do steps with pauses, report each, and look between them whether to go on."""
    STARTED[request.name].set()
    done = 0
    try:
        for done in range(request.steps):
            if caller.cancelled():
                raise Cancelled(f"taken back after {done} steps")
            if not request.silent:
                caller.report(done, request.steps, f"step {done}")
            time.sleep(request.pause)
        caller.report(request.steps, request.steps, "done")
        done = request.steps
    finally:
        ENDED[request.name] = done
    return _said(f"{done} steps", caller)


def padded(_: Workspace, request: Padding, caller: Caller) -> Said:
    """Answer with so much text."""
    return _said("x" * request.size, caller)


def faulty(_: Workspace, request: Request, caller: Caller) -> Said:
    """Fail as only a fault of ours can."""
    raise ZeroDivisionError("of no use")


def _said(text: str, caller: Caller) -> Said:
    seen = None if caller.partitions is None else sorted(caller.partitions)
    return Said(said=text, partitions=seen, actor=caller.actor)


def _operation(handler, scope, request) -> Operation:
    text = handler.__doc__ or ""
    return Operation(handler.__name__, text, scope, "testing", request, Said, handler)


OPERATIONS = {
    operation.name: operation
    for operation in (
        _operation(gated, "read", Gated),
        _operation(stepwise, "write", Steps),
        _operation(padded, "read", Padding),
        _operation(faulty, "read", Request),
    )
}


if __name__ == "__main__":
    from vault_kg.cli import main

    registry.operations()
    registry._OPERATIONS.update(OPERATIONS)
    sys.exit(main(sys.argv[1:]))
