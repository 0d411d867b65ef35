"""Which symbols differ between two states of a file, or of a tree that Git keeps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from vault_kg.errors import NotFound, Unavailable
from vault_kg.extract.model import Extraction, Node
from vault_kg.extract.protocol import Extractor, ExtractorError
from vault_kg.extract.reading import MAX_BYTES, ExtractorFor
from vault_kg.extract.roots import Root
from vault_kg.store.git_process import Finished, Git, ObjectReader

Change = Literal["added", "removed", "modified"]
WORKING = ""
"""The name of the working tree, where a commit could be named."""
STAGED = ":"
"""The name of Git's index."""


class Changed(NamedTuple):
    """A symbol that differs; of a removed one the node as it was."""

    node: Node
    change: Change


@dataclass(frozen=True)
class FileChange:
    """A file that differs, with its symbols; `error` where one side cannot be parsed."""

    path: str
    change: Change
    symbols: list[Changed]
    error: str | None = None


class Repository:
    """The Git repository that a root lies in, read only.

    Raises:
        Unavailable: it lies in none.
    """

    def __init__(self, root: Root) -> None:
        folder = root.folder.resolve()
        top = next((f for f in (folder, *folder.parents) if (f / ".git").exists()), None)
        if top is None:
            raise Unavailable(f"{root.folder} is in no Git repository", path=str(root.folder))
        self._root = root
        self._prefix = folder.relative_to(top).as_posix().removesuffix(".")
        self._prefix += "/" if self._prefix else ""
        self._git = Git(top)
        self._reader = ObjectReader(self._git)

    def close(self) -> None:
        """End the process that reads objects."""
        self._reader.close()

    def changed(self, base: str, head: str) -> dict[str, Change]:
        """Return the files of the root that differ between two states.

        Args:
            base: a commit.
            head: a commit, `WORKING` or `STAGED`.

        Raises:
            NotFound: a commit is unknown.
        """
        which = ["--cached"] if head == STAGED else []
        ends = [self._commit(base)] + (
            [self._commit(head)] if head not in (WORKING, STAGED) else []
        )
        listed = self._run(
            "diff", *which, "--no-ext-diff", "--no-renames", "--name-status", "-z", *ends, "--",
            *([self._prefix] if self._prefix else []),
        )  # fmt: skip
        found = dict(_pairs(listed.stdout))
        if head == WORKING:
            others = self._run("ls-files", "--others", "--exclude-standard", "-z")
            found |= dict.fromkeys(_texts(others.stdout), "added")
        return {
            path.removeprefix(self._prefix): change
            for path, change in sorted(found.items())
            if path.startswith(self._prefix)
        }

    def read(self, state: str, path: str) -> bytes | None:
        """Return a file as it is in a commit, the index or the working tree; None if it is not."""
        if state == WORKING:
            target = self._root.folder / path
            return target.read_bytes() if target.is_file() and not target.is_symlink() else None
        name = f":{self._prefix}{path}" if state == STAGED else f"{state}:{self._prefix}{path}"
        found = self._reader.read(name)
        return found.data if found is not None and found.kind == "blob" else None

    def _commit(self, name: str) -> str:
        done = self._git.run(
            "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"
        )
        if done.returncode:
            raise NotFound(f"Git knows no commit {name!r} in {self._root.folder}", commit=name)
        return done.stdout.decode().strip()

    def _run(self, *arguments: str) -> Finished:
        done = self._git.run(*arguments)
        if done.returncode:
            raise Unavailable(f"git: {done.complaint}", path=str(self._root.folder))
        return done


def files_between(
    root: Root, base: str, head: str, extractor_for: ExtractorFor
) -> Iterator[FileChange]:
    """Yield the files that differ between two states and that something reads.

    Raises:
        Unavailable: the root is in no Git repository.
        NotFound: a commit is unknown.
    """
    repository = Repository(root)
    try:
        for path, change in repository.changed(base, head).items():
            extractor = extractor_for(path)
            if extractor is not None and root.holds(path):
                before = None if change == "added" else repository.read(base, path)
                after = None if change == "removed" else repository.read(head, path)
                yield compare(path, before, after, extractor)
    finally:
        repository.close()


def compare(path: str, before: bytes | None, after: bytes | None, by: Extractor) -> FileChange:
    """Return what differs between two contents of a file; None is no file."""
    change: Change = "added" if before is None else "removed" if after is None else "modified"
    try:
        old, new = _symbols(path, before, by), _symbols(path, after, by)
    except (ExtractorError, RecursionError) as error:
        return FileChange(path, change, [], str(error) or "it cannot be parsed")
    symbols = [Changed(node, "added") for uid, (node, _) in new.items() if uid not in old]
    symbols += [Changed(node, "removed") for uid, (node, _) in old.items() if uid not in new]
    symbols += [
        Changed(node, "modified")
        for uid, (node, text) in new.items()
        if uid in old and old[uid][1] != text
    ]
    symbols.sort(key=lambda each: (each.node.start_line or 0, each.node.uid))
    return FileChange(path, change, symbols)


def _symbols(path: str, content: bytes | None, by: Extractor) -> dict[str, tuple[Node, str]]:
    """Return the symbols of a file, each with the lines that are its own and no inner one's."""
    if content is None:
        return {}
    if len(content) > MAX_BYTES:
        raise ExtractorError(f"the file has more than {MAX_BYTES:,} bytes")
    found: Extraction = by.extract(path, content)
    lines = content.decode("utf-8", errors="replace").splitlines()
    nodes = [node for node in found.nodes if node.path == path and node.kind != "file"]
    owners = _innermost(nodes, len(lines))
    own: dict[str, list[str]] = {node.uid: [] for node in nodes}
    for line, uid in zip(lines, owners, strict=True):
        if uid is not None:
            own[uid].append(line.rstrip())
    return {node.uid: (node, "\n".join(own[node.uid])) for node in nodes}


def _innermost(nodes: list[Node], count: int) -> list[str | None]:
    """Return the uid of the smallest symbol that each line belongs to."""
    spans = [
        (first, last, node.uid)
        for node in nodes
        for first, last in ((node.start_line, node.end_line), *node.other_spans)
        if first is not None and last is not None
    ]
    owners: list[str | None] = [None] * count
    for first, last, uid in sorted(spans, key=lambda span: span[0] - span[1]):
        for number in range(max(first, 1) - 1, min(last, count)):
            owners[number] = uid
    return owners


def _texts(listed: bytes) -> list[str]:
    return [part.decode("utf-8", "surrogateescape") for part in listed.split(b"\0") if part]


def _pairs(listed: bytes) -> Iterator[tuple[str, Change]]:
    fields = _texts(listed)
    names: dict[str, Change] = {"A": "added", "D": "removed"}
    for status, path in zip(fields[::2], fields[1::2], strict=False):
        yield path, names.get(status[:1], "modified")
