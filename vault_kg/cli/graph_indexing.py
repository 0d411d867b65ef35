"""`graph index`: what a path asks for, the progress, and what was done."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from vault_kg.cli import folders
from vault_kg.cli.context import Session

DONE = ("read", "skipped", "failed", "removed")


def show(result: dict[str, Any], folder: Path | None) -> None:
    """Print what was done to each root, and how much the graph holds.

    Args:
        result: the operation's answer.
        folder: the path that was asked for.
    """
    from vault_kg.cli import render

    lost = folder is not None and not folder.exists()
    nothing = f"there is no {render.line(str(folder))}" if lost else "nothing there"
    done: dict[str, Counter[str]] = defaultdict(Counter)
    for each in result["data"]["reports"]:
        done[each["root"]].update({what: each[what] for what in DONE})
    for root, counted in done.items():
        said = ", ".join(f"{counted[what]:,} {what}" for what in DONE if counted[what])
        click.echo(f"{render.line(root)}: {said or nothing}")
    counts = result["data"]["counts"]
    totals = {"node": sum(counts["nodes"].values()), "edge": sum(counts["edges"].values())}
    click.echo(render.counted(totals))
    failed = sum(counted["failed"] for counted in done.values())
    if failed:
        said = render.counted({"file": failed})
        click.echo(f"{said} cannot be parsed: `vault-kg graph doctor` says why", err=True)


def asked(session: Session, folder: Path | None) -> dict[str, Any]:
    """Return which root, and what of it, a path means; a folder outside all roots becomes one."""
    from vault_kg.extract import roots

    if folder is None:
        return {}
    vault = session.workspace.vault.root
    held = roots.around(vault, folder)
    if held is None:
        name = roots.add(vault, folder).name
        click.echo(f"{name} is a root of the graph now: {folders.CONFIG} lists it", err=True)
        return {"root": name}
    root, relative = held
    return {"root": root.name} | ({"paths": [relative]} if relative else {})


@contextmanager
def reporting(session: Session) -> Iterator[Session]:
    """Tell the progress of calls on a terminal."""
    from vault_kg.cli import progress

    with progress.stages() as advance:
        caller = replace(
            session.caller, report=lambda done, total, what: advance(what, done, total)
        )
        yield replace(session, caller=caller)
