#!/usr/bin/env python3
"""Build llama-cpp-python once, keep its wheel in the user's cache, and install it from there.

Run it with the Python of the environment that shall have it:

    .venv/bin/python scripts/build_llama.py

It needs that Python's pip and a C++ compiler; CMake and Ninja come as packages where they are not
installed. The next environment on this machine gets the kept wheel in seconds.

Only what the Python binding loads is built: `llama` and `ggml`. The binding's own CMake file forces
llama.cpp's `common` on, and `mtmd` (images and sound) needs it; together they are more than half of
the compilation. `mtmd` has an option. `common` is turned off by CMake's documented injection point
(`CMAKE_PROJECT_<name>_INCLUDE`), so the source stays as its authors published it.

The build is portable (`GGML_NATIVE=OFF`: code for exactly this processor has crashed with illegal
instructions on virtual machines that were moved). On x86-64 it uses AVX2, FMA, F16C and BMI2 where
this processor has all four, and SSE4.2 alone otherwise.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections import deque
from collections.abc import Iterable
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from vault_kg.embedding.models import cache_folder

VERSION = "0.3.36"
SOURCE_SHA256 = "832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e"

_X86_EXTENSIONS = ("AVX", "AVX2", "FMA", "F16C", "BMI2")
_STEP = re.compile(r"\[\s*(\d+)(?:/(\d+)|%)\]")
_LINES_OF_A_FAILURE = 40


class BuildFailed(Exception):
    """The wheel could not be built or installed; the message is for the user."""


def processor_flags() -> set[str]:
    """Return the instruction set names of this processor, as Linux spells them."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return set()
    line = next((line for line in text.splitlines() if line.startswith("flags")), "")
    return set(line.partition(":")[2].split())


def cmake_defines(machine: str, flags: set[str]) -> dict[str, str]:
    """Return the CMake definitions of the portable build.

    Args:
        machine: The processor family, as `platform.machine` names it.
        flags: What `processor_flags` found.
    """
    defines = {"GGML_NATIVE": "OFF", "LLAVA_BUILD": "OFF"}
    if machine.lower() in ("x86_64", "amd64"):
        modern = {"avx", "avx2", "fma", "f16c", "bmi2"} <= flags
        defines["GGML_SSE42"] = "ON"
        defines |= {f"GGML_{name}": "ON" if modern else "OFF" for name in _X86_EXTENSIONS}
    return defines


def wheel_folder(defines: dict[str, str]) -> Path:
    """Return the cache folder of this build: its name changes with all that changes the result."""
    what = [VERSION, SOURCE_SHA256, sysconfig.get_platform(), platform.libc_ver(), defines]
    key = hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:16]
    return cache_folder() / "wheels" / f"llama-cpp-python-{VERSION}-{key}"


def kept_wheel(folder: Path) -> Path | None:
    """Return the wheel of an earlier build, where it is as it was then."""
    for wheel in folder.glob("*.whl"):
        note = wheel.with_suffix(".sha256")
        if note.exists() and note.read_text(encoding="ascii").strip() == _sha256(wheel):
            return wheel
    return None


def build(defines: dict[str, str], folder: Path, jobs: int) -> Path:
    """Compile the wheel and keep it.

    Args:
        defines: The CMake definitions.
        folder: Where to keep it.
        jobs: Compilers at a time.

    Returns:
        The wheel.

    Raises:
        BuildFailed: There is no compiler, or the build failed.
    """
    _need_compiler()
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="vault-kg-llama-") as scratch:
        _run_pip_wheel(Path(scratch), defines, folder / "build.log", jobs)
        built = next(Path(scratch).glob("*.whl"))
        partial = folder / f".{built.name}.partial"
        shutil.copyfile(built, partial)
        wheel = folder / built.name
        wheel.with_suffix(".sha256").write_text(_sha256(partial) + "\n", encoding="ascii")
        partial.replace(wheel)
    return wheel


def _need_compiler() -> None:
    names = [os.environ.get("CXX", ""), "c++", "g++", "clang++", "cl"]
    if not any(shutil.which(shlex.split(name)[0]) for name in names if name):
        raise BuildFailed("there is no C++ compiler; install one (Debian: apt install g++)")


