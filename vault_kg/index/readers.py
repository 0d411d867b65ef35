"""Processes that read and parse files for the one that writes the index.

Each is this module run by a fresh interpreter, asked over its pipes and ended by closing them. They
only read; one that dies costs nothing but the time to look at its files again.
"""

from __future__ import annotations

import os
import pickle
import struct
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, BinaryIO, Self, cast

from vault_kg.index import beside

if TYPE_CHECKING:
    from types import TracebackType

Asked = tuple[str, Any]
"""A file, and what is known of it."""

Look = Callable[[Path, str, Any], Any]
"""Looks at a file of a folder, given what is known of it."""

WORTHWHILE = 400
"""Fewer files are parsed sooner than processes start."""

MOST = 4
CHUNK = 100
"""Files asked of a process at a time."""

_LENGTH = struct.Struct(">Q")


def useful() -> int:
    """Return how many processes are of use here."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return min(cores or 1, MOST)


class Readers:
    """Running processes that read files of one vault; used by one thread.

    `module` is what they run: it answers as this one does, perhaps with something else of a file;
    `chunk` is how many files are asked of one at a time.
    """

    def __init__(self, root: Path, count: int, module: str = __name__, chunk: int = CHUNK) -> None:
        self._chunk = chunk
        self._processes = [start(root, module) for _ in range(count)]
        self._free: SimpleQueue[subprocess.Popen[bytes]] = SimpleQueue()
        for process in self._processes:
            self._free.put(process)
        self._threads = ThreadPoolExecutor(count)

    def read(
        self, batches: Sequence[Sequence[Asked]]
    ) -> Iterator[tuple[Sequence[Asked], dict[str, Any]]]:
        """Yield each batch with what was seen; what was lost with a process is left out."""
        waiting: deque[tuple[Sequence[Asked], list[Future[bytes]]]] = deque()
        coming = iter(batches)
        while True:
            while len(waiting) < 2 and (batch := next(coming, None)) is not None:
                waiting.append((batch, self._submit(batch)))
            if not waiting:
                return
            batch, futures = waiting.popleft()
            seen: dict[str, Any] = {}
            for future in futures:
                seen |= pickle.loads(future.result())
            yield batch, seen

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for process in self._processes:
            process.kill()  # it has nothing to lose
        self._threads.shutdown(cancel_futures=True)
        for process in self._processes:
            process.communicate()

    def _submit(self, batch: Sequence[Asked]) -> list[Future[bytes]]:
        size = self._chunk
        chunks = (batch[start : start + size] for start in range(0, len(batch), size))
        return [self._threads.submit(self._ask, chunk) for chunk in chunks]

    def _ask(self, chunk: Sequence[Asked]) -> bytes:
        process = self._free.get()
        try:
            _write(cast(BinaryIO, process.stdin), pickle.dumps(chunk))
            answer = _read(cast(BinaryIO, process.stdout))
        except OSError:
            answer = None
        finally:
            self._free.put(process)
        return answer if answer is not None else _NOTHING


_NOTHING = pickle.dumps({})


def start(root: Path, module: str = __name__) -> subprocess.Popen[bytes]:
    """Start a process that reads files of a vault."""
    return subprocess.Popen(
        beside.command(module, root),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=beside.environment(),
    )


def _write(pipe: BinaryIO, content: bytes) -> None:
    pipe.write(_LENGTH.pack(len(content)))
    pipe.write(content)
    pipe.flush()


def _read(pipe: BinaryIO) -> bytes | None:
    """Return what the other side sent, or None where it is gone."""
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    content = pipe.read(length)
    return content if len(content) == length else None


def serve(root: Path, look: Look) -> None:
    """Answer requests until the other side closes its pipe."""
    import gc

    gc.disable()  # nearly all is freed by count, and the life of this process is short
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    while (request := _read(requests)) is not None:
        asked: Sequence[Asked] = pickle.loads(request)
        seen = {path: look(root, path, known) for path, known in asked}
        _write(answers, pickle.dumps(seen, protocol=pickle.HIGHEST_PROTOCOL))


if __name__ == "__main__":
    from vault_kg.index.looking import look

    serve(Path(sys.argv[1]), look)
