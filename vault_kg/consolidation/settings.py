"""The vault's own rules of consolidation, from the table `[consolidation]` of `vault.toml`.

[consolidation]
session_ttl_seconds = 3600
update_similarity = 0.95
supersede_similarity = 0.85
least_similarity = 0.3
commits_per_minute = 30
session_characters = 5_000_000

[consolidation.permissions]
default = ["kg.session.*"]
"dry runner" = ["kg.session.begin", "kg.session.add_node", "kg.session.propose"]
"""

from __future__ import annotations

from typing import Annotated
from weakref import WeakKeyDictionary

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from vault_kg.errors import InvalidRecord
from vault_kg.operations.workspace import Workspace
from vault_kg.store import files, vault
from vault_kg.store.files import Stamp

Share = Annotated[float, Field(ge=0, le=1)]


class Rules(BaseModel):
    """How sessions are run in one vault."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    session_ttl_seconds: int = Field(3600, ge=1, le=366 * 86_400)
    update_similarity: Share = 0.95
    """From here on a candidate is taken for the page that it is like."""
    supersede_similarity: Share = 0.85
    """From here on a candidate is taken for the successor of the page that it is like."""
    least_similarity: Share = 0.3
    """What is less alike is not shown as similar."""
    commits_per_minute: int = Field(30, ge=1)
    """Of one agent."""
    session_characters: int = Field(5_000_000, ge=1)
    """Of all candidates of one session together, as they are stored."""
    permissions: dict[str, list[str]] = Field(default_factory=dict)
    """Flags by agent; `default` is for all others."""


def rules(ws: Workspace) -> Rules:
    """Return the rules of a vault.

    Raises:
        InvalidRecord: `vault.toml` says something else than rules.
    """
    stamp = files.stamp(ws.vault.root, vault.CONFIG)
    known = _kept.get(ws)
    if known is None or known[0] != stamp or stamp is None:
        known = _kept[ws] = stamp, _read(ws)
    return known[1]


_kept: WeakKeyDictionary[Workspace, tuple[Stamp | None, Rules]] = WeakKeyDictionary()


def _read(ws: Workspace) -> Rules:
    given = vault.settings_of(ws.vault.root).get("consolidation", {})
    try:
        return Rules.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(("consolidation", *(str(part) for part in first["loc"])))
        raise InvalidRecord(
            f"{vault.CONFIG}: {key}: {first['msg']}; mend it and ask again", path=vault.CONFIG
        ) from None
