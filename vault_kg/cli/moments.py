"""Reading `--as-of`: a date or time, a Git commit, or a journal position."""

from __future__ import annotations

import re
from typing import Any

import click

_TIME = re.compile(r"\d{4}-\d{2}-\d{2}([T ].*)?")
_NUMBER = re.compile(r"(?:revision:)?(\d{1,15})")


class Moment(click.ParamType[dict[str, Any]]):
    """`2024-05-01`, `2024-05-01T10:00:00Z`, `revision:12` (or `12`), or a Git commit."""

    name = "moment"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> dict[str, Any]:
        """Return the `asOf` of a request."""
        if isinstance(value, dict):
            return value
        said = str(value).strip()
        if _TIME.fullmatch(said):
            return {"time": said}
        if number := _NUMBER.fullmatch(said):
            return {"revision": int(number[1])}
        commit = said.removeprefix("commit:")
        if not commit:
            self.fail("give a date, a commit or revision:N", param, ctx)
        return {"commit": commit}


option = click.option(
    "--as-of",
    metavar="MOMENT",
    type=Moment(),
    help="As it stood: a date or time, revision:N, or a Git commit.",
)
