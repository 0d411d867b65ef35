"""Small pieces of maintenance: `chore next`, `chore run`, `chore log`."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from vault_kg.cli import context
from vault_kg.cli.context import Settings

REFUSED = 1
BY_SIGNAL = 128
"""Added to a signal's number, it is the exit code of who was ended by it."""


@click.group()
@context.everywhere
@context.json_flag
def chore() -> None:
    """Name a small piece of maintenance, or have it done.

    Neither a chore nor a pass is sent out until `chores = true` stands in the table [maintenance] of
    vault.toml, or --force is given; `next` needs neither.
    """


@context.command
@click.option("--partition", metavar="NAME", help="Only this level.")
def _next(settings: Settings, **asked: Any) -> None:
    """Print what is to be done next, as the prompt for an agent.

    Nothing is dispatched or changed.
    """
    from vault_kg.cli import render

    with context.session(settings, make=True) as session:
        result = session.call("maintain_chore", **asked)
    if settings.json:
        render.print_json(result)
        return
    render.echo_lines(result["text"].splitlines())
    for one in result["passed_over"]:
        click.echo(f"passed over for {one['kind']}: {one['id']} ({one['reason']})", err=True)


@context.command
@click.option("--agent", metavar="COMMAND", help="What to run; the prompt is its standard input.")
@click.option("--partition", metavar="NAME", help="Only this level.")
@click.option(
    "--pass", "full", is_flag=True, help="A full pass instead of a chore, where one is due."
)
@click.option("--force", is_flag=True, help="Whatever the gates say, but one that runs.")
def _run(settings: Settings, agent: str | None, full: bool, **asked: Any) -> None:
    """Let an agent do a chore: one command, headless, within a time limit.

    VAULT_KG_TOOLS names all that it may call; `vault-kg mcp` and every operation of a command that
    finds this in its environment keep to it. Exits with 1 where a gate is shut or the command fails;
    every dispatch and refusal is logged.
    """
    from vault_kg.cli import render
    from vault_kg.maintain.chores import running

    with context.session(settings, make=True) as session, _ending() as signals:
        what = "pass" if full else "chore"
        sent = session.call("maintain_dispatch", what=what, agent=agent, **asked)
        result: dict[str, Any] = {"dispatch": sent["dispatch"], "said": ""}
        if sent["prompt"] is not None:
            command = running.command_of(sent["dispatch"]["agent"])
            try:
                ended = running.run(
                    command, sent["prompt"], sent["seconds"], sent["cwd"],
                    environment={context.TOOLS: ",".join(sent["tools"])},
                    stopped=lambda: bool(signals),
                )  # fmt: skip
            except BaseException:
                _end(session, sent, "failed", running.INTERRUPTED)
                raise
            done = _end(session, sent, ended.state, ended.reason)
            result = {"dispatch": done["dispatch"], "said": ended.said}
    if signals:
        click.get_current_context().exit(BY_SIGNAL + signals[0])
    made = result["dispatch"]
    if settings.json:
        render.print_json(result)
    else:
        said = [result["said"].rstrip()] if result["said"].strip() else []
        reason = f": {made['reason']}" if made["reason"] else ""
        render.echo_lines(
            [*said, f"{made['kind']} {made['partition'] or '-'}: {made['state']}{reason}"]
        )
    if made["state"] != "done":
        click.get_current_context().exit(REFUSED)


@context.command
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True)
@click.option("--cursor", metavar="CURSOR", help="Go on where an answer ended.")
def _log(settings: Settings, limit: int, cursor: str | None) -> None:
    """List what was dispatched or refused, and why."""
    from vault_kg.cli import render

    with context.session(settings, make=True) as session:
        result = session.call("maintain_dispatches", limit=limit, cursor=cursor)
    if settings.json:
        render.print_json(result)
        return
    render.echo_lines(result["text"].splitlines())
    if result["next_cursor"]:
        told = f"{result['count']} of {result['total']}"
        click.echo(f"{told}; more with --cursor {result['next_cursor']}", err=True)


@contextmanager
def _ending() -> Iterator[list[int]]:
    """Collect the signals that ask this process to end, so that the agent is ended first."""
    came: list[int] = []
    before: dict[int, Any] = {}
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) != signal.SIG_IGN:
            before[number] = signal.signal(number, lambda asked, _: came.append(asked))
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(session: Any, sent: dict[str, Any], state: str, reason: str) -> dict[str, Any]:
    ended: dict[str, Any] = session.call(
        "maintain_dispatch_end", id=sent["dispatch"]["id"], state=state, reason=reason
    )
    return ended


chore.add_command(_next, "next")
chore.add_command(_run, "run")
chore.add_command(_log, "log")
