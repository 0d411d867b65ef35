from __future__ import annotations

import importlib.util
import io
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import vault_kg

SCRIPT = Path(vault_kg.__file__).parents[1] / "scripts" / "build_llama.py"
MODERN = {"sse4_2", "avx", "avx2", "fma", "f16c", "bmi2"}


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_llama", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("machine", ["x86_64", "AMD64", "aarch64", "arm64"])
def test_the_build_is_never_for_this_processor_alone(script: ModuleType, machine: str) -> None:
    defines = script.cmake_defines(machine, MODERN)
    assert defines["GGML_NATIVE"] == "OFF"
    assert defines["LLAVA_BUILD"] == "OFF"


def test_avx2_is_used_where_the_processor_has_all_that_goes_with_it(script: ModuleType) -> None:
    assert script.cmake_defines("x86_64", MODERN)["GGML_AVX2"] == "ON"
    for missing in ("avx", "avx2", "fma", "f16c", "bmi2"):
        old = script.cmake_defines("x86_64", MODERN - {missing})
        assert {old[f"GGML_{name}"] for name in ("AVX", "AVX2", "FMA", "F16C", "BMI2")} == {"OFF"}
        assert old["GGML_SSE42"] == "ON"


def test_another_processor_has_another_wheel(script: ModuleType, cache: Path) -> None:
    modern, old = (script.wheel_folder(script.cmake_defines("x86_64", f)) for f in (MODERN, set()))
    assert modern != old
    assert modern.parent == old.parent == cache / "wheels"


def test_a_kept_wheel_is_used_only_as_it_was_built(script: ModuleType, tmp_path: Path) -> None:
    wheel = tmp_path / "llama_cpp_python-1-py3-none-any.whl"
    wheel.write_bytes(b"built")
    assert script.kept_wheel(tmp_path) is None
    wheel.with_suffix(".sha256").write_text(script._sha256(wheel))
    assert script.kept_wheel(tmp_path) == wheel
    wheel.write_bytes(b"other")
    assert script.kept_wheel(tmp_path) is None


@pytest.mark.parametrize(
    "form", ["  [{n}/80] Building CXX object a.o", "[{percent:3}%] Building CXX object a.o"]
)
def test_progress_is_shown_in_tenths_for_ninja_and_for_make(
    script: ModuleType,
    form: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(sys, "stderr", shown)
    lines = ["Collecting things", *(form.format(n=n, percent=100 * n // 80) for n in range(1, 81))]
    tail = script._follow(iter(f"{line}\n" for line in lines), tmp_path / "log")
    assert shown.getvalue().count("compiling llama.cpp") == 11
    assert "100 %" in shown.getvalue()
    assert tail[-1] == lines[-1]
    assert (tmp_path / "log").read_text().splitlines() == lines


def test_the_installed_library_is_the_kept_wheel_and_installing_again_is_quick(
    llama: None,
) -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT)], capture_output=True, text=True, timeout=30, check=True
    )
    assert done.stdout.strip().endswith(".whl")
    assert done.stderr == ""
