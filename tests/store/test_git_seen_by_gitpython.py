"""The history that we write through plumbing, read by a library that had no part in it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import git

from vault_kg.store.git import CommitRequest, FileSnapshot, History

AT = datetime(2026, 1, 5, 10, 0, tzinfo=UTC)


def request(path: str, content: bytes | None, subject: str) -> CommitRequest:
    return CommitRequest(
        files=[FileSnapshot(path, content)],
        subject=subject,
        trailers=[("Vault-Seq", subject[-1])],
        author_name="Ada",
        author_email="ada@example.org",
        at=AT,
    )


def test_commits_trees_and_trailers_are_ordinary_git(tmp_path: Path) -> None:
    (tmp_path / "main").mkdir()
    (tmp_path / "main/a.md").write_bytes(b"one\r\n")
    with History(tmp_path) as history:
        ids = history.commit(
            [
                request("main/a.md", b"one\r\n", "save 1"),
                request("main/Łódź.md", "東京\n".encode(), "save 2"),
                request("main/Łódź.md", None, "remove 3"),
            ]
        )
    repository = git.Repo(tmp_path)
    commits = list(repository.iter_commits(reverse=True))
    assert [c.hexsha for c in commits] == ids
    assert [c.summary for c in commits] == ["save 1", "save 2", "remove 3"]
    assert {c.author.name for c in commits} == {"Ada"}
    assert commits[1].trailers_dict == {"Vault-Seq": ["2"]}
    assert (commits[1].tree / "main/Łódź.md").data_stream.read() == "東京\n".encode()
    assert [b.path for b in commits[2].tree.traverse() if b.type == "blob"] == ["main/a.md"]
    assert not repository.is_dirty(untracked_files=True)
