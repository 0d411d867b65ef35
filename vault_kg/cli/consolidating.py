"""Consolidation for people: `sessions` with their audit, and `events` with who is told of them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import click

from vault_kg.cli import context, receipts
from vault_kg.cli.context import Settings

FOLLOW_SECONDS = 1.0


@click.group(invoke_without_command=True)
@context.everywhere
@context.json_flag
@click.pass_context
def sessions(ctx: click.Context) -> None:
    """See consolidation sessions, and take one back."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_sessions)


@sessions.command("list")
@context.everywhere
@context.json_flag
@click.pass_obj
def list_sessions(settings: Settings) -> None:
    """List the sessions that are open, at most a thousand."""
    found = _called(settings, "kg_sessions", limit=1_000)
    _show(settings, found, _session_lines)
    _tell_rest(settings, found)


@sessions.command()
@click.argument("session", required=False)
@click.option("--node", metavar="ID", help="Only those that changed this record.")
@click.option("--source", metavar="ID", help="Only those of this artefact.")
@click.option("--limit", type=click.IntRange(1, 500), default=50, show_default=True)
@click.option("--cursor", metavar="CURSOR", help="Go on where an answer ended.")
@context.everywhere
@context.json_flag
@click.pass_obj
def audit(
    settings: Settings, session: str | None, node: str | None, source: str | None, limit: int,
    cursor: str | None,
) -> None:  # fmt: skip
    """List what was committed, the newest first; of one SESSION every candidate."""
    found = _called(
        settings, "kg_audit", session_id=session, node_id=node, source_id=source, limit=limit,
        cursor=cursor,
    )  # fmt: skip
    _show(settings, found, _audit_lines)
    _tell_rest(settings, found, f"; more with --cursor {found['next_cursor']}")


@sessions.command()
@click.argument("session")
@receipts.reason
@receipts.yes
@context.everywhere
@context.json_flag
@click.pass_obj
def undo(settings: Settings, session: str, reason: str, yes: bool) -> None:
    """Take a committed session back: values as before."""
    receipts.stop_unless(receipts.agreed(f"Take {session} back?", yes))
    done = _called(settings, "kg_undo_consolidation", session_id=session, reason=reason)
    _show(settings, done, _undone_lines)


