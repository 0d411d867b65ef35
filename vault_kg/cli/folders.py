"""Which folder a command works on: a vault, a folder of notes, or one that cannot be written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from vault_kg.errors import Unavailable

if TYPE_CHECKING:
    from vault_kg.cli.context import Settings

CONFIG = Path(".vault-kg") / "vault.toml"


def find(settings: Settings) -> Path | None:
    """Return the vault that is meant: `--vault`, or the nearest at or above the working folder."""
    if settings.vault is not None:
        chosen = settings.vault.absolute()
        return chosen if is_vault(chosen) or _to_read(settings, chosen) else None
    here = Path.cwd()
    found = next((f for f in (here, *here.parents) if is_vault(f)), None)
    return here if found is None and _to_read(settings, here) else found


def is_vault(folder: Path) -> bool:
    """Say whether a folder is a vault, if perhaps one that is closed to this account."""
    try:
        return (folder / CONFIG).is_file()
    except PermissionError:
        return True


def _to_read(settings: Settings, folder: Path) -> bool:
    """Say whether a folder that is no vault is read all the same: its state lies elsewhere.

    Raises:
        Unavailable: it is a vault that lost its state.
    """
    from vault_kg.operations import care

    if settings.state is None or not folder.is_dir() or care.can_write(folder):
        return False
    check_not_lost(folder)
    return not any(is_vault(f) for f in folder.parents)


def no_vault(settings: Settings) -> Unavailable:
    """Return the error for a command that needs a vault and has none."""
    folder = folder_of(settings)
    if not folder.is_dir():
        return Unavailable(f"there is no folder {folder}", path=str(folder))
    check_not_lost(folder)
    around = next((f for f in folder.parents if is_vault(f)), None)
    if around is not None:
        return Unavailable(
            f"{folder} lies inside the vault {around}; say --vault {around}", path=str(folder)
        )
    return Unavailable(
        f"{folder} is not a vault; make it one with `vault-kg init {folder}`", path=str(folder)
    )


def folder_of(settings: Settings) -> Path:
    """Return the folder that a vault is looked for in, or made of."""
    return (settings.vault or Path.cwd()).absolute()


def make_quietly(settings: Settings) -> Path | None:
    """Index a folder that is no vault, for a read; returns None where that is not for us to do.

    Its history begins with a write, or with `vault-kg init`.

    Raises:
        Unavailable: it is the root or the home folder, or a vault that lost its state.
    """
    from vault_kg.operations.workspace import Workspace

    folder = folder_of(settings)
    if not folder.is_dir() or any(is_vault(f) for f in folder.parents):
        return None
    if folder.resolve() in (Path.home().resolve(), Path(folder.anchor)):
        raise Unavailable(
            f"{folder} is too large a folder to be made a vault unasked; go to your notes, or give "
            "--vault DIR",
            path=str(folder),
        )
    check_not_lost(folder)
    Workspace.create(folder, settings.state and settings.state.absolute(), asked=False).close()
    click.echo(
        f"{folder} is indexed now: .vault-kg/ is new and ignores itself; no file was changed. "
        f"`vault-kg init {folder}` makes it a vault with history",
        err=True,
    )
    return folder


def check_not_lost(folder: Path) -> None:
    """Refuse a folder whose Git history says that it is a vault, while `.vault-kg` is gone.

    Raises:
        Unavailable: names `vault-kg recover`.
    """
    from vault_kg.operations import care

    if care.is_lost(folder):
        raise Unavailable(
            f"{folder} is a vault whose {CONFIG.parent} folder is gone. Nothing was changed. Run "
            f"`vault-kg recover --vault {folder}` to rebuild it from Git and the files",
            path=str(folder),
        )
