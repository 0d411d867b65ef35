from __future__ import annotations

from vault_kg.embedding.threads import ThreadChooser


def _run(chooser: ThreadChooser, speed: dict[int, float], batches: int) -> list[int]:
    used = []
    for _ in range(batches):
        threads = chooser.next()
        used.append(threads)
        chooser.record(threads, 256, 256 / speed[threads])
    return used


def test_each_count_is_tried_and_the_fastest_is_kept() -> None:
    chooser = ThreadChooser(cores=4)
    used = _run(chooser, {1: 100.0, 2: 180.0, 4: 120.0}, 60)
    assert set(used[:9]) == {1, 2, 4}
    assert used[9:] == [2] * 51
    assert chooser.best == 2


def test_a_machine_that_became_busy_is_noticed() -> None:
    chooser = ThreadChooser(cores=2)
    _run(chooser, {1: 100.0, 2: 190.0}, 100)
    assert chooser.best == 2
    _run(chooser, {1: 90.0, 2: 20.0}, 500)
    assert chooser.best == 1


def test_a_count_that_was_asked_for_is_not_questioned() -> None:
    chooser = ThreadChooser(3, cores=8)
    assert set(_run(chooser, {3: 1.0}, 20)) == {3}


def test_one_core_gets_one_thread() -> None:
    assert set(_run(ThreadChooser(cores=1), {1: 1.0}, 20)) == {1}


def test_a_number_of_cores_that_is_no_power_of_two_is_tried_whole() -> None:
    assert ThreadChooser(cores=6).candidates == [1, 2, 4, 6]
