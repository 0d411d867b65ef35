"""A vault on disk: its folder, its identity, and where its state lies.

`vault.toml` holds the identity and is tracked by Git; everything else in `.vault-kg/` is private
and ignored. A vault that had a state and lost it is unavailable, never silently started empty.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from vault_kg.errors import Busy, NotFound, Unavailable, WriteFailed
from vault_kg.state import journal, settings
from vault_kg.state.copying import remove_database
from vault_kg.state.database import RECOVER, Database
from vault_kg.store import paths, reading, unasked
from vault_kg.store.installation import sweep
from vault_kg.store.lane import LOCK, Lane

FORMAT = "vault-kg-1"
STATE = "state.sqlite"
CONFIG = f"{paths.PRIVATE}/vault.toml"
TEMPORARIES = f"{paths.PRIVATE}/tmp"


@dataclass(frozen=True)
class Vault:
    """An opened vault: its folder, identity and state."""

    root: Path
    id: str
    created: str
    database: Database
    private: Path
    """The folder of lock files, on the vault's own file system unless it is open for reading."""
    reading: bool = False
    """Whether the folder cannot be written: its state lies elsewhere, and nothing is changed."""

    @property
    def temporaries(self) -> Path:
        """Where files are written before they are installed; swept by whoever holds the lane.

        A vault that is open for reading has another lane than its owner, whose files these are.
        """
        if self.reading:
            return self.database.path.with_name(f"{self.database.path.name}.tmp")
        return self.root / TEMPORARIES

    def check_writable(self) -> None:
        """Refuse to change a vault that is open for reading.

        Raises:
            WriteFailed: it is.
        """
        if self.reading:
            raise WriteFailed(
                f"{self.root} is open for reading only, with its state in {self.database.path}; "
                "nothing was written. Mend the permissions of the folder, then repeat the request "
                "without --state",
                path=str(self.root),
            )

    def close(self) -> None:
        """Close the state."""
        self.database.close()


def exists(root: Path) -> bool:
    """Say whether a folder is a vault already."""
    try:
        return (root / CONFIG).is_file()
    except PermissionError:
        return True  # a private folder that is closed to this account


def default_state(root: Path) -> Path:
    """Return where a vault's state lies unless a caller says otherwise."""
    return root / paths.PRIVATE / STATE


def state_file(root: Path, given: Path | None) -> Path:
    """Return where a vault's state lies; a folder, or a name without an ending, has it inside."""
    if given is None:
        return default_state(root)
    return given / STATE if given.is_dir() or not (given.suffix or given.exists()) else given


def create(root: Path, at: str, state: Path | None = None, *, asked: bool = True) -> Vault:
    """Make a folder a vault with a new identity and an empty state.

    Args:
        root: the folder.
        at: the time.
        state: where the state goes; the default place where None.
        asked: whether somebody asked for a vault, and not only for what stands in the folder.

    Raises:
        Unavailable: it is a vault already, or the state is that of another.
        WriteFailed: the folder cannot be written.
    """
    if exists(root):
        raise Unavailable(f"{root} is a vault already", path=str(root))
    vault_id = f"va_{secrets.token_hex(12)}"
    where = state_file(root, state)
    try:
        make_private(root / paths.PRIVATE)
        with _made(where) as database:
            _put_identity(database, vault_id, at, asked=asked)
            _write_identity(root, vault_id, at)  # last: a vault without a state is one that lost it
    except OSError as error:
        raise WriteFailed(
            f"{root} cannot be made a vault: {error.strerror or error}. {reading.OTHER_PLACE}",
            path=str(root),
        ) from error
    return Vault(root, vault_id, at, database, root / paths.PRIVATE)


@contextlib.contextmanager
def _made(where: Path) -> Iterator[Database]:
    """Give a new state, or one that was left empty; what is made here goes where the block fails."""
    was_there = where.exists()
    database = None
    try:
        database = Database(where, create=True)
        if journal.last_seq(database):
            raise _of_another(where, settings.get(database, "vault_id"))
        yield database
    except BaseException:
        if database is not None:
            database.close()
        if not was_there:
            remove_database(where)
        raise


def _put_identity(database: Database, vault_id: str, at: str, *, asked: bool) -> None:
    with database.write():
        settings.put(database, "vault_id", vault_id)
        settings.put(database, "created", at)
        if not asked:
            unasked.mark(database)


