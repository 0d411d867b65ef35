"""Diagnostics: what somebody should look at, where it is, and what to do."""

from __future__ import annotations

import pytest

from tests.operations.builder import VaultBox, made_id, record_file
from vault_kg.errors import InvalidArgument
from vault_kg.index import links
from vault_kg.operations import care
from vault_kg.operations.caller import Caller


def test_a_sound_vault_has_no_findings(vault: VaultBox) -> None:
    ada = vault.page()
    vault.claim(ada)
    vault.put("notes/a.md", "See [[Ada]].\n")
    vault.scan()
    answer = vault.call("knowledge_diagnostics")
    assert answer["findings"] == answer["mergeCandidates"] == []
    assert answer["count"] == answer["total"] == 0 and answer["nextCursor"] is None


def troubled(vault: VaultBox) -> dict[str, str]:
    """A vault with one of every trouble; returns the code and the path of each."""
    ada, gone, copied = vault.page(), vault.page("Gone"), vault.page("Copied")
    withdrawn = vault.page("Withdrawn")
    old = vault.path(withdrawn).read_bytes()
    vault.withdraw(withdrawn)
    vault.path(withdrawn).write_bytes(old)
    vault.path(gone).unlink()
    vault.put("main/pages/person/copy.md", vault.path(copied).read_bytes())
    vault.put("main/pages/person/broken.md", "---\nformat: knowledge-record-v1\nx: [\n---\n")
    vault.put("main/pages/person/odd.md", record_file(made_id(1), confidence="high"))
    vault.put(
        "main/pages/person/chain.md",
        record_file(made_id(2), lifecycle="merged", merged_into=made_id(77)),
    )
    vault.put("notes/links.md", "one\n[[Nowhere]]\n")
    vault.put("ontology.yaml", "page_types:\n  Gizmo:\n    fields:\n      x: {type: nonsense}\n")
    (vault.root / "linked.md").symlink_to(vault.path(ada))
    vault.scan()
    return {
        "guard_contradicted": "main/pages/person/withdrawn.md",
        "missing": "main/pages/person/gone.md",
        "duplicate_id": "main/pages/person/copied.md",
        "broken_front_matter": "main/pages/person/broken.md",
        "invalid_field": "main/pages/person/odd.md",
        "merge_chain": "main/pages/person/chain.md",
        "unresolved_link": "notes/links.md",
        "symlink": "linked.md",
    }


def test_every_finding_says_where_it_is_and_what_to_do(vault: VaultBox) -> None:
    wanted = troubled(vault)
    found = {f["code"]: f for f in vault.findings()}
    assert wanted.items() <= {c: f["path"] for c, f in found.items()}.items() or wanted == {
        c: found[c]["path"] for c in wanted
    }
    for finding in found.values():
        assert finding["message"] and finding["severity"] in ("error", "warning")
        assert finding["path"], finding
        if finding["code"] in ("missing", "duplicate_id", "merge_chain", "symlink"):
            assert finding["hint"], finding
        else:
            assert finding["line"], finding
    assert [f for f in vault.findings() if f["path"] == "ontology.yaml"]


def test_sections_are_parts_of_the_whole(vault: VaultBox) -> None:
    troubled(vault)
    every = vault.findings()
    sections = ("conflicts", "missing", "duplicates", "chains", "files", "links")
    parts = [f for section in sections for f in vault.findings(section=section)]
    assert [f for f in every if f["path"] != "ontology.yaml"] == parts
    refused = vault.refused("knowledge_diagnostics", section="everything")
    assert isinstance(refused, InvalidArgument)


def test_findings_are_paged_with_a_true_total(vault: VaultBox) -> None:
    troubled(vault)
    every, seen, cursor = vault.findings(), [], None
    while True:
        more = {"cursor": cursor} if cursor else {}
        answer = vault.call("knowledge_diagnostics", limit=2, **more)
        assert answer["total"] == len(every) and answer["count"] == len(answer["findings"]) <= 2
        seen += answer["findings"]
        cursor = answer["nextCursor"]
        if cursor is None:
            break
    assert seen == every


def test_findings_are_the_same_after_a_reindex_and_a_reopening(vault: VaultBox) -> None:
    troubled(vault)
    before = vault.call("knowledge_diagnostics", limit=1000)
    care.reindex(vault.ws)
    assert vault.call("knowledge_diagnostics", limit=1000) == before
    vault.reopen()
    vault.scan()
    assert vault.call("knowledge_diagnostics", limit=1000) == before


