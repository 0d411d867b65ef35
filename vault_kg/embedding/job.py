"""The embedding of some texts as a row of short calls, each of which may cost the worker its life.

A call that kills the worker is halved and tried again, so that one text that the library cannot
bear is found, given up after three deaths, and named; the others get their vectors.
"""

from __future__ import annotations

import queue
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vault_kg.embedding import windows
from vault_kg.embedding.process import BATCH_TOKENS, BATCH_WINDOWS, WorkerLost, WorkerRefused

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from vault_kg.embedding.model_info import StampedInfo
    from vault_kg.embedding.process import WorkerProcess
    from vault_kg.embedding.threads import ThreadChooser

DEATHS_ALLOWED = 3

_TOKENIZE_CHARS = 200_000


@dataclass(frozen=True)
class PassageVectors:
    """The vectors of some texts, and what became of each text.

    Attributes:
        vectors: One row a text, float32 of length one; a row of zeros where the text failed.
        failed: Why a text has no vector, by its index.
        tokens: The tokens of each text; all of them went into its vector.
        windows: The windows that a text took; above 1 its vector is their mean by tokens.
        fingerprint: The model that made them, as `ModelInfo.fingerprint`.
    """

    vectors: NDArray[np.float32]
    failed: dict[int, str]
    tokens: NDArray[np.int32]
    windows: NDArray[np.int32]
    fingerprint: str


class _Calls:
    """Calls still to make, each for a group of members; a call that fails comes back as two."""

    def __init__(self, groups: Sequence[list[int]]) -> None:
        self.todo = deque(groups)
        self.given_up: dict[int, str] = {}
        self._deaths: Counter[int] = Counter()

    def make(self, call: Callable[[list[int]], None]) -> None:
        """Make the next call, or take note that it cannot be made.

        Raises:
            WorkerLost: The worker died of it.
        """
        group = self.todo.popleft()
        try:
            call(group)
        except WorkerRefused as error:
            self._take_back(group, str(error))
        except WorkerLost as error:
            self._take_back(group, str(error))
            raise

    def _take_back(self, group: list[int], reason: str) -> None:
        if len(group) > 1:
            middle = len(group) // 2
            self.todo.extendleft([group[middle:], group[:middle]])
            return
        self._deaths[group[0]] += 1
        if self._deaths[group[0]] < DEATHS_ALLOWED:
            self.todo.appendleft(group)
        else:
            self.given_up[group[0]] = f"given up after {DEATHS_ALLOWED} tries: {reason}"


