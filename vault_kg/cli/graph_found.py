"""How answers of the graph look to a person: nodes and edges as lines, and what to know of them."""

from __future__ import annotations

import sys
from typing import Any

import click

from vault_kg.cli.context import Settings
from vault_kg.errors import NotFound

LISTED = 30
"""Lines of a list on a terminal; elsewhere, and where a number is asked for, all that there are."""

Cells = list[str]

ASK = "`vault-kg graph resolve WORDS` finds by words, `vault-kg graph index` takes in what is new"


def check_found(answer: dict[str, Any], name: str) -> None:
    """Refuse an answer about nothing.

    Raises:
        NotFound: nothing in the graph is called so; names what is called alike.
    """
    meta = answer["data"]["meta"]
    if meta["freshness"]["state"] == "empty":
        raise NotFound("nothing is indexed yet: run `vault-kg graph index`, for a folder beside the "
                       "vault with its path", candidates=[])  # fmt: skip
    said = "; is one of these meant?" if meta["near"] else "."
    raise NotFound(
        f"nothing in the graph is called {name!r}. {ASK}{said}",
        candidates=[{"uid": uid} for uid in meta["near"]],
    )


def node(shown: dict[str, Any]) -> Cells:
    """Return a node as its uid and line; a record with its title, which its uid does not say."""
    if shown["kind"] == "record":
        return [shown["uid"], shown["label"]]
    return [shown["uid"], f"line {shown['start_line']}" if shown["start_line"] else ""]


def edge(shown: dict[str, Any], far: str, title: str | None = None) -> Cells:
    """Return an edge as its kind, confidence, far end and line; a record's title for the line."""
    place = f"line {shown['line']}" if shown["line"] else ""
    return [shown["kind"], f"{shown['confidence']:.1f}", far, title or place]


def titles(nodes: list[dict[str, Any]]) -> dict[str, str]:
    """Return the titles of the records among nodes, by uid."""
    return {each["uid"]: each["label"] for each in nodes if each["kind"] == "record"}


def show(
    settings: Settings, answer: dict[str, Any], rows: list[Cells], *, uid: int, total: int = 0,
    most: int | None = None, nothing: str = "",
) -> None:  # fmt: skip
    """Print an answer as JSON, or its lines with what people must know of it.

    Args:
        settings: of the command.
        answer: the operation's result.
        rows: the lines, as cells.
        uid: which cell is a uid; a terminal may have no room for all of it.
        total: how many lines there would be, where there are more than `rows`.
        most: how many lines are wanted at most; None for what fits a terminal.
        nothing: what is said where there is no line.
    """
    from vault_kg.cli import render

    if settings.json:
        render.print_json(answer)
        return
    listed = most or (LISTED if sys.stdout.isatty() else len(rows))
    clean = [[render.line(cell) for cell in row] for row in rows[:listed]]
    render.echo_lines(render.table(clean, flexible=uid, keep_end=True))
    meta, whole = answer["data"]["meta"], max(total, len(rows))
    if not rows and nothing:
        click.echo(render.line(nothing), err=True)
    if whole > len(clean):
        more = "" if most else "; --json has more"
        click.echo(f"{len(clean):,} of {whole:,} are shown{more}", err=True)
    if meta["hint"] and rows:
        click.echo(render.line(meta["hint"]), err=True)
    if meta["freshness"]["state"] in ("stale", "gone"):
        path = meta["freshness"]["path"]
        changed = f"{render.line(path)} has changed" if path else "records have changed"
        click.echo(f"{changed}: vault-kg graph index", err=True)
