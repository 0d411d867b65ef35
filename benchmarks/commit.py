"""What one commit of one changed record costs, beside `git add FILE && git commit`.

Both are done in turn in the same vault, so that they meet the same load: a record of about 1 KB is
changed, then committed. Ours ends with objects and branch flushed to the disk and the index in
step; Git's own is run as a person would run it. A first import of the whole vault is timed too.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from vault_kg.store.git import CommitRequest, FileSnapshot, History

TYPES = ("Person", "Company", "Project", "Place", "Event", "Topic", "Document", "Decision")
WORDS = [
    "vault",
    "record",
    "claim",
    "evidence",
    "page",
    "history",
    "index",
    "merge",
    "review",
    "ontology",
    "session",
]


def record_paths(count: int) -> list[str]:
    """Lay out records as a vault does: pages by type, claims by owner, relationships by type."""
    paths = []
    for number in range(count):
        kind = TYPES[number % len(TYPES)]
        if number % 10 < 4:
            paths.append(f"main/pages/{kind}/a-title-of-some-length-{number}.md")
        elif number % 10 < 9:
            paths.append(f"main/claims/owner-{number // 50}/what-is-held-true-{number}.md")
        else:
            paths.append(f"main/relationships/depends_on/this-depends-on-that-{number}.md")
    return paths


def record_bytes(rng: random.Random, number: int) -> bytes:
    """Return a record file of about 1 KB."""
    body = " ".join(rng.choice(WORDS) for _ in range(110))
    head = f"---\nformat: knowledge-record-v1\nid: pg_{number:026d}\nkind: page\ntitle: T{number}\n"
    return f"{head}recorded_at: 2026-01-05T10:00:00Z\n---\n{body}\n".encode()


def request_for(files: list[FileSnapshot], number: int) -> CommitRequest:
    """Return a commit as the write path makes one."""
    return CommitRequest(
        files=files,
        subject=f"save page {number}",
        author_name="Ada",
        author_email="ada@example.org",
        at=datetime.now(UTC),
        trailers=[("Vault-Kg-Request", f"request-{number}")],
    )


def write(root: Path, path: str, content: bytes) -> FileSnapshot:
    """Write a record into the vault and return its snapshot."""
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    return FileSnapshot(path, content)


def git(root: Path, *arguments: str) -> bytes:
    """Run Git as a person would."""
    done = subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True)
    return done.stdout


def measure(count: int, rounds: int) -> dict[str, float]:
    """Time both ways in one vault of this many records.

    Returns:
        Milliseconds: `import_ms`, the medians `ours_ms` and `theirs_ms`, and their `ratio`.
    """
    rng = random.Random(count)
    with tempfile.TemporaryDirectory() as folder, History(Path(folder)) as history:
        root = Path(folder).resolve()
        paths = record_paths(count)
        files = [write(root, path, record_bytes(rng, n)) for n, path in enumerate(paths)]
        started = time.perf_counter()
        history.commit([request_for(files, 0)])
        imported = time.perf_counter() - started
        git(root, "config", "user.name", "Ada")
        git(root, "config", "user.email", "ada@example.org")
        git(root, "config", "gc.auto", "0")  # cleaning up is no part of a commit
        ours, theirs = [], []
        for number in range(1, rounds + 1):
            changed = write(root, rng.choice(paths), record_bytes(rng, number))
            started = time.perf_counter()
            history.commit([request_for([changed], number)])
            ours.append(time.perf_counter() - started)
            path = rng.choice(paths)
            write(root, path, record_bytes(rng, number))
            started = time.perf_counter()
            git(root, "add", path)
            git(root, "commit", "-qm", f"save page {number}")
            theirs.append(time.perf_counter() - started)
        left = git(root, "status", "--porcelain")
        if left:
            raise SystemExit(f"the working tree is not clean afterwards:\n{left.decode()}")
    mine, other = statistics.median(ours) * 1000, statistics.median(theirs) * 1000
    return {
        "records": count,
        "import_ms": round(imported * 1000, 1),
        "ours_ms": round(mine, 2),
        "theirs_ms": round(other, 2),
        "ratio": round(mine / other, 3),
    }


def main() -> None:
    """Measure and print a table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="100,1000,10000", help="records in the vault")
    parser.add_argument("--rounds", type=int, default=40, help="commits of each kind")
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    for name in [name for name in os.environ if name.startswith(("GIT_AUTHOR", "GIT_COMMITTER"))]:
        del os.environ[name]
    results = [measure(int(size), arguments.rounds) for size in arguments.sizes.split(",")]
    if arguments.json:
        print(json.dumps(results, indent=2))
        return
    print(f"{'records':>8} {'first import':>13} {'ours':>9} {'git add+commit':>15} {'ratio':>6}")
    for row in results:
        print(
            f"{row['records']:>8.0f} {row['import_ms']:>10.0f} ms {row['ours_ms']:>6.1f} ms"
            f" {row['theirs_ms']:>12.1f} ms {row['ratio']:>6.2f}"
        )


if __name__ == "__main__":
    main()
