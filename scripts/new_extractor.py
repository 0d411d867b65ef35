#!/usr/bin/env python3
"""Write the stub of an extractor, with its test, and register it.

`python scripts/new_extractor.py --lang lua --suffix .lua` gives an extractor that finds functions by
a pattern; the test beside it passes, and says what to make of it next.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from string import Template

ROOT = Path(__file__).resolve().parents[1]
REGISTRY = "vault_kg/extract/registry.py"
MARK = "    # new extractors above this line\n"

EXTRACTOR = Template('''"""${title}."""

from __future__ import annotations

import re
from typing import Final

from vault_kg.extract import uids
from vault_kg.extract.extractors.nodes import NodeList, is_test_path
from vault_kg.extract.extractors.text import decoded
from vault_kg.extract.model import Extraction, Node

NAME: Final = "${lang}"
_FUNCTION: Final = re.compile(r"^\\s*(?:local\\s+)?function\\s+(\\w+)", re.MULTILINE)
"""Replace this by a parser: a pattern does not know strings, comments or scopes."""


class ${name}Extractor:
    """Reads ${title} files."""

    name = NAME
    version = 1
    suffixes = frozenset({${suffixes}})

    def extract(self, path: str, content: bytes) -> Extraction:
        """Return what a file defines.

        Raises:
            ExtractorError: it is no text.
        """
        text = decoded(content)
        file = uids.file(path)
        nodes = NodeList(NAME)
        roles = ("test",) if is_test_path(path) else ()
        last = text.count("\\n") + 1
        nodes.add(Node(file, "file", path.rpartition("/")[2], path, 1, last, roles=roles), None)
        for found in _FUNCTION.finditer(text):
            line = text.count("\\n", 0, found.start(1)) + 1
            uid = uids.symbol("function", path, found.group(1))
            nodes.add(Node(uid, "function", found.group(1), path, line, line), file)
        return Extraction(nodes.in_order(), nodes.edges)
''')

TEST = Template('''"""${title}: what a file defines, by exact uids and edges."""

from __future__ import annotations

from tests.extract.extractors.reading import extract

SAMPLE = """
function outer()
  inner()
end

function inner()
end
"""


def test_functions_are_nodes_of_their_file() -> None:
    found = extract("pkg/a${suffix}", SAMPLE)
    assert [node.uid for node in found.nodes] == [
        "code:file:pkg/a${suffix}",
        "code:function:pkg/a${suffix}::outer",
        "code:function:pkg/a${suffix}::inner",
    ]
    assert [(edge.kind, edge.target, edge.confidence) for edge in found.edges] == [
        ("contains", "code:function:pkg/a${suffix}::outer", 1.0),
        ("contains", "code:function:pkg/a${suffix}::inner", 1.0),
    ]


def test_extracting_twice_gives_the_same_and_lines_are_no_part_of_a_uid() -> None:
    first = extract("a${suffix}", SAMPLE)
    assert extract("a${suffix}", SAMPLE) == first
    moved = extract("a${suffix}", "\\n\\n" + SAMPLE)
    assert {node.uid for node in moved.nodes} == {node.uid for node in first.nodes}
''')


def main() -> int:
    """Write the files, and say what is next."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lang", required=True, help="the language, in lower case: lua")
    parser.add_argument("--suffix", action="append", required=True, help="of its files: .lua")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if not re.fullmatch(r"[a-z][a-z0-9_]*", asked.lang):
        parser.error(f"--lang {asked.lang!r} must be a lower-case word")
    if not all(re.fullmatch(r"\.[a-z0-9_+]+", suffix) for suffix in asked.suffix):
        parser.error("--suffix must be like .lua, in lower case")
    try:
        written = write(asked.root, asked.lang, asked.suffix)
    except FileExistsError as error:
        print(f"{error.filename} is there already; nothing was written", file=sys.stderr)
        return 1
    print(*written, sep="\n")
    print(f"Next: make the test say what {asked.lang} needs, and the extractor pass it.")
    return 0


def write(root: Path, lang: str, suffixes: list[str]) -> list[str]:
    """Write the extractor, its test and its line in the registry; return their paths.

    Raises:
        FileExistsError: there is such an extractor.
    """
    values = {
        "lang": lang,
        "name": lang.title().replace("_", ""),
        "title": lang.replace("_", " ").title(),
        "suffix": suffixes[0],
        "suffixes": ", ".join(f'"{suffix}"' for suffix in suffixes),
    }
    files = {
        f"vault_kg/extract/extractors/{lang}.py": EXTRACTOR.substitute(values),
        f"tests/extract/extractors/test_{lang}.py": TEST.substitute(values),
    }
    for path in files:
        if (root / path).exists():
            raise FileExistsError(17, "File exists", path)
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    registry = root / REGISTRY
    line = f'    "{lang}:{values["name"]}Extractor": ({values["suffixes"]},),\n'
    text = registry.read_text(encoding="utf-8")
    registry.write_text(text.replace(MARK, line + MARK), encoding="utf-8")
    return [*files, REGISTRY]


if __name__ == "__main__":
    sys.exit(main())