def test_a_caller_learns_nothing_of_partitions_that_it_does_not_see(vault: VaultBox) -> None:
    vault.page("Public")
    before = {p: b for p, b in vault.files().items() if p.startswith("main/pages")}
    troubled(vault)
    for path in list(vault.files()):
        if path.startswith("main/pages") and path not in before:
            content = (vault.root / path).read_bytes()
            (vault.root / path).unlink()
            vault.put("secret/" + path.removeprefix("main/"), content)
    for path in ("notes/links.md", "linked.md", "ontology.yaml"):
        (vault.root / path).unlink()
    vault.put("secret/pages/topic/links.md", record_file(made_id(9), body="[[Nowhere]]\n"))
    vault.put("secret/ontology.yaml", "page_types: 3\n")
    vault.page("Same", partition="other", aliases=["email:x@example.org"])
    vault.page("Same", partition="other", aliases=["email:x@example.org"])
    vault.scan()
    seen = {f["code"] for f in vault.findings()}
    assert {"duplicate_id", "broken_front_matter", "merge_chain", "unresolved_link"} <= seen
    caller = Caller("public", partitions=frozenset({"main"}))
    answer = vault.call("knowledge_diagnostics", caller, limit=1000)
    told = str(answer)
    assert "secret" not in told and "other" not in told
    assert {f["code"] for f in answer["findings"]} <= {"missing"}, answer["findings"]
    assert answer["mergeCandidates"] == []


def test_mending_what_was_found_makes_the_finding_go(vault: VaultBox) -> None:
    troubled(vault)
    for path in ("main/pages/person/copy.md", "main/pages/person/broken.md", "notes/links.md",
                 "main/pages/person/odd.md", "main/pages/person/chain.md", "linked.md",
                 "ontology.yaml"):  # fmt: skip
        (vault.root / path).unlink()
    gone = next(f["record"] for f in vault.findings("missing"))
    vault.write("knowledge_restore", id=gone)
    vault.scan()
    left = {f["code"] for f in vault.findings()}
    assert left == {"guard_contradicted", "missing", "merge_chain"}


@pytest.mark.parametrize("broken", ["page_types: [", "mode: perhaps\n", "nonsense: {}\n", "- a\n"])
def test_a_broken_vocabulary_is_reported_with_its_line(vault: VaultBox, broken: str) -> None:
    vault.put("ontology.yaml", broken)
    vault.scan()
    found = [f for f in vault.findings() if f["path"] == "ontology.yaml"]
    assert found and all(f["message"] and f["hint"] for f in found)
    issues = vault.call("knowledge_ontology", view="diagnostics")
    assert issues["total"] == len(found)


def test_one_file_is_looked_at_and_only_its_findings_are_told(vault: VaultBox) -> None:
    other = vault.put("notes/other.md", "[[Nowhere]]\n")
    vault.scan()
    note = vault.put("notes/new.md", "See [[Nobody]].\n")
    found = vault.call("knowledge_diagnostics", path="notes/new.md")
    assert [(f["path"], f["line"]) for f in found["findings"]] == [("notes/new.md", 1)]
    assert found["total"] == 1 and other.is_file()
    note.write_text("See nobody.\n")
    assert vault.call("knowledge_diagnostics", path="notes/new.md")["total"] == 0


@pytest.mark.parametrize(
    "target", ["Ada", "ada", "Ada.md", "notes/Ada", "x/Ada", "Grace", "Grace.md", "TCP/IP", "IP"]
)
def test_a_link_is_reported_if_and_only_if_it_leads_nowhere(vault: VaultBox, target: str) -> None:
    vault.page("TCP/IP", "Topic")
    vault.put("notes/Ada.md", "# Somebody\n")
    vault.put("from.md", f"[[{target}]]\n")
    vault.scan()
    leads = links.resolve(vault.ws.database, target, "from.md")
    told = vault.call("knowledge_diagnostics", section="links")["findings"]
    assert bool(told) is not bool(leads)


def test_the_sections_together_are_everything_in_the_same_order(vault: VaultBox) -> None:
    vault.put("main/pages/broken.md", "---\ntitle: [unclosed\n---\n")
    vault.put("notes/a.md", "See [[Nowhere]].\n")
    gone = vault.page("Gone")
    vault.path(gone).unlink()
    vault.put("ontology.yaml", "page_types: {Loom: [\n")
    vault.scan()
    sections = ("vocabulary", "conflicts", "missing", "duplicates", "chains", "files", "links")
    found = [
        f for s in sections for f in vault.call("knowledge_diagnostics", section=s)["findings"]
    ]
    assert found == vault.call("knowledge_diagnostics")["findings"]
    assert {"missing", "unresolved_link"} <= {f["code"] for f in found}
    assert any((f["path"] or "").endswith("ontology.yaml") for f in found)
