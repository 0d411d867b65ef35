"""What changing commands share: request ids, the question before, and the receipt after."""

from __future__ import annotations

import sys
from typing import Any

import click

from vault_kg.cli.context import Session, Settings
from vault_kg.errors import ConflictBlocked, NotFound

request_id = click.option(
    "--request-id", metavar="ID", help="Repeat the request of this id (default: a new one)."
)

yes = click.option("--yes", "-y", is_flag=True, help="Go on without being asked.")

reason = click.option(
    "--reason", metavar="TEXT", required=True, help="Why; it stays in the history."
)


def agreed(question: str, yes: bool) -> bool:
    """Ask on standard error, and say whether the answer was yes.

    Args:
        question: what is going to happen.
        yes: the answer is known.
    """
    if yes:
        return True
    click.echo(f"{question} [y/N] ", err=True, nl=False)
    answer = sys.stdin.readline()
    if not answer:
        click.echo("no answer; --yes goes on without asking", err=True)
    if answer.strip().lower() in ("y", "yes"):
        return True
    click.echo("Nothing was changed.", err=True)
    return False


def tell(settings: Settings, receipt: dict[str, Any]) -> None:
    """Print a receipt: as JSON, or as the lines that a person looks for."""
    from vault_kg.cli import render

    if settings.json:
        render.print_json(receipt)
        return
    verb = receipt["operation"].removeprefix("knowledge_").replace("_", " ")
    what = receipt["path"] or receipt["targetId"] or ""
    done = verb if receipt["changed"] else f"{verb}: nothing to change"
    click.echo(f"{render.heading(done)}  {render.line(what)}")
    git = receipt["git"]
    commit = (git.get("commit") or "")[:10]
    rows = [
        ("id", receipt["targetId"]),
        ("revision", receipt["revision"]),
        ("replacement", receipt["replacementId"]),
        ("git", " ".join(part for part in (git["state"], commit, git.get("reason")) if part)),
        ("request", receipt["requestId"]),
    ]
    render.echo_lines(render.labelled(rows))
    for warning in receipt["warnings"] or ():
        click.echo(render.warn(render.wrapped(f"warning: {warning}", "  ")))


def repeated(session: Session, request: str | None) -> bool:
    """Answer a repeated request with its receipt; says whether there was one.

    A change is fenced with what stands, so a repetition composed anew would be another request.
    """
    if request is None:
        return False
    try:
        result = session.call("knowledge_resume", requestId=request)
    except NotFound:
        return False
    if result["receipt"] is None:
        waiting = ", ".join(result["conflicts"] or ()) or "a person's choice"
        raise ConflictBlocked(
            f"the request is {result['state']}: see `vault-kg review` for {waiting}",
            conflicts=result["conflicts"],
        )
    tell(session.settings, result["receipt"])
    return True


def stop_unless(answer: bool) -> None:
    """End the command with the exit code of a refusal where it was not, or not all, done."""
    if not answer:
        click.get_current_context().exit(1)
