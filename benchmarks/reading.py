"""Measure indexing: the first time, again, and one changed file, each beside a bare script.

    python benchmarks/reading.py [--vault FOLDER] [--notes 10000] [--rounds 5] [--json]

Without a folder of Markdown, notes are generated. The folder is copied; nothing of it is changed.

- first: indexing everything, beside a script that reads and hashes the same files and inserts their
  text into one FTS5 table with the same tokenizer, in one transaction flushed to disk;
- again: scanning the unchanged vault in an opened process, beside `git status` there, both with the
  files in the page cache; the processor time of both is shown as well, because `git status` spreads
  over all cores;
- one file: taking in one edited note, as the watcher does, beside a script that reads, hashes and
  parses it with the same parser, and inserts its passages into a table of the same kind, flushed.

First and one file alternate with their script, and the best of the rounds is compared: what is
shared with others only ever adds.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import vaults

from vault_kg.index import fts
from vault_kg.index.parsed import parse_file
from vault_kg.operations.workspace import Workspace

Seconds = tuple[float, float]
"""By the clock, and of the processor."""


def timed(do: Callable[[], object]) -> Seconds:
    """Return how long something takes, its child processes included."""
    began, used = time.perf_counter(), _processor()
    do()
    return time.perf_counter() - began, _processor() - used


def _processor() -> float:
    found = 0.0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        spent = resource.getrusage(who)
        found += spent.ru_utime + spent.ru_stime
    return found


def first(root: Path, scratch: Path, rounds: int) -> dict[str, Any]:
    """Index everything, and have the bare script do so."""
    ours, bare = [], []
    for number in range(rounds):
        table = scratch / f"bare-{number}.sqlite"
        bare.append(timed(lambda table=table: _bare_first(root, table)))
        state = scratch / f"state-{number}"
        ws = Workspace.create(root, state / "state.sqlite")
        ours.append(timed(ws.scan))
        size = ws.database.path.stat().st_size
        ws.close()
        shutil.rmtree(root / ".vault-kg")
        shutil.rmtree(state)
        plain = table.stat().st_size
        table.unlink()
    return _compared(ours, bare) | {"our bytes": size, "their bytes": plain}


def _bare_first(root: Path, table: Path) -> None:
    db = _bare_table(table)
    db.execute("BEGIN")
    for folder, _, names in os.walk(root):
        for name in names:
            if name.endswith(".md"):
                content = Path(folder, name).read_bytes()
                digest = hashlib.sha256(content).hexdigest()
                text = content.decode("utf-8", "replace")
                db.execute("INSERT INTO text VALUES (?, ?)", (f"{folder}/{name} {digest}", text))
    db.execute("COMMIT")
    db.close()


def _bare_table(path: Path) -> apsw.Connection:
    db = apsw.Connection(os.fspath(path))
    db.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL")
    tokenizer = " ".join(f"'{part}'" if " " in part else part for part in fts.TOKENIZER)
    db.execute(f'CREATE VIRTUAL TABLE text USING fts5(name, body, tokenize="{tokenizer}")')
    return db


def again(root: Path, rounds: int) -> dict[str, Any]:
    """Scan the unchanged vault, and run `git status` there."""
    git = ["git", "-C", os.fspath(root)]
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, *identity, "commit", "-qm", "all"], check=True)
    ws = Workspace.create(root)
    ws.scan()
    time.sleep(2.1)  # until no file was saved so recently that its stamp proves nothing
    ws.scan()
    status = [*git, "status", "--porcelain"]
    ours, theirs = [], []
    for _ in range(rounds * 4):
        theirs.append(timed(lambda: subprocess.run(status, check=True, capture_output=True)))
        ours.append(timed(ws.scan))
    ws.close()
    return _compared(ours, theirs)


def one_file(root: Path, scratch: Path, rounds: int) -> dict[str, Any]:
    """Take in one edited note, and have the bare script do so."""
    ws = Workspace.open(root)
    path = sorted(root.rglob("*.md"))[0]
    text = path.read_text(encoding="utf-8")
    relative = path.relative_to(root).as_posix()
    db = _bare_table(scratch / "one.sqlite")
    ours, bare = [], []
    for number in range(rounds * 4):
        path.write_text(f"{text}\n\nEdit number {number}.\n", encoding="utf-8")
        bare.append(timed(lambda: _bare_one(db, path, relative)))
        ours.append(timed(lambda: ws.look_at([relative])))
    db.close()
    ws.close()
    return _compared(ours, bare)


def _bare_one(db: apsw.Connection, path: Path, relative: str) -> None:
    content = path.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    entries = parse_file(relative, content).entries
    db.execute("BEGIN")
    for entry in entries:
        db.execute("INSERT INTO text VALUES (?, ?)", (f"{relative} {digest}", entry.passage.text))
    db.execute("COMMIT")


def _compared(ours: list[Seconds], theirs: list[Seconds]) -> dict[str, Any]:
    (clock, used), (their_clock, their_used) = (
        (min(c for c, _ in times), min(u for _, u in times)) for times in (ours, theirs)
    )
    return {
        "ours": clock, "theirs": their_clock, "ratio": round(clock / their_clock, 2),
        "our processor": used, "their processor": their_used,
    }  # fmt: skip


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--vault", type=Path, help="a folder of Markdown; it is copied")
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="print JSON")
    asked = parser.parse_args()
    os.environ["VAULT_KG_EMBEDDING_MODEL"] = "off"
    with tempfile.TemporaryDirectory() as name:
        scratch, root = Path(name), Path(name, "vault")
        if asked.vault:
            shutil.copytree(asked.vault, root, ignore=shutil.ignore_patterns(".git", ".vault-kg"))
        else:
            vaults.notes(root, asked.notes)
        files = list(root.rglob("*.md"))
        found = {
            "files": len(files),
            "megabytes": round(sum(file.stat().st_size for file in files) / 1e6, 1),
            "first": first(root, scratch, asked.rounds),
            "again": again(root, asked.rounds),
            "one file": one_file(root, scratch, asked.rounds),
        }
    if asked.json:
        print(json.dumps(found, indent=2))
        return
    print(f"{found['files']:,} files, {found['megabytes']} MB")
    for name in ("first", "again", "one file"):
        row = found[name]
        print(
            f"{name:9} ours {1000 * row['ours']:9.1f} ms  theirs {1000 * row['theirs']:9.1f} ms  "
            f"ratio {row['ratio']:5.2f}   processor {1000 * row['our processor']:9.1f} and "
            f"{1000 * row['their processor']:9.1f} ms"
        )


if __name__ == "__main__":
    main()