def open_vault(root: Path, state: Path | None = None) -> Vault:
    """Open an existing vault.

    A folder that cannot be written is opened for reading where `state` lies elsewhere.

    Raises:
        NotFound: the folder is not a vault.
        Unavailable: its state is lost, unreadable, cannot be written, or of another vault.
    """
    where = state_file(root, state)
    if state is not None and _is_to_read(root, where):
        return _open_to_read(root, where)
    vault_id, created = identity(root)
    own = default_state(root)
    if not where.is_file() and where != own and own.is_file():
        raise Unavailable(
            f"this vault has its state in {own}, and you can write to it; leave --state out",
            path=str(where),
        )
    if not where.is_file():
        raise Unavailable(
            f"the state of this vault ({where}) is gone; a clone has none. Nothing was changed. Run "
            f"`vault-kg recover --vault {root}{f' --state {state}' if state else ''}` to rebuild it "
            "from Git and the files",
            path=str(where),
        )
    database = Database(where)
    found = settings.get(database, "vault_id")
    if found != vault_id:
        database.close()
        raise _of_another(where, found)
    opened = Vault(root, vault_id, created, database, root / paths.PRIVATE)
    _sweep(opened)
    return opened


def _is_to_read(root: Path, where: Path) -> bool:
    """Say whether a folder is to be opened for reading, with this state elsewhere."""
    closed = _is_closed(root)
    if not where.is_file():
        return closed
    database = Database(where, remedy=reading.REMADE if closed else RECOVER)
    try:
        return reading.is_reading(database)
    finally:
        database.close()


def _is_closed(root: Path) -> bool:
    """Say whether a folder can be read, and no state be kept in it."""
    own = default_state(root)
    if not own.parent.is_dir():
        return not reading.can_write(root)
    return reading.can_read(own) and not reading.can_write(own)


def _open_to_read(root: Path, where: Path) -> Vault:
    known = identity(root) if exists(root) else (None, "")
    reading.make(root, default_state(root), where, known[0])
    database = Database(where, remedy=reading.REMADE)
    vault_id = settings.get(database, "vault_id")
    if known[0] not in (None, vault_id):
        database.close()
        raise _of_another(where, vault_id, reading.REMADE)
    return Vault(root, str(vault_id), known[1], database, where.parent, reading=True)


def identity(root: Path) -> tuple[str, str]:
    """Return a vault's id and time of creation, from `vault.toml`.

    Raises:
        NotFound: the folder is not a vault.
        Unavailable: `vault.toml` is not readable or of an unknown format.
    """
    config = root / CONFIG
    try:
        content = tomllib.loads(config.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise NotFound(
            f"{root} is not a vault; make it one with `vault-kg init {root}`", path=str(root)
        ) from None
    except PermissionError as error:
        raise Unavailable(
            f"{config} cannot be read: {error.strerror}. Ask the owner of {config.parent} for the "
            "permission to read it",
            path=str(config),
        ) from error
    except (OSError, ValueError) as error:
        raise Unavailable(f"{config} cannot be read: {error}", path=str(config)) from error
    if content.get("format") != FORMAT or not isinstance(content.get("id"), str):
        raise Unavailable(
            f"{config} does not say format = {FORMAT!r} and an id; restore it from Git",
            path=str(config),
        )
    return content["id"], str(content.get("created", ""))


def _of_another(where: Path, found: str | None, remedy: str = RECOVER) -> Unavailable:
    what = "is the state of another vault" if found else "is empty"
    return Unavailable(
        f"{where} {what}; give the right --state, or move it away and {remedy}",
        path=str(where),
    )


def _sweep(vault: Vault) -> None:
    """Clear what a dead process left, unless a living one is at work there."""
    if not vault.temporaries.is_dir() or not any(vault.temporaries.iterdir()):
        return
    with contextlib.suppress(Busy, WriteFailed), Lane(vault.private / LOCK).hold(0):
        sweep(vault.root, vault.temporaries, vault.database)


def settings_of(root: Path) -> dict[str, object]:
    """Return the whole of `vault.toml`."""
    try:
        return tomllib.loads((root / CONFIG).read_text(encoding="utf-8"))
    except FileNotFoundError:  # a folder that is only read, and is no vault
        return {}


def make_private(private: Path) -> None:
    """Make the private folder, which ignores itself and is closed to other accounts."""
    private.mkdir(parents=True, exist_ok=True)
    os.chmod(private, 0o700)  # noqa: PTH101 - Path.chmod follows links on some platforms
    (private / ".gitignore").write_text("*\n", encoding="utf-8")


def _write_identity(root: Path, vault_id: str, at: str) -> None:
    config = root / CONFIG
    temporary = config.with_suffix(".new")
    temporary.write_text(
        f'format = "{FORMAT}"\nid = "{vault_id}"\ncreated = "{at}"\n', encoding="utf-8"
    )
    temporary.replace(config)