@click.group(invoke_without_command=True)
@context.everywhere
@context.json_flag
@click.pass_context
def events(ctx: click.Context) -> None:
    """See who is told of consolidations, and tell them."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_subscribers)


@events.command("list")
@context.everywhere
@context.json_flag
@click.pass_obj
def list_subscribers(settings: Settings) -> None:
    """List the receivers, and how far behind each is."""
    _show(settings, _called(settings, "kg_event_subscribers"), _subscriber_lines)


@events.command()
@click.option("--limit", type=click.IntRange(1, 1000), default=100, show_default=True)
@click.option("--cursor", metavar="CURSOR", help="Go on where an answer ended.")
@context.everywhere
@context.json_flag
@click.pass_obj
def read(settings: Settings, limit: int, cursor: str | None) -> None:
    """Print the events, one JSON document a line."""
    import json

    found = _called(settings, "kg_outbox_read", limit=limit, cursor=cursor)
    if not settings.json:
        for event in found["events"]:
            click.echo(json.dumps(event, ensure_ascii=False))
        if found["next_cursor"]:
            click.echo(f"go on with --cursor {found['next_cursor']}", err=True)
        return
    _show(settings, found, _no_lines)


@events.command()
@click.argument("name")
@click.argument("command", nargs=-1)
@click.option("--file", metavar="FILE", help="Append each event to this file, as a line.")
@click.option("--from-start", is_flag=True, help="Also what has happened already.")
@context.everywhere
@context.json_flag
@click.pass_obj
def subscribe(
    settings: Settings, name: str, command: tuple[str, ...], file: str | None, from_start: bool
) -> None:
    """Have events given to COMMAND on its standard input, or appended to a file.

    Write -- before a command that has options of its own.
    """
    from pathlib import Path

    found = _called(
        settings, "kg_event_subscribe", name=name, command=list(command) or None,
        file=str(Path(file).absolute()) if file else None, from_start=from_start,
    )  # fmt: skip
    _show(settings, found, _subscriber_lines)


@events.command()
@click.argument("name")
@context.everywhere
@context.json_flag
@click.pass_obj
def unsubscribe(settings: Settings, name: str) -> None:
    """Remove a receiver, with its dead letters."""
    _show(settings, _called(settings, "kg_event_unsubscribe", name=name), _subscriber_lines)


@events.command()
@click.option("--follow", is_flag=True, help="Go on until interrupted.")
@context.everywhere
@context.json_flag
@click.pass_obj
def deliver(settings: Settings, follow: bool) -> None:
    """Deliver what is due. A running service does so by itself."""
    from vault_kg.cli import render

    with context.session(settings, look=False) as session:
        while True:
            done = session.call("kg_deliver_events")
            if settings.json:
                render.print_json(done)
            elif not follow or done["delivered"] or done["failed"] or done["buried"]:
                click.echo(", ".join(f"{n} {what}" for what, n in done.items()))
            if not follow:
                return
            time.sleep(FOLLOW_SECONDS)


@events.command()
@click.argument("name", required=False)
@click.option("--retry", is_flag=True, help="Try them again.")
@context.everywhere
@context.json_flag
@click.pass_obj
def dead(settings: Settings, name: str | None, retry: bool) -> None:
    """List the events that a receiver was not given, or try them again."""
    if retry:
        done = _called(settings, "kg_reprocess_dead_letters", subscriber=name)
        _show(settings, done, _retried_lines)
        if done["failed"]:
            click.get_current_context().exit(1)
        return
    found = _called(settings, "kg_dead_letters", subscriber=name, limit=1_000)
    _show(settings, found, _dead_lines)
    _tell_rest(settings, found)


def _tell_rest(settings: Settings, found: dict[str, Any], more: str = "") -> None:
    """Say on standard error that there is more than was listed."""
    if found["next_cursor"] and not settings.json:
        click.echo(f"{found['count']} of {found['total']}{more}", err=True)


def _called(settings: Settings, operation: str, /, **asked: Any) -> dict[str, Any]:
    with context.session(settings) as session:
        return session.call(operation, **asked)


def _show(settings: Settings, found: dict[str, Any], lines: Any) -> None:
    from vault_kg.cli import render

    if settings.json:
        render.print_json(found)
    else:
        render.echo_lines(lines(found))


def _no_lines(_: dict[str, Any]) -> Iterator[str]:
    yield from ()


def _session_lines(found: dict[str, Any]) -> Iterator[str]:
    from vault_kg.cli import render

    rows = [
        [
            s["session_id"],
            render.line(s["agent"]),
            render.line(f"{s['source_type']} {s['source_id']}"),
            f"{s['nodes']} nodes, {s['edges']} edges",
            f"until {s['expires_at']}" if s["committable"] else render.line(s["failure"]),
        ]
        for s in found["sessions"]
    ]
    yield from render.table(rows, flexible=4) if rows else ["No session is open."]


def _audit_lines(found: dict[str, Any]) -> Iterator[str]:
    from vault_kg.cli import render

    for row in found["rows"]:
        counts = ", ".join(f"{len(many)} {what}" for what, many in row["applied"].items())
        head = (row["audit_row_id"], row["session_id"], row["committed_at"], row["agent"])
        yield render.heading("  ".join(render.line(part) for part in head))
        source = f"{row['source_type']} {row['source_id']} {row['source_version'] or ''}"
        yield f"  {render.line(source)}: {counts}, {len(row['edges_added'])} edges"
        if row["undone"]:
            said = f"undone by {row['undone']['agent']}: {row['undone']['reason']}"
            yield render.warn("  " + render.line(said))
        for candidate in row["candidates"] or ():
            yield from _candidate_lines(candidate)
        for override in row["overrides"] or ():
            said = f"{override['candidate_id']} → {override['hint']}: {override['rationale']}"
            yield render.wrapped(f"override {said}", "    ")
    if not found["rows"]:
        yield "Nothing was consolidated."


def _candidate_lines(candidate: dict[str, Any]) -> Iterator[str]:
    from vault_kg.cli import render

    what = candidate.get("title") or " → ".join(
        str(next(iter(candidate[end].values()))) for end in ("src", "dst")
    )
    proposal = candidate.get("proposal") or {}
    said = (candidate["candidate_id"], candidate["type"], what)
    yield "    " + "  ".join(render.line(part) for part in said)
    if proposal:
        yield render.dim(render.wrapped(f"{proposal['hint']}: {proposal['rationale']}", "      "))


def _undone_lines(done: dict[str, Any]) -> Iterator[str]:
    yield (
        f"{done['session_id']} is undone: {len(done['withdrawn'])} withdrawn, "
        f"{len(done['restored'])} as before."
    )


def _subscriber_lines(found: dict[str, Any]) -> Iterator[str]:
    from vault_kg.cli import render

    rows = []
    for each in found["subscribers"]:
        state = f"{each['behind']} behind" if each["behind"] else "up to date"
        state += f", {each['dead_letters']} dead" if each["dead_letters"] else ""
        state += f", attempt {each['attempts']} failed" if each["attempts"] else ""
        told = each["error"] or " ".join(each["target"])
        rows.append([render.line(each["name"]), each["kind"], state, render.line(told)])
    yield from render.table(rows, flexible=3) if rows else ["Nobody is told."]


def _dead_lines(found: dict[str, Any]) -> Iterator[str]:
    from vault_kg.cli import render

    rows = [
        [render.line(each["subscriber"]), each["event_id"], each["at"], render.line(each["error"])]
        for each in found["dead_letters"]
    ]
    yield from render.table(rows, flexible=3) if rows else ["There are no dead letters."]


def _retried_lines(done: dict[str, Any]) -> Iterator[str]:
    yield f"{done['delivered']} delivered, {len(done['failed'])} failed again."
    yield from _dead_lines({"dead_letters": done["failed"]}) if done["failed"] else ()
