"""When chores and passes may be dispatched, from the table `[maintenance]` of `vault.toml`.

[maintenance]
chores = true                  # off where it is left out
agent = "claude -p --allowedTools 'mcp__vault-kg__*'"   # the command that does one
seconds = 420                  # its time limit; a pass has pass_seconds
gauge = "/path/of/quota.json"  # what is left of an allowance, if there is one to mind
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from vault_kg.errors import InvalidRecord
from vault_kg.operations.workspace import Workspace
from vault_kg.store import vault


class Settings(BaseModel):
    """The dispatch of one vault; numbers are those of the knowledge-graph plugin."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    chores: bool = False
    agent: str = ""
    seconds: int = Field(420, ge=1, le=86_400)
    pass_seconds: int = Field(1_500, ge=1, le=86_400)
    gauge: str | None = None
    minutes_between: float = Field(45, ge=0)
    """Between two chores of any level."""
    hours_between: float = Field(6, ge=0)
    """Between two chores of one level."""
    chores_a_day: int = Field(8, ge=0)
    least_debt: float = Field(0.12, ge=0, le=1)
    pass_days: float = Field(21, ge=0)
    """A level is due for a full pass so long after its last stamp."""
    pass_nodes: int = Field(8, ge=0)


def settings(ws: Workspace) -> Settings:
    """Return the settings of a vault.

    Raises:
        InvalidRecord: `vault.toml` says something else.
    """
    given = vault.settings_of(ws.vault.root).get("maintenance", {})
    try:
        return Settings.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(("maintenance", *(str(part) for part in first["loc"])))
        raise InvalidRecord(
            f"{vault.CONFIG}: {key}: {first['msg']}; mend it and ask again", path=vault.CONFIG
        ) from None
