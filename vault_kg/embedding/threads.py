"""How many threads a batch gets: measured while the work goes on, not guessed.

More threads than the machine has to spare make a batch slower, and what it has to spare changes. So
each count is tried on some of the first batches, the fastest is kept, and the trial is repeated now
and then.
"""

from __future__ import annotations

import os
from collections import defaultdict
from itertools import cycle, islice
from statistics import median

_TRIALS = 3
_BATCHES_BETWEEN_TRIALS = 400
_MOST = 8


def available_cores() -> int:
    """Return the number of cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class ThreadChooser:
    """Chooses the thread count of the next batch from the speed of earlier ones.

    Args:
        fixed: A count that the user asked for; nothing is measured then.
        cores: The cores to share out; those available by default.
    """

    def __init__(self, fixed: int | None = None, cores: int | None = None) -> None:
        most = min(cores or available_cores(), _MOST)
        powers = [1 << bit for bit in range(most.bit_length())]
        self.candidates = [fixed] if fixed else sorted({*powers, most})
        self.best = fixed or min(2, most)
        self._begin_trial()

    def _begin_trial(self) -> None:
        self._speeds: defaultdict[int, list[float]] = defaultdict(list)
        self._left = _BATCHES_BETWEEN_TRIALS
        rounds = _TRIALS * len(self.candidates) if len(self.candidates) > 1 else 0
        self._plan = list(islice(cycle(self.candidates), rounds))

    def next(self) -> int:
        """Return the count for the next full batch."""
        if self._plan:
            return self._plan.pop()
        return self.best

    def record(self, threads: int, tokens: int, seconds: float) -> None:
        """Take in the speed of a batch that ran with a count that `next` gave.

        Args:
            threads: The count.
            tokens: The tokens of the batch.
            seconds: The time that the model took.
        """
        self._speeds[threads].append(tokens / max(seconds, 1e-9))
        self._left -= 1
        if not self._plan:
            self.best = max(self._speeds, key=lambda count: median(self._speeds[count]))
        if self._left <= 0:
            self._begin_trial()
