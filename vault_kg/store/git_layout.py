"""Where the repository of a vault is, and whether it is a moment to commit in.

Only `root/.git` counts, as a folder or as a file naming the repository whose working tree is
exactly this root. An enclosing repository is never adopted.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from vault_kg.store.git_process import Git, GitPending, GitUnavailable

_OPERATIONS = (
    ("MERGE_HEAD", "merge"),
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("CHERRY_PICK_HEAD", "cherry_pick"),
    ("REVERT_HEAD", "revert"),
    ("BISECT_LOG", "bisect"),
    ("sequencer", "sequencer"),
)
"""What stands in the Git folder while an operation is in progress (gitrepository-layout)."""

_KEPT_AS_REFS = (("CHERRY_PICK_HEAD", "cherry_pick"), ("REVERT_HEAD", "revert"))
"""What the reftable format keeps with the references instead."""

_FORMATS = {"sha1": 20, "sha256": 32}


@dataclass(frozen=True)
class Layout:
    """The folders of a repository and the hash that names its objects."""

    root: Path
    git_dir: Path
    common_dir: Path
    object_format: str
    identity: tuple[int, int]

    @property
    def objects(self) -> Path:
        """The folder of the objects."""
        return self.common_dir / "objects"

    @property
    def index(self) -> Path:
        """The index of this working tree."""
        return self.git_dir / "index"

    @property
    def index_lock(self) -> Path:
        """The file that exists while somebody changes the index."""
        return self.git_dir / "index.lock"

    @property
    def own(self) -> Path:
        """The folder for our own files; Git does not look into it."""
        return self.git_dir / "vault-kg"

    @property
    def oid_size(self) -> int:
        """How many bytes an object id has."""
        return _FORMATS[self.object_format]

    @property
    def zero(self) -> str:
        """The object id that stands for none."""
        return "0" * (2 * self.oid_size)

    def is_in_use(self) -> bool:
        """Tell whether another Git changes the index, or collects garbage."""
        return self.index_lock.exists() or (self.common_dir / "gc.pid").exists()

    def stands(self) -> bool:
        """Tell whether the repository found is still the one at this place."""
        return _identity(self.root / ".git") == self.identity


def find_layout(git: Git) -> Layout | None:
    """Find the repository of a vault, or None where there is none yet.

    Raises:
        GitUnavailable: What is there cannot be used, or belongs to another working tree.
    """
    dot_git = git.root / ".git"
    identity = _identity(dot_git)
    if identity is None:
        return None
    asked = ("--is-bare-repository", "--is-inside-work-tree", "--show-object-format")
    answer = git.run("rev-parse", *asked, "--show-cdup", "--absolute-git-dir")
    if answer.returncode != 0:
        _explain(git, answer.stdout, answer.complaint)
        return None
    bare, inside, object_format, up, git_dir = os.fsdecode(answer.stdout).split("\n", 4)
    if bare == "true" or inside != "true":
        raise GitUnavailable(f"{dot_git} has no working tree here", "bare_repository")
    if object_format not in _FORMATS:
        message = f"{dot_git} names objects by {object_format}, which is not supported"
        raise GitUnavailable(message, "object_format")
    folder = Path(git_dir.removesuffix("\n"))
    if up or not _belongs(folder, git.root):
        message = f"{dot_git} belongs to another working tree: give this vault a repository"
        raise GitUnavailable(message, "foreign_repository")
    return Layout(git.root, folder, _common(folder), object_format, identity)


def operation_in_progress(git: Git, layout: Layout) -> str | None:
    """Name the merge, rebase or the like that the person is in the middle of, if any."""
    for name, operation in _OPERATIONS:
        if (layout.git_dir / name).exists():
            return operation
    if (layout.common_dir / "reftable").is_dir():
        for name, operation in _KEPT_AS_REFS:
            if git.run("rev-parse", "--quiet", "--verify", name).returncode == 0:
                return operation
    return None


def current_branch(git: Git, layout: Layout) -> str | None:
    """Return the full name of the branch that HEAD is on, or None for a detached head."""
    try:
        head = (layout.git_dir / "HEAD").read_bytes()
    except OSError:
        head = b""
    target = os.fsdecode(head.removeprefix(b"ref:").strip()) if head[:4] == b"ref:" else ""
    if target == "refs/heads/.invalid" or not target:
        # The reftable format keeps HEAD elsewhere, and an old HEAD may be a symbolic link.
        answer = git.run("symbolic-ref", "--quiet", "HEAD")
        target = os.fsdecode(answer.stdout.strip())
    return target if target.startswith("refs/heads/") else None


def require_quiet(git: Git, layout: Layout) -> None:
    """Refuse a moment at which a commit would disturb the person.

    Raises:
        GitPending: An operation is in progress, or the head is detached.
    """
    operation = operation_in_progress(git, layout)
    if operation is not None:
        name = operation.replace("_", "-")
        raise GitPending(f"a {name} is in progress: finish or abort it", operation)
    if current_branch(git, layout) is None:
        message = "the head is detached: check out a branch, and the history goes on there"
        raise GitPending(message, "detached_head")


def _identity(dot_git: Path) -> tuple[int, int] | None:
    try:
        found = dot_git.stat()
    except FileNotFoundError:
        return None
    except OSError as refused:
        raise GitUnavailable(f"{dot_git}: {refused.strerror}", "no_permission") from refused
    return found.st_dev, found.st_ino


def _explain(git: Git, stdout: bytes, complaint: str) -> None:
    dot_git = git.root / ".git"
    if stdout.startswith(b"true"):
        raise GitUnavailable(f"{dot_git} is a bare repository", "bare_repository")
    if dot_git.is_dir() and not any(dot_git.iterdir()):
        return
    owned = git.run("-c", "safe.directory=*", "rev-parse", "--git-dir").returncode != 0
    reason = "git_failed" if owned else "not_owned"
    raise GitUnavailable(f"{dot_git} cannot be used: {complaint}", reason)


def _common(git_dir: Path) -> Path:
    try:
        shared = (git_dir / "commondir").read_bytes()
    except OSError:
        return git_dir
    return Path(os.path.normpath(git_dir / os.fsdecode(shared.rstrip(b"\n"))))


def _belongs(git_dir: Path, root: Path) -> bool:
    real = git_dir.resolve()
    if real == root / ".git":
        return True
    try:
        link = os.fsdecode((real / "gitdir").read_bytes().rstrip(b"\n"))
    except OSError:
        # A repository kept apart or a submodule's; `other/.git` is the working tree `other`'s.
        return real.name != ".git"
    return (real / link).resolve() == (root / ".git").resolve()
