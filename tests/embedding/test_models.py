from __future__ import annotations

from pathlib import Path

import pytest

from vault_kg.embedding import models
from vault_kg.embedding.models import DEFAULT_MODEL, KNOWN
from vault_kg.errors import InvalidArgument, NotFound, Unavailable


def test_a_known_model_is_available_until_it_is_installed(cache: Path) -> None:
    found = [(entry.name, entry.state, entry.licence) for entry in models.list_models()]
    assert found == [(name, "available", "Apache-2.0") for name in sorted(KNOWN)]


def test_a_model_that_was_added_is_listed_verified_and_removed(
    cache: Path, tiny_gguf: Path
) -> None:
    path = models.add(tiny_gguf, "mine")
    assert path == cache / "models" / "mine.gguf"
    assert path.read_bytes() == tiny_gguf.read_bytes()
    entry = {entry.name: entry for entry in models.list_models()}["mine"]
    assert (entry.state, entry.bytes) == ("installed", tiny_gguf.stat().st_size)
    assert models.verify("mine").problem is None
    assert models.remove("mine") == path
    assert not list((cache / "models").iterdir())


def test_verifying_notices_one_changed_byte(cache: Path, tiny_gguf: Path) -> None:
    path = models.add(tiny_gguf, "mine")
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    problem = models.verify("mine").problem
    assert problem is not None
    assert "checksum" in problem


def test_a_file_that_is_no_model_is_not_added(cache: Path, tmp_path: Path) -> None:
    file = tmp_path / "notes.gguf"
    file.write_text("hello")
    with pytest.raises(Unavailable, match="not a usable GGUF model"):
        models.add(file)
    assert [entry.name for entry in models.list_models()] == sorted(KNOWN)


def test_the_name_of_a_known_model_cannot_be_taken(cache: Path, tiny_gguf: Path) -> None:
    with pytest.raises(InvalidArgument, match="known model"):
        models.add(tiny_gguf, DEFAULT_MODEL)


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden"])
def test_a_name_that_would_leave_the_folder_is_refused(cache: Path, name: str) -> None:
    with pytest.raises(InvalidArgument):
        models.model_path(name)


def test_a_model_is_given_by_name_or_by_path(cache: Path, tiny_gguf: Path) -> None:
    assert models.resolve(DEFAULT_MODEL) == cache / "models" / f"{DEFAULT_MODEL}.gguf"
    assert models.resolve(str(tiny_gguf)) == models.resolve(tiny_gguf) == tiny_gguf.resolve()
    assert models.resolve("other.gguf") == Path.cwd() / "other.gguf"
    installed = models.add(tiny_gguf, "mine")
    assert models.resolve("mine") == installed


def test_an_unknown_name_is_answered_with_the_names_there_are(cache: Path) -> None:
    with pytest.raises(NotFound) as refusal:
        models.resolve("no-such-model")
    assert refusal.value.data["candidates"] == sorted(KNOWN)


def test_removing_what_is_not_installed_says_so(cache: Path) -> None:
    with pytest.raises(NotFound, match="no model named"):
        models.remove(DEFAULT_MODEL)


def test_the_cache_is_the_users_own_and_never_the_current_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("VAULT_KG_CACHE", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert tmp_path / "home" in models.cache_folder().parents
