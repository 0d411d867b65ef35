"""Which step of a session an agent may take: one flag each, granted in `vault.toml`.

An agent that is not named there has what `default` says, and everything where nothing does. A role
with every flag but `kg.session.commit` is a dry run. An agent goes by the name that the operator of its
server gave it, else by the one that it states: the flags keep honest agents apart, and no others.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Literal

from vault_kg.consolidation.settings import rules
from vault_kg.errors import PermissionDenied
from vault_kg.operations.caller import Caller
from vault_kg.operations.workspace import Workspace

Step = Literal["begin", "add_node", "add_edge", "get_similar", "propose", "commit", "abort"]

DEFAULT = "default"
_EVERYTHING = ["kg.session.*"]


def require(ws: Workspace, caller: Caller, step: Step) -> None:
    """Refuse a step that the vault does not grant to this agent.

    Raises:
        PermissionDenied: says which flag is missing.
    """
    flag = f"kg.session.{step}"
    given = rules(ws).permissions
    granted = given.get(caller.actor, given.get(DEFAULT, _EVERYTHING))
    if not any(fnmatchcase(flag, pattern) for pattern in granted):
        raise PermissionDenied(
            f"the agent {caller.actor!r} does not hold {flag}; the owner of the vault grants it in "
            "[consolidation.permissions] of .vault-kg/vault.toml",
            flag=flag,
            agent=caller.actor,
        )
