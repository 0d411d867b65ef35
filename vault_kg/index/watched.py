"""What the system reports of a vault's files, gathered for a moment.

Beginning to watch takes a moment for every folder, in which Python stands still. So where there are
many, a process of its own watches, and tells what it was told.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import IO, Any

from watchfiles import Change
from watchfiles import watch as watch_files

from vault_kg.index import beside, walk

STEP_MS = 20
"""Quiet time after which a burst of events is looked at."""

DEBOUNCE_MS = 400
"""The longest that a burst is gathered."""

IDLE_MS = 1_000
"""The longest without a word, so that who reads can do what is due."""

POLL_SECONDS = 0.1

END_SECONDS = 5.0
"""The longest wait for the last words of a process that was ended."""

Event = tuple[Change, str]


def here(root: Path, stop: threading.Event | None = None) -> Iterator[set[Event]]:
    """Yield what happens to the files of a folder, and nothing once a second; until told to stop.

    Raises:
        OSError: the folder cannot be watched.
    """
    return watch_files(
        root,
        watch_filter=lambda _, path: _is_of_interest(root, path),
        step=STEP_MS,
        debounce=DEBOUNCE_MS,
        rust_timeout=IDLE_MS,
        yield_on_timeout=True,
        stop_event=stop,
        ignore_permission_denied=True,
    )


def apart(root: Path, stop: threading.Event) -> Iterator[set[Event]]:
    """Yield what `here` does, from a process of its own; the end of this one tells it to stop.

    Raises:
        OSError: the folder cannot be watched, or the process has ended.
    """
    with _telling(root, stop) as told:
        while not stop.is_set():
            with suppress(Empty):
                line = told.get(timeout=POLL_SECONDS)
                if line is not None or not stop.is_set():
                    yield _events(line)


@contextmanager
def _telling(root: Path, stop: threading.Event) -> Iterator[SimpleQueue[str | None]]:
    """Have a process watch for the block, or until this one ends: give what it tells.

    An open pipe that a thread reads at the very end would abort the interpreter.
    """
    process = _start(root)
    told: SimpleQueue[str | None] = SimpleQueue()
    assert process.stdout is not None
    reader = threading.Thread(target=_pass_on, args=(process.stdout, told), daemon=True)
    reader.start()

    def end_with_us() -> None:
        stop.set()
        _end(process, reader)

    atexit.register(end_with_us)
    try:
        yield told
    finally:
        atexit.unregister(end_with_us)
        _end(process, reader)


def relative(root: Path, path: str) -> str | None:
    """Return a path in the folder as the index writes it; None for one that it cannot write."""
    try:
        found = Path(path).relative_to(root).as_posix()
        found.encode()
    except (ValueError, UnicodeEncodeError):
        return None  # outside, or a name that only a scan can show
    return found


def _is_of_interest(root: Path, path: str) -> bool:
    found = relative(root, path)
    return found is not None and not any(part in walk.SKIPPED for part in found.split("/"))


def _start(root: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        beside.command(__name__, root),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=beside.environment(),
        start_new_session=True,  # a key that interrupts the terminal's program is not for it
    )


def _end(process: subprocess.Popen[str], reader: threading.Thread) -> None:
    """End the process, and what reads from it; once or again."""
    process.kill()  # it has nothing to lose
    process.wait()
    reader.join(END_SECONDS)
    if process.stdout is not None and not reader.is_alive():
        process.stdout.close()


def _pass_on(lines: IO[str], told: SimpleQueue[str | None]) -> None:
    for line in lines:
        told.put(line)
    told.put(None)


def _events(line: str | None) -> set[Event]:
    """Read what the process told; None is its end."""
    if line is None:
        raise OSError("the process that watches has ended")
    found: Any = json.loads(line)
    if isinstance(found, str):
        raise OSError(found)
    return {(Change(change), path) for change, path in found}


def _serve(root: Path) -> None:
    """Tell what happens, a line each time, until nobody reads it any more."""
    try:
        for events in here(root):
            _tell([[change.value, path] for change, path in events])
    except BrokenPipeError:
        os._exit(0)
    except OSError as error:
        _tell(str(error))


def _tell(said: Any) -> None:
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    _serve(Path(sys.argv[1]))
