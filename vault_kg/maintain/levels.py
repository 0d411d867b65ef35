"""Levels and the partitions that hold them: the user's, a project's, and the memory of maintenance.

A project is named by a folder: the nearest one at or above it that is a Git work tree, else itself.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from vault_kg.errors import InvalidArgument
from vault_kg.maintain.request import Level
from vault_kg.operations.caller import Caller
from vault_kg.operations.workspace import Workspace
from vault_kg.records import names
from vault_kg.state import kg_sessions
from vault_kg.store import paths

USER = "user"
MAINTAIN = "maintain"
PROJECT_PREFIX = "project-"
_SLUG_CHARACTERS = 40


def level_of(partition: str) -> str:
    """Return what a partition is called as a level."""
    if partition in (USER, MAINTAIN):
        return partition
    return "project" if partition.startswith(PROJECT_PREFIX) else partition


def is_worked_on(partition: str) -> bool:
    """Say whether the tools can read, write and stamp a partition as a level of the user's."""
    return partition == USER or partition.startswith(PROJECT_PREFIX)


def rendered(project: str | None, caller: Caller) -> list[str]:
    """Return the partitions that a session looks at: never the memory of maintenance."""
    every = [USER, *([project] if project else [])]
    return [partition for partition in every if caller.sees(partition)]


def partition_of(level: Level, project: str | None, caller: Caller) -> str:
    """Return the partition of a level.

    Raises:
        InvalidArgument: the session has no project, or the level is none for this caller.
    """
    if level == "project" and project is None:
        raise InvalidArgument(
            "this session has no project; name it with kg_read(session_id, cwd=…)", level=level
        )
    partition = project if level == "project" and project else level
    if not caller.sees(partition):
        raise InvalidArgument(f"there is no level {level!r} for this caller", level=level)
    return partition


def root_at(cwd: str) -> str:
    """Return the project root of a folder.

    Raises:
        InvalidArgument: it is not an absolute path.
    """
    if "\0" in cwd:
        raise InvalidArgument("cwd holds a NUL character", field="cwd")
    try:
        folder = Path(cwd).expanduser()
    except RuntimeError:
        folder = Path(cwd)
    if not folder.is_absolute():
        raise InvalidArgument(f"cwd must be an absolute path, not {cwd[:200]!r}", field="cwd")
    folder = Path(*folder.parts[:1], *(p for p in folder.parts[1:] if p != "."))
    try:
        marked = (f for f in (folder, *folder.parents) if (f / ".git").exists())
        return str(next(marked, folder))
    except OSError:
        return str(folder)


def project_at(ws: Workspace, cwd: str) -> str:
    """Return the partition of the project at a folder; a project that is new gets one."""
    root = root_at(cwd)
    known = kg_sessions.project_at(ws.database, root)
    if known is not None:
        return known
    digest = hashlib.sha256(root.encode("utf-8", "surrogatepass")).hexdigest()
    slug = names.slug(Path(root).name, digest)[:_SLUG_CHARACTERS].strip("-.")
    wanted = paths.check_partition(f"{PROJECT_PREFIX}{slug}")
    with ws.database.write():  # or another process might give the name away in between
        if kg_sessions.root_of(ws.database, wanted) not in (None, root):
            wanted = f"{wanted}-{digest[:8]}"
        kg_sessions.add_project(ws.database, wanted, root)
    return kg_sessions.project_at(ws.database, root) or wanted
