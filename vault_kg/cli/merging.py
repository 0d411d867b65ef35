"""`merge` and `unmerge`: two pages that are one thing."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Any

import click

from vault_kg.cli import context, inspecting, receipts
from vault_kg.cli.context import Settings
from vault_kg.cli.correcting import Citation


@context.command
@click.argument("survivor", metavar="SURVIVOR")
@click.argument("absorbed", metavar="ABSORBED")
@receipts.reason
@click.option(
    "--evidence",
    metavar="SOURCE[:LINES]",
    type=Citation(),
    multiple=True,
    help="A source that says that they are one.",
)
@click.option("--title", metavar="TITLE", help="A new title for the survivor.")
@receipts.yes
@receipts.request_id
def merge(
    settings: Settings,
    survivor: str,
    absorbed: str,
    reason: str,
    evidence: tuple[dict[str, str], ...],
    title: str | None,
    yes: bool,
    request_id: str | None,
) -> None:
    """Merge two pages that are one thing.

    ABSORBED is merged into SURVIVOR. It stays on disk, and every reference to it means the
    survivor. The survivor's own values win; bodies are never combined. `unmerge` takes it back.
    """
    with context.session(settings) as session:
        if receipts.repeated(session, request_id):
            return
        kept = session.call("knowledge_get", id=session.resolve(survivor))
        gone = session.call("knowledge_get", id=session.resolve(absorbed))
        if not yes:
            impact = session.call("knowledge_impact", id=gone["id"], operation="merge")
            click.echo(
                "\n".join([*_preview(kept, gone), *inspecting.impact_lines(impact)]), err=True
            )
        receipts.stop_unless(receipts.agreed("Merge them?", yes))
        receipt = session.change(
            "knowledge_merge", request_id, reason=reason, title=title, survivor=_fence(kept),
            absorbed=_fence(gone), evidence=list(evidence) or None,
        )  # fmt: skip
    receipts.tell(settings, receipt)
    if not settings.json:
        _tell_differences(receipt)


@context.command
@click.argument("record_id", metavar="ID")
@receipts.reason
@receipts.yes
@receipts.request_id
def unmerge(
    settings: Settings, record_id: str, reason: str, yes: bool, request_id: str | None
) -> None:
    """Take a merge back.

    ID is the page that was absorbed. It is active again, and what the merge added leaves the
    survivor, except values edited since.
    """
    from vault_kg.cli import render

    with context.session(settings) as session:
        if receipts.repeated(session, request_id):
            return
        view = session.call("knowledge_get", id=record_id, followMerges=False)
        if not yes:
            into = view["mergedInto"] or "nothing"
            said = f"{view['title']}  {view['id']}  was merged into {into}"
            click.echo(render.line(said), err=True)
        receipts.stop_unless(receipts.agreed("Take the merge back?", yes))
        receipt = session.change(
            "knowledge_unmerge", request_id, id=view["id"], expectedRevision=view["revision"],
            expectedHash=view["hash"], reason=reason,
        )  # fmt: skip
    receipts.tell(settings, receipt)


def _fence(view: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": view["id"],
        "expectedRevision": view["revision"],
        "expectedHash": view["hash"],
    }


def _preview(kept: dict[str, Any], gone: dict[str, Any]) -> Iterator[str]:
    """Yield what the survivor would gain, and where the two differ."""
    from vault_kg.cli import render

    yield render.heading(render.line(f"{kept['title']}  {kept['id']}")) + "  stays, and absorbs"
    yield render.heading(render.line(f"{gone['title']}  {gone['id']}"))
    known = {_folded(name) for name in (kept["title"], *kept["aliases"])}
    names = [n for n in (gone["title"], *gone["aliases"]) if _folded(n) not in known]
    values = {"summary": gone["summary"], **gone["fields"]}
    own = {"summary": kept["summary"], **kept["fields"]}
    lacks = {k: v for k, v in values.items() if v is not None and own.get(k) is None}
    rows = [
        ("gains aliases", render.listed(names)),
        ("gains tags", render.listed(t for t in gone["tags"] if t not in kept["tags"])),
        ("gains evidence", gone["evidenceTotal"] or None),
        *((f"gains {key}", value) for key, value in lacks.items()),
    ]
    yield from render.labelled(rows)
    for key, value in values.items():
        if value is not None and own.get(key) not in (None, value):
            yield render.warn(render.line(f"  {key} stays {own[key]}, not {value}"))
    if gone["body"].strip() and kept["body"].strip():
        yield render.dim("  both have a body; the survivor's stays as it is")


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()


def _tell_differences(receipt: dict[str, Any]) -> None:
    from vault_kg.cli import render

    for key, value in (receipt["added"] or {}).items():
        shown = render.listed(value) if isinstance(value, list) else render.line(value)
        click.echo(f"  gained {key}: {shown}")
    for item in receipt["conflicts"] or ():
        said = (
            f"  {item['field']} stays {item['survivor']}; the absorbed page says {item['absorbed']}"
        )
        click.echo(render.warn(render.line(said)))
