"""The names that a plan under way takes in a folder, beside those of the files there."""

from __future__ import annotations

import pytest

from vault_kg.index.pending import Pending, PendingRecord

FOLDER = "main/pages/person"


def made(name: str, folder: str = FOLDER) -> PendingRecord:
    return PendingRecord("page", "Person", f"{folder}/{name}.md", "main")


@pytest.mark.parametrize("there", ["Ada.MD", "ada.md", "ADA", "e\u0301.md", "\u00c9.md"])
def test_files_have_their_names_on_every_file_system(there: str) -> None:
    """Names that differ in case, Unicode form or the suffix's case are one on some system."""
    taken = Pending().taken(FOLDER, lambda: [there, "other.md"])
    key = "\u00e9" if there[0] not in "aA" else "ada"
    assert key in taken and "other" in taken and "free" not in taken


def test_a_folder_is_looked_at_once_and_grows_with_the_plan() -> None:
    looked: list[str] = []

    def look() -> list[str]:
        looked.append(FOLDER)
        return ["there.md"]

    pending = Pending()
    pending.add("pg_1", made("before"))
    for name in ("Ada", "Bob"):
        assert name.lower() not in pending.taken(FOLDER, look)
        pending.add(f"pg_{name}", made(name))
        assert name.lower() in pending.taken(FOLDER, look)
    taken = pending.taken(FOLDER, look)
    assert len(looked) == 1 and all(name in taken for name in ("before", "there", "ada", "bob"))
    pending.add("pg_2", made("elsewhere", "main/pages/bug"))
    assert "elsewhere" not in pending.taken(FOLDER, look)


def test_a_record_that_the_plan_drops_lets_its_name_go() -> None:
    pending = Pending()
    pending.taken(FOLDER, list)
    pending.add("pg_1", made("ada"))
    del pending.records["pg_1"]
    assert "ada" not in pending.taken(FOLDER, list)
