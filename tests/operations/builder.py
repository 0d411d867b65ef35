"""A small real vault for tests: opened in this process, with a clock that the test turns."""

from __future__ import annotations

import hashlib
import itertools
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from vault_kg.errors import VaultError
from vault_kg.operations import registry
from vault_kg.operations.caller import Caller
from vault_kg.operations.workspace import Workspace
from vault_kg.state import journal as rows

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
ANYBODY = Caller("tester")
SOURCE_TEXT = "Ada wrote the notes.\nBabbage built the engine.\nThey met in 1833.\n"


class Clock:
    """The time as the vault sees it; each look is a second later, so that times tell order."""

    def __init__(self, at: datetime = START) -> None:
        self.at = at

    def __call__(self) -> datetime:
        self.at += timedelta(seconds=1)
        return self.at

    def go_to(self, text: str) -> None:
        self.at = datetime.fromisoformat(text).astimezone(UTC)


class VaultBox:
    """A vault with short words for what tests do to it. Everything goes through the registry."""

    def __init__(self, root: Path, clock: Callable[[], datetime] | None = None) -> None:
        self.root = root
        self.clock = clock or Clock()
        root.mkdir(parents=True, exist_ok=True)
        self.ws = Workspace.create(root, clock=self.clock)
        self.ws.scan()
        self._numbers = itertools.count(1)
        self._source: str | None = None

    # Calling

    def call(self, name: str, caller: Caller = ANYBODY, /, **arguments: Any) -> dict[str, Any]:
        return registry.call(self.ws, name, arguments, caller)

    def write(self, name: str, caller: Caller = ANYBODY, /, **arguments: Any) -> dict[str, Any]:
        arguments.setdefault("requestId", self.new_request())
        return self.call(name, caller, **arguments)

    def refused(self, name: str, caller: Caller = ANYBODY, /, **arguments: Any) -> VaultError:
        """Call what must be refused; returns the refusal, and holds that nothing was written."""
        arguments.setdefault("requestId", self.new_request())
        if registry.operations()[name].scope == "read":
            arguments.pop("requestId")
        before = self.position, self.files()
        with pytest.raises(VaultError) as caught:
            self.call(name, caller, **arguments)
        assert (self.position, self.files()) == before, "a refusal writes nothing"
        return caught.value

    def new_request(self) -> str:
        return f"r-{next(self._numbers)}"

    # Records

    def source(self, text: str | bytes = SOURCE_TEXT, name: str = "notes.txt", **more: Any) -> str:
        content = text if isinstance(text, bytes) else text.encode()
        outside = self.root.parent / f"outside-{hashlib.sha256(content).hexdigest()[:8]}-{name}"
        outside.write_bytes(content)
        receipt = self.write(
            "knowledge_attach_file", filePath=str(outside), filename=name,
            sha256=hashlib.sha256(content).hexdigest(), **more,
        )  # fmt: skip
        return str(receipt["targetId"])

    @property
    def evidence(self) -> list[dict[str, str]]:
        if self._source is None:
            self._source = self.source()
        return [{"source": self._source, "lines": "1-2"}]

    def page(self, title: str = "Ada", type: str = "Person", **more: Any) -> str:
        return str(self.write("knowledge_save_page", type=type, title=title, **more)["targetId"])

    def claim(self, owner: str, statement: str = "Ada wrote the notes.", **more: Any) -> str:
        arguments = {
            "claimKind": "fact", "owner": owner, "statement": statement, "evidence": self.evidence,
        } | more  # fmt: skip
        return str(self.write("knowledge_save_claim", **arguments)["targetId"])

    def relationship(
        self, from_: str, to: str, type: str = "knows", fact: str = "They met.", **more: Any
    ) -> str:
        arguments = {
            "type": type, "from": from_, "to": to, "fact": fact, "evidence": self.evidence,
        } | more  # fmt: skip
        return str(self.write("knowledge_save_relationship", **arguments)["targetId"])

    def claim_values(self, page: str, statement: str = "It was so.", **more: Any) -> dict[str, Any]:
        return {
            "kind": "claim", "claimKind": "fact", "owner": page, "statement": statement,
            "evidence": self.evidence,
        } | more  # fmt: skip

    def relationship_values(
        self, from_: str, to: str, fact: str = "They met later.", type: str = "knows", **more: Any
    ) -> dict[str, Any]:
        return {
            "kind": "relationship", "type": type, "from": from_, "to": to, "fact": fact,
            "evidence": self.evidence,
        } | more  # fmt: skip

    # Lifecycle

    def fence(self, record_id: str) -> dict[str, Any]:
        view = self.get(record_id, followMerges=False)
        return {
            "id": record_id, "expectedRevision": view["revision"], "expectedHash": view["hash"],
        }  # fmt: skip

    @property
    def fingerprint(self) -> str:
        return str(self.call("knowledge_ontology")["fingerprint"])

    def change(self, record_id: str, **more: Any) -> dict[str, Any]:
        return self.write("knowledge_save_page", **self.fence(record_id), **more)

    def correct(self, record_id: str, replacement: dict[str, Any], **more: Any) -> dict[str, Any]:
        return self.write("knowledge_correct", **self.correction(record_id, replacement, **more))

    def correction(
        self, record_id: str, replacement: dict[str, Any], **more: Any
    ) -> dict[str, Any]:
        return {
            **self.fence(record_id), "reason": "it was wrong",
            "expectedOntologyFingerprint": self.fingerprint, "replacement": replacement,
        } | more  # fmt: skip

    def withdraw(self, record_id: str, **more: Any) -> dict[str, Any]:
        return self.write(
            "knowledge_withdraw", **{**self.fence(record_id), "reason": "not so"} | more
        )

    def merge(self, survivor: str, absorbed: str, **more: Any) -> dict[str, Any]:
        return self.write("knowledge_merge", **self.merging(survivor, absorbed, **more))

    def merging(self, survivor: str, absorbed: str, **more: Any) -> dict[str, Any]:
        return {
            "reason": "the user says so", "survivor": self.fence(survivor),
            "absorbed": self.fence(absorbed),
        } | more  # fmt: skip

    def unmerge(self, record_id: str, **more: Any) -> dict[str, Any]:
        return self.write("knowledge_unmerge", **{**self.fence(record_id), "reason": "two"} | more)

    # Looking

    def get(self, record_id: str, **more: Any) -> dict[str, Any]:
        return self.call("knowledge_get", id=record_id, **more)

    def listed(self, caller: Caller = ANYBODY, **more: Any) -> set[str]:
        return {
            r["id"] for r in self.call("knowledge_records", caller, limit=1000, **more)["records"]
        }

    def lookup(self, text: str, **more: Any) -> str:
        return str(self.call("knowledge_lookup", text=text, **more)["record"]["id"])

    def history(self, record_id: str, **more: Any) -> list[dict[str, Any]]:
        return list(self.call("knowledge_history", id=record_id, **more)["revisions"])

    def findings(self, code: str | None = None, section: str = "all") -> list[dict[str, Any]]:
        found = self.call("knowledge_diagnostics", section=section, limit=1000)["findings"]
        return [f for f in found if code in (None, f["code"])]

    def candidates(self) -> set[frozenset[str]]:
        found = self.call("knowledge_diagnostics")["mergeCandidates"]
        return {frozenset((c["first"], c["second"])) for c in found}

    # Files

    def path(self, record_id: str) -> Path:
        """Where the file of a record lies now."""
        for path in self.root.rglob("*.md"):
            if path.is_file() and f"\nid: {record_id}".encode() in path.read_bytes():
                return path
        raise AssertionError(f"no file says id: {record_id}")

    def relative(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()

    def put(self, relative: str, content: str | bytes) -> Path:
        path = self.root / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def edit(self, record_id: str, old: str, new: str) -> Path:
        """Replace text in a record's file, as a person would; nothing is scanned."""
        path = self.path(record_id)
        text = path.read_bytes().decode()
        assert old in text, f"{old!r} is not in {path}"
        path.write_bytes(text.replace(old, new, 1).encode())
        return path

    def files(self) -> dict[str, bytes]:
        """Every file of the vault that is not ours alone."""
        return {
            self.relative(path): path.read_bytes()
            for path in sorted(self.root.rglob("*"))
            if path.is_file() and not {".git", ".vault-kg"} & set(path.relative_to(self.root).parts)
        }

    def scan(self) -> None:
        self.ws.scan()

    @property
    def position(self) -> int:
        return rows.last_seq(self.ws.database)

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=self.root, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def reopen(self) -> None:
        self.ws.close()
        self.ws = Workspace.open(self.root, clock=self.clock)

    @contextmanager
    def nothing_changes(self) -> Iterator[None]:
        """Hold that the block writes nothing: no journal entry, no file."""
        before = self.position, self.files()
        yield
        assert (self.position, self.files()) == before


@contextmanager
def as_an_ordinary_person(folder: Path) -> Iterator[None]:
    """Run the block without the rights of root, to whom no permission is denied."""
    if os.geteuid() != 0:
        yield
        return
    nobody = 65534
    for path in (folder, *folder.rglob("*")):
        os.chown(path, nobody, nobody, follow_symlinks=False)
    os.seteuid(nobody)
    try:
        yield
    finally:
        os.seteuid(0)


def record_file(record_id: str, kind: str = "page", body: str = "\nText.\n", **fields: Any) -> str:
    """Return the text of a record file as a person might write it by hand."""
    front = {
        "format": "knowledge-record-v1", "id": record_id, "kind": kind, "revision": 1,
        "title": "By hand", "lifecycle": "active", "recorded_at": "2026-01-05T10:00:00Z",
        "updated_at": "2026-01-05T10:00:00Z",
    } | ({"type": "Person"} if kind == "page" else {}) | fields  # fmt: skip
    lines = (f"{key}: {value}" for key, value in front.items() if value is not None)
    return "---\n" + "\n".join(lines) + "\n---\n" + body


def made_id(number: int, kind: str = "pg") -> str:
    """Return a well-formed id for a record written by hand."""
    return f"{kind}_01kh0000000000000000{number:06d}"
