"""`review`: a conflict's three versions, and a person's choice."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from vault_kg.cli import context, receipts
from vault_kg.cli.context import Settings
from vault_kg.errors import InvalidArgument


@context.command
@click.argument("conflict_id", metavar="CONFLICT_ID", required=False)
@click.option("--keep-disk", is_flag=True, help="What is on disk stays.")
@click.option("--apply-proposed", is_flag=True, help="What the request proposed is written.")
@click.option(
    "--merged",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="This file's content is written.",
)
@click.option("--reason", metavar="TEXT", help="Why; it stays in the history.")
@receipts.request_id
def review(
    settings: Settings,
    conflict_id: str | None,
    keep_disk: bool,
    apply_proposed: bool,
    merged: Path | None,
    reason: str | None,
    request_id: str | None,
) -> None:
    """Look at a conflict and resolve it.

    Somebody edited a file while a request was being written; the original, the proposed and the
    edited version are all kept. Without an id, lists the conflicts; without a choice, shows one.
    """
    if sum((keep_disk, apply_proposed, merged is not None)) > 1:
        raise click.UsageError("choose one of --keep-disk, --apply-proposed and --merged FILE")
    choice = "keep_disk" if keep_disk else "apply_proposed" if apply_proposed else None
    text = _content(merged) if merged is not None else None
    choice = "merged" if merged is not None else choice
    if choice and (not conflict_id or not reason):
        raise click.UsageError("a choice needs the conflict's id and --reason")
    with context.session(settings) as session:
        if choice is None:
            _show(session, conflict_id)
            return
        receipt = session.change(
            "knowledge_review", request_id, conflictId=conflict_id, choice=choice, reason=reason,
            merged=text,
        )  # fmt: skip
    receipts.tell(settings, receipt)


def _content(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidArgument(f"{path} is not UTF-8", path=str(path)) from None
    except OSError as error:
        raise InvalidArgument(f"{path} cannot be read: {error.strerror}", path=str(path)) from None


def _show(session: context.Session, conflict_id: str | None) -> None:
    from vault_kg.cli import render

    if conflict_id is None:
        view = session.call("knowledge_diagnostics", section="conflicts")
        lines = _listed(view)
    else:
        view = session.call("knowledge_conflict", conflictId=conflict_id)
        lines = _one(view)
    if session.settings.json:
        render.print_json(view)
    else:
        render.echo_lines(lines)


def _listed(view: dict[str, Any]) -> Iterator[str]:
    from vault_kg.cli import render

    for finding in view["findings"]:
        yield render.heading(render.line(finding["path"] or finding["code"]))
        yield render.wrapped(finding["message"], "    ")
        if finding["hint"]:
            yield render.dim(render.wrapped(finding["hint"], "    "))
    if not view["findings"]:
        yield "No conflict waits for you."


def _one(view: dict[str, Any]) -> Iterator[str]:
    from vault_kg.cli import render

    yield render.heading(render.line(f"{view['id']}  {view['path']}"))
    yield render.line(f"{view['operation']} by {view['actor']}, found {view['foundAt']}")
    if view["reason"]:
        yield render.wrapped(f"its reason: {view['reason']}")
    if view["resolvedAt"]:
        yield render.warn(render.line(f"resolved at {view['resolvedAt']} with {view['choice']}"))
    yield from _difference("what the request proposed", view["original"], view["proposed"])
    yield from _difference("what somebody's edit made", view["original"], view["displaced"])
    if not view["resolvedAt"]:
        yield ""
        command = f"vault-kg review {view['id']} --reason WHY"
        yield render.dim(f"{command} --keep-disk | --apply-proposed | --merged FILE")


def _difference(title: str, before: str | None, after: str | None) -> Iterator[str]:
    from vault_kg.cli import render

    yield "\n" + render.heading(title[0].upper() + title[1:])
    if after is None:
        yield "  (the file is gone)" if before is not None else "  (no file)"
        return
    changes = difflib.unified_diff(
        (before or "").splitlines(), after.splitlines(), "original", title, lineterm=""
    )
    yield render.diff("\n".join(changes)) or "  (as the original)"