def _run_pip_wheel(scratch: Path, defines: dict[str, str], log: Path, jobs: int) -> None:
    injected = scratch / "without_common.cmake"
    injected.write_text("set(LLAMA_BUILD_COMMON OFF)\n", encoding="ascii")
    requirement = scratch / "requirement.txt"
    requirement.write_text(
        f"llama-cpp-python=={VERSION} --hash=sha256:{SOURCE_SHA256}\n", encoding="ascii"
    )
    all_defines = {**defines, "CMAKE_PROJECT_llama.cpp_INCLUDE": str(injected)}
    environment = {
        "CMAKE_ARGS": shlex.join(f"-D{name}={value}" for name, value in all_defines.items()),
        "CMAKE_BUILD_PARALLEL_LEVEL": str(jobs),
        # llama.cpp's install rules put a second copy of everything at the root of the wheel.
        "SKBUILD_WHEEL_EXCLUDE": "lib/**;include/**;bin/**",
        "PYTHONUNBUFFERED": "1",
    }
    # Without pip's cache: it would take a wheel that was built with other definitions.
    command = [sys.executable, "-m", "pip", "wheel", "-v", "--no-cache-dir", "--no-deps"]
    command += ["--no-binary", "llama-cpp-python", "--wheel-dir", str(scratch)]
    command += ["--require-hashes", "-r", str(requirement)]
    process = subprocess.Popen(
        command,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    assert process.stdout is not None
    tail = _follow(process.stdout, log)
    if process.wait() != 0:
        raise BuildFailed("\n".join([*tail, f"the build failed; all of its output is in {log}"]))


def _follow(lines: Iterable[str], log: Path) -> list[str]:
    """Show the progress of a build while it is written to a log; return the last lines."""
    tail: deque[str] = deque(maxlen=_LINES_OF_A_FAILURE)
    progress = _Progress()
    with log.open("w", encoding="utf-8") as file:
        for line in lines:
            file.write(line)
            tail.append(line.rstrip())
            progress.saw(line)
    progress.end()
    return list(tail)


class _Progress:
    """One line that is rewritten on a terminal, and a line each tenth elsewhere."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._shown = -1
        self._terminal = sys.stderr.isatty()
        self._say("fetching the source of llama-cpp-python and its build tools")

    def saw(self, line: str) -> None:
        if not (step := _STEP.search(line)):
            return
        done, total = int(step[1]), int(step[2] or 100)
        percent = 100 * done // max(total, 1)
        if percent // 10 > self._shown // 10 or (self._terminal and percent > self._shown):
            self._shown = percent
            self._say(f"compiling llama.cpp {percent:3d} %")

    def _say(self, what: str) -> None:
        text = f"{what} ({time.monotonic() - self._started:.0f} s)"
        sys.stderr.write(f"\r\x1b[K{text}" if self._terminal else f"{text}\n")
        sys.stderr.flush()

    def end(self) -> None:
        self._say("llama.cpp: done")
        if self._terminal:
            sys.stderr.write("\n")


def is_installed(wheel: Path) -> bool:
    """Say whether this very wheel is what the running Python's environment has."""
    from importlib import metadata

    try:
        origin = metadata.distribution("llama-cpp-python").read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        return False
    archive = json.loads(origin or "{}").get("archive_info", {})
    return str(archive.get("hash", "")).endswith(_sha256(wheel))


def install(wheel: Path) -> None:
    """Install the wheel and what it depends on into the running Python's environment.

    Raises:
        BuildFailed: pip refused, or the library cannot be loaded.
    """
    pip = [sys.executable, "-m", "pip", "install", "--quiet"]
    _run([*pip, "--force-reinstall", "--no-deps", str(wheel)])
    _run([*pip, str(wheel)])
    _run([sys.executable, "-c", "import llama_cpp; llama_cpp.llama_backend_init()"])


def _run(command: list[str]) -> None:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, text=True, capture_output=True)
    if done.returncode != 0:
        raise BuildFailed(f"{shlex.join(command)} failed:\n{done.stderr.strip()}")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def main() -> int:
    """Build where nothing is kept, install where it is not installed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    cores = int(os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or os.cpu_count() or 1)
    parser.add_argument("--jobs", type=int, default=cores, help="compilers at a time")
    parser.add_argument("--force", action="store_true", help="build although a wheel is kept")
    parser.add_argument("--no-install", action="store_true", help="only build, print the wheel")
    options = parser.parse_args()
    defines = cmake_defines(platform.machine(), processor_flags())
    folder = wheel_folder(defines)
    try:
        wheel = None if options.force else kept_wheel(folder)
        wheel = wheel or build(defines, folder, options.jobs)
        if not options.no_install and not is_installed(wheel):
            install(wheel)
    except BuildFailed as error:
        sys.stderr.write(f"{error}\n")
        return 1
    print(wheel)
    return 0


if __name__ == "__main__":
    sys.exit(main())
