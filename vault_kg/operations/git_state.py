"""What a person is in the middle of with Git beside the vault."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from vault_kg.operations.workspace import Workspace
from vault_kg.store.git_layout import Layout, find_layout, operation_in_progress
from vault_kg.store.git_process import Git, GitUnavailable

_layouts: WeakKeyDictionary[Workspace, Layout] = WeakKeyDictionary()
"""Of each vault the repository that was found, so that asking again starts no process."""


def operation_of(ws: Workspace) -> str | None:
    """Return `merge`, `rebase` or the like where one is in progress, else None."""
    git = Git(ws.vault.root.resolve())
    layout = _layouts.get(ws)
    try:
        if layout is None or not layout.stands():
            layout = find_layout(git)
        if layout is None:
            return None
        _layouts[ws] = layout
        return operation_in_progress(git, layout)
    except GitUnavailable:
        return None  # the queue says what is wrong with Git
