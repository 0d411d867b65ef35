"""What is let through to the Cypher engine reads the graph, however the text is put together."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vault_kg.errors import InvalidArgument
from vault_kg.index.cypher.process import WorkerRefused, Workers
from vault_kg.index.cypher.projection import Projection
from vault_kg.index.cypher.reading import checked
from vault_kg.index.cypher.tables import TABLES

SECRET = "zugzwang"
PIECES = [
    "'", '"', "`", "\\", "\\'", "/*", "*/", "//", "\n", "\r", ";", " ", " ", ".", ":", "$x", "1.",
    "COPY (RETURN 1) TO 'OUT'", "LOAD FROM 'IN' RETURN *", "EXPORT DATABASE 'OUT'",
    "CALL read_csv_serial('IN') RETURN *", "CREATE (:Entity {uuid: 'new'})", "RETURN 1 AS x",
    "MATCH (n)", "RETURN n", "WITH 1 AS y", "UNION", "UNWIND [1] AS z", "RETURN", "AS `x y`", "load",
]  # fmt: skip


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Workers, Path, Path]]:
    folder = tmp_path_factory.mktemp("cypher")
    workers = Workers()
    path = Projection(folder / "graph", workers).refresh({name: [] for name in TABLES})
    (folder / "in.csv").write_text(f"a,b\n{SECRET},1\n")
    yield workers, path, folder
    workers.close()


@settings(
    max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    start=st.sampled_from(["", "RETURN ", "MATCH (n) ", "WITH ", "UNWIND "]),
    pieces=st.lists(st.sampled_from(PIECES), min_size=1, max_size=9),
    between=st.sampled_from(["", " "]),
)
def test_nothing_is_written_or_read_elsewhere(
    engine: tuple[Workers, Path, Path], start: str, pieces: list[str], between: str
) -> None:
    workers, path, folder = engine
    out, read = folder / "out", os.fspath(folder / "in.csv")
    text = (start + between.join(pieces)).replace("OUT", os.fspath(out)).replace("IN'", f"{read}'")
    try:
        query, parameters = checked(text, {"x": 1} if "$x" in text else {})
    except InvalidArgument:
        return
    asked = {"do": "query", "path": os.fspath(path), "query": query, "parameters": parameters,
             "limit": 10, "seconds": 5}  # fmt: skip
    try:
        answer = workers.ask(asked, 10)
    except WorkerRefused:
        answer = {}
    assert not out.exists()
    if SECRET not in text:
        assert SECRET not in str(answer.get("rows"))


@pytest.mark.parametrize(
    ("text", "given", "query", "left"),
    [
        ("RETURN 1 AS x;", {}, "RETURN 1 AS x", {}),
        ("RETURN /* a 'b */ $x AS x // end", {"x": 1}, "RETURN   $x AS x", {"x": 1}),
        ("RETURN $x AS x", {"x": []}, "RETURN [] AS x", {}),
        ("RETURN '$x /* no */' AS x", {}, "RETURN '$x /* no */' AS x", {}),
        ("MATCH (n {x: 1}) RETURN n.set AS `load`", {}, "MATCH (n {x: 1}) RETURN n.set AS `load`", {}),
    ],
)  # fmt: skip
def test_what_the_engine_is_given(
    text: str, given: dict[str, object], query: str, left: dict[str, object]
) -> None:
    assert checked(text, given) == (query, left)
