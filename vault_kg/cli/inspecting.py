"""How the vault is, and what stands on what: `status`, `diagnostics`, `impact`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from vault_kg.cli import context
from vault_kg.cli.context import Settings

SECTIONS = (
    "all", "vocabulary", "conflicts", "missing", "sources", "duplicates", "chains", "files", "git",
    "links", "merges",
)  # fmt: skip


@context.command
def status(settings: Settings) -> None:
    """Say how the vault is.

    What it holds, and what waits for Git or a person.
    """
    from vault_kg.cli import render

    with context.session(settings, make=True) as session:
        result = session.call("knowledge_status")
    if settings.json:
        render.print_json(result)
        return
    render.echo_lines(_status_lines(result))


@context.command
@click.option("--section", type=click.Choice(SECTIONS), default="all", show_default=True)
@click.option("--limit", type=click.IntRange(1, 1000), default=100, show_default=True)
@click.option("--cursor", metavar="CURSOR", help="Go on where an answer ended.")
def diagnostics(settings: Settings, **asked: Any) -> None:
    """List what somebody should look at.

    Each finding has its path and line, and says what to do.
    """
    from vault_kg.cli import render

    with context.session(settings, make=True) as session:
        result = session.call("knowledge_diagnostics", **asked)
    if settings.json:
        render.print_json(result)
        return
    render.echo_lines(_finding_lines(result))
    if result["nextCursor"]:
        click.echo(
            f"{result['count']} of {result['total']}; more with --cursor {result['nextCursor']}",
            err=True,
        )


@context.command
@click.argument("name", metavar="ID|NAME")
@click.option(
    "--operation",
    type=click.Choice(["withdraw", "correct", "merge"]),
    default="withdraw",
    show_default=True,
)
def impact(settings: Settings, name: str, operation: str) -> None:
    """Show what stands on a record.

    That is what would be left unresolved if it were withdrawn, corrected or merged.
    """
    from vault_kg.cli import render

    with context.session(settings) as session:
        result = session.call("knowledge_impact", id=session.resolve(name), operation=operation)
    if settings.json:
        render.print_json(result)
        return
    render.echo_lines(impact_lines(result))


def impact_lines(result: dict[str, Any]) -> Iterator[str]:
    """Yield what stands on a record, nearest first."""
    from vault_kg.cli import render

    if not result["total"]:
        yield "Nothing stands on it."
        return
    yield f"{result['total']} record(s) stand on it and stay as they are:"
    rows = [
        [f"  {item['id']}", item["kind"], f"via {item['via']}", render.line(item["title"])]
        for item in result["items"]
    ]
    yield from render.table(rows, flexible=3)
    if result["truncated"]:
        yield f"  … and {result['total'] - len(result['items'])} more"


def _status_lines(result: dict[str, Any]) -> Iterator[str]:
    from vault_kg.cli import render

    past = {k: v for k, v in result["history"].items() if k != "active" and v}
    git, semantic = result["git"], result["semantic"]
    waiting = f"{git['pending']} waiting" if git["pending"] else ""
    reason = f"({git['reason']})" if waiting and git["reason"] else git["reason"]
    yield f"{render.heading(render.line(result['root']))}  {result['vaultId']}"
    yield from render.labelled(
        [
            ("current", render.counted(result["records"])),
            ("history", ", ".join(f"{n:,} {state}" for state, n in past.items())),
            ("journal", f"at {result['position']:,}"),
            ("index", f"{result['index'].get('passages') or 0:,} passages, looked at "
                      f"{result['index'].get('scannedAt') or 'never'}"),
            ("git", " ".join(said for said in (waiting, reason) if said) or "up to date"),
            ("meaning", _meaning(semantic)),
        ]
    )  # fmt: skip
    for step in result["nextSteps"]:
        yield render.warn(f"  {step['why']}: {step['run']}")


def _meaning(semantic: dict[str, Any]) -> str:
    """Return how search by meaning is: its state, the model, what has its vector, and why not all."""
    ready = semantic["ready"] and f"{semantic['ready']:,} passages"
    failed = semantic["failed"] and f"{semantic['failed']:,} failed"
    said = (semantic["state"], semantic.get("model"), ready, failed, semantic["reason"])
    return ", ".join(part for part in said if part)


def _finding_lines(result: dict[str, Any]) -> Iterator[str]:
    from vault_kg.cli import render

    for finding in result["findings"]:
        where = ":".join(str(part) for part in (finding["path"], finding["line"]) if part)
        head = f"{finding['severity']}  {finding['code']}  {where}"
        yield render.heading(render.line(head)) + (
            f"  {render.dim(render.line(finding['record']))}" if finding["record"] else ""
        )
        yield render.wrapped(finding["message"], "    ")
        if finding["hint"]:
            yield render.dim(render.wrapped(finding["hint"], "    "))
    for pair in result["mergeCandidates"]:
        said = f"may be one {pair['type']} ({pair['strength']}): {pair['first']}  {pair['second']}"
        yield render.heading(render.line(said))
        yield render.wrapped(pair["reason"], "    ")
    if not result["findings"] and not result["mergeCandidates"]:
        yield "Nothing needs to be looked at."
