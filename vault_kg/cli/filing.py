"""Bringing files in: `attach` for sources, `adopt` for notes."""

from __future__ import annotations

import hashlib
import stat
from pathlib import Path
from typing import Any

import click

from vault_kg.cli import context, receipts
from vault_kg.cli.context import Settings
from vault_kg.errors import InvalidArgument, NotFound


@context.command
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--name", "filename", metavar="NAME", help="The file name to keep.")
@click.option("--media-type", metavar="TYPE", help="Like text/plain; guessed from the name.")
@click.option("--attribution", metavar="TEXT", help="Whose words these are.")
@click.option("--partition", metavar="NAME", help="Where it belongs.")
@receipts.request_id
def attach(
    settings: Settings, file: Path, media_type: str | None, request_id: str | None, **given: Any
) -> None:
    """Retain a file as a source that records can cite.

    The same bytes are the same source. The file itself is only read.
    """
    path = file.absolute()
    with context.session(settings, look=False) as session:
        receipt = session.change(
            "knowledge_attach_file", request_id, filePath=str(path), sha256=_digest(path),
            mediaType=media_type, **given,
        )  # fmt: skip
    receipts.tell(settings, receipt)


@context.command
@click.argument("paths", metavar="PATH…", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option("--type", metavar="TYPE", help="The page type (default: Document).")
@click.option("--title", metavar="TITLE", help="The title, for one note (default: its own).")
@receipts.request_id
def adopt(
    settings: Settings, paths: tuple[Path, ...], request_id: str | None, **given: Any
) -> None:
    """Make notes pages; their text stays as it is.

    Front matter is added above it. From then on a note has an id, revisions and history.
    """
    if len(paths) > 1 and (request_id or given["title"]):
        raise click.UsageError("--request-id and --title are for one note")
    made = []
    with context.session(settings) as session:
        for path in paths:
            inside = session.inside(str(path)) or path.as_posix()
            made.append(session.change("knowledge_adopt", request_id, path=inside, **given))
            if not settings.json:
                receipts.tell(settings, made[-1])
    if settings.json:
        from vault_kg.cli import render

        render.print_json(made[0] if len(paths) == 1 else {"receipts": made})


def _digest(path: Path) -> str:
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe or device may never end
            raise InvalidArgument(f"{path} is not a regular file; give one", path=str(path))
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        raise NotFound(f"there is no file {path}", path=str(path)) from None
    except OSError as error:
        raise InvalidArgument(f"{path} cannot be read: {error.strerror}", path=str(path)) from None
