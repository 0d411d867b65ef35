"""`ingest`: documents into pages, claims and relationships."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from vault_kg.cli import context
from vault_kg.cli.context import Session, Settings
from vault_kg.errors import Cancelled, VaultError

_STEPS = 1_000
_NOT_KEPT = (
    ("ungrounded", "the text does not bear it out"), ("malformed", "no use"),
    ("retracted", "retracted before"), ("refused", "breaks a rule"),
    ("self_loops", "both ends are one page"),
)  # fmt: skip


@context.command
@click.argument("paths", metavar="FILE…", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option("--partition", metavar="NAME", help="Where the records go (default: main).")
@click.option("--dry-run", is_flag=True, help="Show what would be written; write nothing.")
@click.option(
    "--model", metavar="NAME|FILE", help="The model (default: $VAULT_KG_EXTRACTION_MODEL)."
)
@click.option("--time", metavar="TIME", help="When what the documents say was so.")
def ingest(
    settings: Settings, paths: tuple[Path, ...], partition: str | None, dry_run: bool,
    model: str | None, time: str | None,
) -> None:  # fmt: skip
    """Read documents into pages, claims and relationships.

    FILE is Markdown, text or JSON messages, or a folder of them. What is written cites its lines,
    and each document is one commit. A document that was read before changes nothing; of one that
    was edited, only what the edited paragraphs say is changed.
    """
    from vault_kg.cli import progress, render
    from vault_kg.ingest import configured, files

    if model is not None:
        os.environ[configured.MODEL] = model
    results: list[dict[str, Any]] = []
    failed: list[dict[str, Any]] = []
    stopped: VaultError | None = None
    with context.session(settings) as session, progress.bar("reading") as advance:
        found = files.gather(paths, session.workspace.vault.root)
        for number, file in enumerate(found):
            arguments = {
                "chunk_id": file.name, "source_file": file.name, "group_id": partition,
                "reference_time": time, "dry_run": dry_run,
            }  # fmt: skip
            telling = _telling(session, advance, number, len(found))
            try:
                text = files.read(file.path)
                result = telling.call("knowledge_process_chunk", chunk_text=text, **arguments)
            except Cancelled:
                raise
            except VaultError as error:
                if error.code == "unavailable" or len(found) == 1:
                    stopped = error
                    break
                failed.append({"source_file": file.name, "error": error.to_dict()})
                continue
            results.append(result)
    if stopped is not None and settings.json:
        stopped.data |= {"documents": results, "failed": failed}
    elif settings.json:
        render.print_json({"documents": results, "failed": failed})
    elif results or stopped is None:
        _tell(results, failed)
    if stopped is not None:
        raise stopped
    if failed:
        click.get_current_context().exit(1)


def _telling(
    session: Session, advance: Callable[[int, int], None] | None, number: int, files: int
) -> Session:
    """Return the session with a caller that shows how far the document, of so many, is."""

    def report(done: int, total: int, _: str) -> None:
        if advance is not None:
            advance(number * _STEPS + _STEPS * done // max(total, 1), files * _STEPS)

    return replace(session, caller=replace(session.caller, report=report))


def _tell(results: list[dict[str, Any]], failed: list[dict[str, Any]]) -> None:
    from vault_kg.cli import render

    if not results and not failed:
        click.echo("there is no document to read there (.md, .txt, .json)")
    for result in results:
        name = render.heading(render.line(result["source_file"]))
        click.echo(f"{name}  {_summary(result)}")
        for line in _details(result):
            click.echo(render.wrapped(render.line(line), "  "))
    for each in failed:
        click.echo(
            render.warn(render.line(f"{each['source_file']}: {each['error']['message']}")), err=True
        )


def _summary(result: dict[str, Any]) -> str:
    if not result["changed"] and not result["dry_run"]:
        return "nothing to change"
    made = [item["kind"] for item in result["written"]]
    parts = [
        f"{made.count(kind)} {word}{'' if made.count(kind) == 1 else 's'}"
        for kind, word in (("entity", "page"), ("claim", "claim"), ("relationship", "relationship"))
    ]
    if result["withdrawn"]:
        parts.append(f"{len(result['withdrawn'])} withdrawn")
    commit = ((result["git"] or {}).get("commit") or "")[:10]
    done = "would be written" if result["dry_run"] else f"written {commit}".rstrip()
    return f"{', '.join(parts)} {done}"


def _details(result: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each record and for each thing that was left out, with its content."""
    for item in result["written"]:
        yield f"+ {_said(item)} (line {item['lines']})"
    for item in result["withdrawn"]:
        yield f"- {item['kind']} {item['name']}"
    for item in result["kept"]:
        yield f"= {item['kind']} {item['name']}: {item['why']}"
    for item in result["merged"]:
        if item["kind"] != "entity":
            yield f"= {_said(item)}: stands already"
    for key, why in _NOT_KEPT:
        for item in result[key]:
            yield f"! not kept, {why}: {_said(item)}: {item['reason'] or why}"
    for edge in result["dropped_edges"]:
        yield f"! not kept, an end is no page: {edge['fact']}: {edge['reason']}"
    for item in result["candidates"]:
        yield f"? {item['name']} and {item['other']} may be one: {item['reason']}"
    for part in result["incomplete"]:
        yield f"! lines {part['lines']} were not read to the end: {part['reason']}"
    yield from (f"! {warning}" for warning in result["warnings"])


def _said(item: dict[str, Any]) -> str:
    if item["kind"] == "entity" or not item["name"]:
        type_name = f" ({item['type']})" if item["type"] else ""
        return f"{item['kind']} {item['name'] or item['text']}{type_name}"
    ends = f"{item['name']} → {item['target']}" if item["target"] else item["name"]
    return f"{item['type'] or item['kind']} {ends}: {item['text']}"
