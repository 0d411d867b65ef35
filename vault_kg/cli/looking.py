"""Finding and listing: `search`, `records`, `lookup`, `connections`, `history`."""

from __future__ import annotations

from typing import Any

import click

from vault_kg.cli import context, moments
from vault_kg.cli.context import Settings

KINDS = click.Choice(["page", "claim", "relationship", "note"])


@context.words_command
@click.argument("query", nargs=-1, required=True)
@click.option("--kind", "kinds", type=KINDS, multiple=True, help="Only these kinds.")
@click.option("--type", "types", metavar="TYPE", multiple=True, help="Only these types.")
@click.option("--partition", "partitions", metavar="NAME", multiple=True, help="Only there.")
@click.option("--tag", "tags", metavar="TAG", multiple=True, help="Only what has these tags.")
@click.option("--mode", type=click.Choice(["hybrid", "text", "semantic"]), help="How to search.")
@click.option(
    "--min-similarity",
    type=click.FloatRange(0, 1),
    metavar="NUMBER",
    help="Leave out what only meaning finds and is less alike, from 0 to 1 (default: .2); 0 lists "
    "all.",
)
@click.option(
    "--historical", is_flag=True, help="Also what was superseded; never what was withdrawn."
)
@click.option("--limit", type=click.IntRange(1, 100), default=10, show_default=True)
@click.option("--cursor", metavar="CURSOR", help="Go on where an answer ended.")
def search(settings: Settings, query: tuple[str, ...], historical: bool, **filters: Any) -> None:
    """Find records and notes by words and meaning.

    "a phrase" asks for the phrase, -word excludes, tag:x and type:x filter. A folder that is no
    vault is indexed first, and read as it is; no file of yours is changed, and nothing goes to Git.
    """
    from vault_kg.cli import found, render

    asked = {name: list(v) if isinstance(v, tuple) else v for name, v in filters.items()}
    asked = {name: value for name, value in asked.items() if value not in (None, [], "")}
    if historical:
        asked["lifecycle"] = "historical"
    with context.session(settings, make=True) as session:
        result = session.call("knowledge_search", query=" ".join(query), **asked)
    if settings.json:
        render.print_json(result)
        return
    found.print_hits(result)


@context.command
@click.option("--kind", type=KINDS, help="Only this kind.")
@click.option("--type", metavar="TYPE", help="Only this type.")
@click.option("--partition", metavar="NAME", help="Only there.")
@click.option("--owner", metavar="ID|NAME", help="Only claims of this page.")
@click.option(
    "--lifecycle",
    type=click.Choice(["active", "superseded", "withdrawn", "merged", "all"]),
    help="Which state (default: active).",
)
@moments.option
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True)
@click.option("--cursor", metavar="CURSOR", help="Go on where an answer ended.")
def records(settings: Settings, owner: str | None, as_of: Any, **filters: Any) -> None:
    """List records, the latest changed first."""
    from vault_kg.cli import found, render

    with context.session(settings, make=True) as session:
        owner_id = session.resolve(owner) if owner else None
        result = session.call("knowledge_records", owner=owner_id, asOf=as_of, **filters)
    if settings.json:
        render.print_json(result)
        return
    found.print_records(result)


@context.command
@click.argument("text")
@click.option("--type", metavar="TYPE", help="Of this type.")
@click.option("--partition", metavar="NAME", help="In this partition.")
@moments.option
def lookup(settings: Settings, text: str, as_of: Any, **filters: Any) -> None:
    """Find the record that a name means exactly.

    A name is an id, a title, an alias or a path.
    """
    from vault_kg.cli import found, render

    with context.session(settings) as session:
        name = session.inside(text) or text
        result = session.call("knowledge_lookup", text=name, asOf=as_of, **filters)
    if settings.json:
        render.print_json(result)
        return
    if result["followed"]:
        click.echo(f"{render.line(text)} was merged ({result['followed']}); now it is", err=True)
    found.print_records({"records": [result["record"]], "count": 1, "total": 1})


@context.command
@click.argument("name", metavar="ID|NAME")
@click.option("--direction", type=click.Choice(["out", "in", "both"]), help="Default: both.")
@click.option("--type", "types", metavar="TYPE", multiple=True, help="Only these connections.")
@click.option("--depth", type=click.IntRange(1, 5), help="How far (default: 1).")
@click.option("--limit", type=click.IntRange(1, 1000), default=100, show_default=True)
@moments.option
def connections(
    settings: Settings, name: str, types: tuple[str, ...], as_of: Any, **filters: Any
) -> None:
    """Show what a record is joined to."""
    from vault_kg.cli import found, render

    with context.session(settings) as session:
        record = session.resolve(name)
        result = session.call(
            "knowledge_connections", id=record, types=list(types) or None, asOf=as_of, **filters
        )
    if settings.json:
        render.print_json(result)
        return
    render.echo_lines(found.connection_lines(result))


@context.command
@click.argument("name", metavar="ID|NAME")
@click.option("--diff", is_flag=True, help="Also what changed in the file.")
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True)
@click.option("--cursor", metavar="CURSOR", help="Go on where an answer ended.")
def history(settings: Settings, name: str, **asked: Any) -> None:
    """List a record's revisions, newest first."""
    from vault_kg.cli import found, render

    with context.session(settings) as session:
        result = session.call("knowledge_history", id=session.resolve_any(name), **asked)
    if settings.json:
        render.print_json(result)
        return
    found.print_history(result)