class Job:
    """Some texts on their way through the worker; advanced by one thread, awaited by another.

    Args:
        model: The model, in the state that the caller looked at.
        texts: What to embed, of any length.
        prefix: What the model wants before each text.
        urgent: Whether it goes before the jobs that are not.

    Attributes:
        events: Numbers of texts done since the last event, then the result or an exception.
        abandoned: Set by the caller that no longer waits.
    """

    def __init__(
        self, model: StampedInfo, texts: Sequence[str], prefix: str, *, urgent: bool
    ) -> None:
        self.stamp, self.info = model
        self.urgent = urgent
        self.events: queue.SimpleQueue[int | PassageVectors | Exception] = queue.SimpleQueue()
        self.abandoned = False
        self._texts, self._prefix = len(texts), prefix
        self._pieces = [
            (text, piece) for text, whole in enumerate(texts) for piece in windows.pieces(whole)
        ]
        lengths = [len(piece) for _, piece in self._pieces]
        self._tokenizing = _Calls(windows.runs(lengths, _TOKENIZE_CHARS))
        self._piece_tokens: dict[int, NDArray[np.int32]] = {}
        self._embedding: _Calls | None = None

    def advance(self, worker: WorkerProcess, chooser: ThreadChooser, seconds: float) -> bool:
        """Make the next call to the worker.

        Args:
            worker: A running worker.
            chooser: Says how many threads, and is told how fast they were.
            seconds: The deadline of the call.

        Returns:
            Whether the job is finished and its result given to who waits.

        Raises:
            WorkerLost: The worker is gone; the job can go on with another.
        """
        if self._tokenizing.todo:
            self._tokenizing.make(lambda group: self._tokenize(group, worker, seconds))
            return False
        if self._embedding is None:
            self._embedding = self._planned(worker, seconds)
        if self._embedding.todo:
            self._embedding.make(lambda group: self._embed(group, worker, chooser, seconds))
        if self._embedding.todo:
            return False
        self.events.put(self._result(worker.dimension, self._embedding.given_up))
        return True

    def _tokenize(self, group: list[int], worker: WorkerProcess, seconds: float) -> None:
        texts = [self._with_prefix(piece) for piece in group]
        self._piece_tokens.update(zip(group, worker.tokenize(texts, seconds=seconds), strict=True))

    def _with_prefix(self, piece: int) -> str:
        text, content = self._pieces[piece]
        first = piece == 0 or self._pieces[piece - 1][0] != text
        return self._prefix + content if first else content

    def _planned(self, worker: WorkerProcess, seconds: float) -> _Calls:
        """Make the windows of every text, and the batches of all windows."""
        import numpy as np

        room = self.info.context_tokens - len(worker.prefix) - len(worker.suffix)
        prefix = worker.tokenize([self._prefix], seconds=seconds)[0]
        self._owner: list[int] = []
        self._window_tokens: list[NDArray[np.int32]] = []
        self._text_tokens = np.zeros(self._texts, np.int32)
        for text, tokens in self._tokens_by_text().items():
            self._text_tokens[text] = len(tokens)
            for window in windows.split(tokens, prefix, room):
                self._owner.append(text)
                framed = np.concatenate([worker.prefix, window, worker.suffix])
                self._window_tokens.append(framed)
        self._vectors = np.zeros((len(self._owner), worker.dimension), np.float32)
        self._windows_left = Counter(self._owner)
        lengths = [len(tokens) for tokens in self._window_tokens]
        return _Calls(windows.batches(lengths, BATCH_TOKENS, BATCH_WINDOWS))

    def _tokens_by_text(self) -> dict[int, NDArray[np.int32]]:
        """Join the tokens of each text's pieces; without the texts that were given up."""
        import numpy as np

        lost = {self._pieces[piece][0] for piece in self._tokenizing.given_up}
        parts: dict[int, list[NDArray[np.int32]]] = {}
        for piece, (text, _) in enumerate(self._pieces):
            if text not in lost:
                parts.setdefault(text, []).append(self._piece_tokens[piece])
        return {text: np.concatenate(each) for text, each in parts.items()}

    def _embed(
        self, group: list[int], worker: WorkerProcess, chooser: ThreadChooser, seconds: float
    ) -> None:
        tokens = [self._window_tokens[window] for window in group]
        size = sum(map(len, tokens))
        measured = size >= BATCH_TOKENS // 2
        threads = chooser.next() if measured else chooser.best
        vectors, spent = worker.embed(tokens, threads=threads, seconds=seconds)
        if measured:
            chooser.record(threads, size, spent)
        self._vectors[group] = vectors
        owners = [self._owner[window] for window in group]
        self._windows_left.subtract(owners)
        self.events.put(sum(self._windows_left[text] == 0 for text in set(owners)))

    def _result(self, dimension: int, given_up: dict[int, str]) -> PassageVectors:
        import numpy as np

        failed = {
            self._pieces[piece][0]: reason for piece, reason in self._tokenizing.given_up.items()
        } | {self._owner[window]: reason for window, reason in given_up.items()}
        sizes = np.array([len(tokens) for tokens in self._window_tokens], np.float32)
        owner = np.array(self._owner, np.int64)
        sums = np.zeros((self._texts, dimension), np.float32)
        np.add.at(sums, owner, self._vectors * sizes[:, None])
        sums[list(failed)] = 0
        counts = np.bincount(owner, minlength=self._texts).astype(np.int32)
        return PassageVectors(
            windows.unit(sums), failed, self._text_tokens, counts, self.info.fingerprint
        )
