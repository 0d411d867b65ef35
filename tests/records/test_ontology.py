"""The ontology from outside: what is built in, what a vault may add, and what it may not change."""

from __future__ import annotations

import json
import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_kg.records.ontology import Ontology, OntologyIssue, load_ontology

DESIGN_PAGE_TYPES = {
    *("Person", "Company", "Project", "Place", "Event", "Topic", "Document", "Principle"),
    *("Decision", "Criterion", "Constraint", "Assumption", "Requirement", "Entity"),
    *("APIContract", "TestScenario", "Bug", "Learning", "Alternative"),
}
RESERVED = {"derives_from", "mentions", "violates", "implements", "tests", "belongs_to"}
AGENTS = {"supersedes", "contradicts", "depends_on", "relates_to", "validates"}
SESSION_ID = "pg_01hv5000000000000000000001"

BUILTIN = load_ontology(None)


def vault(text: str) -> Ontology:
    return load_ontology(textwrap.dedent(text))


def issue(ontology: Ontology) -> OntologyIssue:
    (only,) = ontology.issues
    return only


def reasons(ontology: Ontology, type_name: str, **fields: object) -> dict[str, str]:
    return {p.field: p.reason for p in ontology.check_fields(type_name, fields)[1]}


# What is built in


def test_the_built_in_vocabulary_holds_the_names_of_the_design_and_has_no_issues() -> None:
    assert set(BUILTIN.page_types) == DESIGN_PAGE_TYPES
    assert {"fact", "preference", "decision", "commitment", "event", "belief", "question"} <= set(
        BUILTIN.claim_kinds
    )
    assert set(BUILTIN.relationship_types) >= RESERVED | AGENTS
    assert (BUILTIN.mode, BUILTIN.issues, BUILTIN.broken) == ("open", (), False)


def test_six_relationship_types_are_reserved_and_never_offered_to_a_model() -> None:
    reserved = {r.name for r in BUILTIN.relationship_types.values() if r.reserved}
    assert reserved == RESERVED
    assert not any(BUILTIN.relationship_types[name].extract for name in RESERVED)


def test_every_definition_and_field_says_what_it_is() -> None:
    for row in BUILTIN.describe("definitions"):
        assert row["label"] and row["description"], row["name"]
        assert all(f["description"] for f in row.get("fields", [])), row["name"]


def test_seed_attributes_of_decision_and_constraint_are_declared() -> None:
    assert {"rationale", "confidence"} <= set(BUILTIN.fields_of("Decision"))
    assert {"severity", "scope"} <= set(BUILTIN.fields_of("Constraint"))


def test_a_project_has_the_four_states() -> None:
    states = BUILTIN.fields_of("Project")["status"].values
    assert states == ("active", "paused", "completed", "cancelled")


# Names


@pytest.mark.parametrize(
    ("given_name", "declared"),
    [
        ("Person", "Person"),
        ("person", "Person"),
        ("api contract", "APIContract"),
        ("API_Contract", "APIContract"),
        ("api-contract", "APIContract"),
        ("test scenario", "TestScenario"),
        ("organisation", "Company"),
    ],
)
def test_another_spelling_of_a_page_type_is_accepted(given_name: str, declared: str) -> None:
    found = BUILTIN.page_type(given_name)
    assert found is not None
    assert found.name == declared


def test_other_spellings_and_aliases_of_relationship_types_and_claim_kinds_are_accepted() -> None:
    for spelling in ("depends_on", "DEPENDS_ON", "dependsOn", "Depends on", "requires"):
        found = BUILTIN.relationship_type(spelling)
        assert found is not None
        assert found.name == "depends_on"
    for spelling in ("Commitment", "promise"):
        kind = BUILTIN.claim_kind(spelling)
        assert kind is not None
        assert kind.name == "commitment"


@pytest.mark.parametrize("name", ["", "   ", "???", "Spaceship", None])
def test_an_undeclared_name_is_nothing(name: str | None) -> None:
    assert BUILTIN.page_type(name) is None
    assert BUILTIN.relationship_type(name) is None
    assert BUILTIN.claim_kind(name) is None


def test_names_in_a_manifest_take_their_kinds_form() -> None:
    ontology = vault(
        """
        page_types: {lunar module: {}}
        claim_kinds: {Eye Witness: {}}
        relationship_types: {WROTE_NOTES_ON: {}}
        """
    )
    assert "LunarModule" in ontology.page_types
    assert "eye_witness" in ontology.claim_kinds
    assert "wrote_notes_on" in ontology.relationship_types
    assert not ontology.issues


# Inheritance


def test_a_type_without_a_parent_is_an_entity_and_a_null_parent_stands_outside() -> None:
    ontology = vault("page_types: {Machine: {}, Engine: {parent: machine}, Rule: {parent: null}}")
    assert ontology.ancestors("engine") == ("Machine", "Entity")
    assert ontology.is_a("Engine", "entity")
    assert ontology.ancestors("Rule") == ()
    assert not ontology.is_a("Decision", "Entity")
    assert not ontology.is_a("Machine", "Engine")


def test_an_undeclared_type_counts_as_an_entity() -> None:
    assert BUILTIN.ancestors("Spaceship") == ("Entity",)
    assert BUILTIN.is_a("Spaceship", "Entity")
    assert BUILTIN.is_a("Spaceship", "space ship")


def test_labels_start_with_entity_whatever_the_type() -> None:
    ontology = vault("page_types: {Machine: {}, Engine: {parent: Machine}}")
    assert ontology.labels("engine") == ("Entity", "Machine", "Engine")
    assert ontology.labels("Decision") == ("Entity", "Decision")
    assert ontology.labels("Entity") == ("Entity",)
    assert ontology.labels("Spaceship") == ("Entity", "Spaceship")


def test_fields_are_inherited_and_a_child_may_narrow_them() -> None:
    ontology = vault(
        """
        page_types:
          Machine: {fields: {status: {values: [designed, built]}}}
          Engine: {parent: Machine, fields: {status: {type: text, values: [built], required: true}}}
        """
    )
    assert not ontology.issues
    assert ontology.fields_of("Engine")["status"].values == ("built",)
    assert ontology.fields_of("Machine")["status"].values == ("designed", "built")
    assert "website" in ontology.fields_of("Engine")


# Fields


@pytest.mark.parametrize(
    ("type_name", "good", "bad"),
    [
        ("text", ["", "1843", "naïve"], [1843, True, 1.5, {"a": 1}]),
        ("integer", [0, -3, 10**18], ["3", 3.0, True]),
        ("number", [0, 0.1, -2], ["0.1", True, float("nan"), float("inf")]),
        ("boolean", [True, False], ["true", 1, 0]),
        (
            "date",
            ["2024-01-05", "2024-02-29"],
            ["2024-13-01", "2023-02-29", "1843", 20240105, "5.1.24"],
        ),
        (
            "datetime",
            ["2024-01-05T10:00:00Z", "2024-01-05T10:00:00.5+02:00"],
            ["2024-01-05", "2024-01-05T10:00:00"],
        ),
        (
            "url",
            ["https://example.org/a", "mailto:ada@example.org"],
            ["example.org", "https://a b", ""],
        ),
        (
            "page",
            [SESSION_ID, "[[Ada Lovelace]]"],
            ["Ada Lovelace", "cl_" + SESSION_ID[3:], "[[]]"],
        ),
    ],
)
def test_a_value_keeps_its_type_or_is_refused(
    type_name: str, good: list[object], bad: list[object]
) -> None:
    ontology = vault(f"page_types: {{Thing2: {{fields: {{f: {type_name}}}}}}}")
    for value in good:
        fields, problems = ontology.check_fields("Thing2", {"f": value})
        assert (fields, problems) == ({"f": value}, [])
        assert type(fields["f"]) is type(value)
    for value in bad:
        (problem,) = ontology.check_fields("Thing2", {"f": value})[1]
        assert (problem.field, problem.level) == ("f", "error")


def test_allowed_values_are_enforced_and_stored_as_declared() -> None:
    fields, problems = BUILTIN.check_fields("Requirement", {"kind": "Non-functional"})
    assert (fields, problems) == ({"kind": "non_functional"}, [])
    assert reasons(BUILTIN, "Project", status="lost") == {
        "status": "must be one of active, paused, completed, cancelled, not 'lost'"
    }


def test_bounds_of_numbers_are_enforced() -> None:
    assert "at most 1" in reasons(BUILTIN, "Decision", confidence=1.2)["confidence"]
    assert "at least 0" in reasons(BUILTIN, "Decision", confidence=-1)["confidence"]


def test_a_single_value_stands_for_a_list_of_one_and_not_the_other_way_round() -> None:
    fields, problems = BUILTIN.check_fields("Person", {"email": "ada@example.org"})
    assert (fields, problems) == ({"email": ["ada@example.org"]}, [])
    assert reasons(BUILTIN, "Person", role=["a", "b"]) == {"role": "takes one value, not a list"}
    assert "email" in reasons(BUILTIN, "Person", email=["a", 1])


def test_another_spelling_of_a_field_is_stored_as_declared_and_twice_is_refused() -> None:
    assert BUILTIN.check_fields("Bug", {"Root cause": "x"}) == ({"root_cause": "x"}, [])
    assert "given twice" in reasons(BUILTIN, "Bug", root_cause="x", rootCause="y")["rootCause"]


def test_an_undeclared_field_is_kept_with_a_warning_and_refused_when_strict() -> None:
    fields, (problem,) = BUILTIN.check_fields("Person", {"shoe_size": 38})
    assert (fields, problem.level) == ({"shoe_size": 38}, "warning")
    (problem,) = vault("mode: strict").check_fields("Person", {"shoe_size": 38})[1]
    assert problem.level == "error"
    assert "born" in problem.reason


def test_an_undeclared_type_takes_any_field_in_an_open_ontology() -> None:
    assert BUILTIN.check_fields("Spaceship", {"crew": 3}) == ({"crew": 3}, [])
    assert reasons(BUILTIN, "Spaceship", website="no url")


def test_required_fields_are_required_of_subtypes_too_and_null_is_no_value() -> None:
    ontology = vault(
        """
        page_types:
          Machine: {fields: {year: {type: integer, required: true}}}
          Engine: {parent: Machine}
        """
    )
    assert reasons(ontology, "Engine") == {"year": "is required for Engine"}
    assert reasons(ontology, "Engine", year=None) == {"year": "is required for Engine"}
    assert ontology.check_fields("Engine", {"year": 1837}) == ({"year": 1837}, [])


def test_words_that_old_yaml_reads_as_something_else_stay_words() -> None:
    ontology = vault(
        "page_types: {Poll: {fields: {answer: {values: [yes, no, 'null', 0755, 1e3]}}}}"
    )
    assert ontology.fields_of("Poll")["answer"].values == ("yes", "no", "null", "0755", "1e3")


# Endpoints


@pytest.mark.parametrize(
    ("relationship", "source", "target"),
    [
        ("supersedes", "Decision", "Decision"),
        ("supersedes", "Requirement", "requirement"),
        ("contradicts", "Decision", "Decision"),
        ("depends_on", "Decision", "Decision"),
        ("depends_on", "Project", "Project"),
        ("relates_to", "Decision", "Alternative"),
        ("relates_to", "Learning", "APIContract"),
        ("validates", "Learning", "Bug"),
        ("derives_from", "Decision", "Requirement"),
        ("mentions", "Decision", "Person"),
        ("violates", "Bug", "Constraint"),
        ("implements", "APIContract", "Requirement"),
        ("tests", "TestScenario", "Criterion"),
        ("belongs_to", "Assumption", "Project"),
        ("belongs_to", "Entity", "Bug"),
        ("works_for", "Person", "Organisation"),
        ("located_in", "Event", "Place"),
        ("located_in", None, "Place"),
        ("about", "Document", "Decision"),
    ],
)
def test_endpoints_that_fit_are_allowed(relationship: str, source: str | None, target: str) -> None:
    assert BUILTIN.allows_endpoints(relationship, source, target) is None


@pytest.mark.parametrize(
    ("relationship", "source", "target"),
    [
        ("supersedes", "Decision", "Bug"),
        ("contradicts", "Decision", "Person"),
        ("validates", "Decision", "Bug"),
        ("tests", "Criterion", "TestScenario"),
        ("violates", "Bug", "Requirement"),
        ("works_for", "Company", "Person"),
        ("located_in", "Event", "Person"),
        ("depends_on", "Decision", "Bug"),
        ("belongs_to", "Decision", "Bug"),
    ],
)
def test_endpoints_that_do_not_fit_are_refused_with_what_would(
    relationship: str, source: str, target: str
) -> None:
    reason = BUILTIN.allows_endpoints(relationship, source, target)
    assert reason is not None
    assert relationship in reason
    assert source in reason


def test_a_symmetric_type_takes_its_endpoints_either_way() -> None:
    ontology = vault(
        "relationship_types: {taught_at: {from: Person, to: Company, symmetric: true}}"
    )
    assert ontology.allows_endpoints("taught_at", "Company", "Person") is None


def test_an_undeclared_relationship_type_is_refused_only_when_strict() -> None:
    assert BUILTIN.allows_endpoints("orbits", "Person", "Place") is None
    assert "not declared" in (vault("mode: strict").allows_endpoints("orbits", None, None) or "")


# Filing


def test_new_pages_are_filed_under_the_first_prefix_or_under_the_types_name() -> None:
    ontology = vault("page_types: {Person: {filing: people}, LunarModule: {}}")
    assert ontology.folder("Person") == "people/"
    assert ontology.folder("TestScenario") == "pages/test-scenario/"
    assert ontology.folder("LunarModule") == "pages/lunar-module/"
    assert ontology.folder("Spaceship") == "pages/spaceship/"


@pytest.mark.parametrize("prefix", ["../x", "/etc", "a/../b", ".git", "a\\b", "c:/x", "", "a//b"])
def test_a_filing_prefix_never_leaves_the_vault(prefix: str) -> None:
    ontology = vault(f"page_types: {{Machine: {{filing: ['{prefix}']}}}}")
    assert ontology.folder("Machine") == "pages/machine/"
    assert [i.code for i in ontology.issues] == (["invalid_filing"] if prefix else [])


# Extending


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("page_types: [Person", 1),
        ("page_types: [Person\n", 1),
        ("page_types: {a: b\n\n\n", 1),
        ("mode: 'open\n", 1),
        ("mode: open\nclaim_kinds: [fact,\n\n", 2),
        ("mode: open\r\nclaim_kinds: {\r\n", 2),
        ("mode: [open\nclaim_kinds: fact\n", 2),
    ],
)
def test_a_manifest_that_cannot_be_read_is_told_with_a_line_that_it_has(
    text: str, line: int
) -> None:
    found = issue(vault(text))
    assert (found.code, found.line) == ("unreadable_manifest", line)


def test_a_vault_adds_types_fields_aliases_and_endpoints_to_what_is_built_in() -> None:
    ontology = vault(
        """
        page_types:
          Machine: {parent: Entity, fields: {status: {values: [designed, built]}}}
          Person: {aliases: [Boffin], fields: {field_of_work: {type: text, many: true}}}
        claim_kinds:
          quotation: {description: Words that somebody wrote or said.}
        relationship_types:
          designed: {from: Person, to: Machine}
          validates: {from: Learning, to: Assumption}
        """
    )
    assert not ontology.issues
    assert ontology.page_types["Person"].provenance == ("builtin", "vault")
    assert {"born", "field_of_work"} <= set(ontology.fields_of("boffin"))
    assert ontology.claim_kind("quotation") is not None
    assert ontology.allows_endpoints("designed", "Person", "Machine") is None
    assert ontology.allows_endpoints("designed", "Person", "Place") is not None
    assert ontology.allows_endpoints("validates", "Learning", "Assumption") is None
    assert ontology.allows_endpoints("validates", "Learning", "Bug") is None


def test_a_partition_extends_the_vault_and_leaves_it_as_it_is() -> None:
    vault_text = "page_types: {Machine: {}}"
    partition = "mode: strict\npage_types: {Engine: {parent: Machine}}"
    ontology = load_ontology(vault_text, partition)
    assert (ontology.mode, ontology.ancestors("Engine")) == ("strict", ("Machine", "Entity"))
    assert ontology.page_types["Engine"].provenance == ("partition",)
    assert load_ontology(vault_text).page_type("Engine") is None


@pytest.mark.parametrize(
    "definition",
    ["{layer: cognitive}", "{from: Person, to: Person}", "{endpoints: [{from: Bug, to: Person}]}"],
)
def test_a_reserved_type_cannot_be_opened(definition: str) -> None:
    ontology = vault(f"relationship_types:\n  violates: {definition}")
    assert (issue(ontology).code, issue(ontology).line) == ("reserved_type", 2)
    assert ontology.relationship_types["violates"].reserved
    assert ontology.fingerprint == BUILTIN.fingerprint


def test_a_vault_may_reserve_types_of_its_own() -> None:
    ontology = vault("relationship_types: {compiled_from: {layer: deterministic, extract: true}}")
    assert ontology.relationship_types["compiled_from"].reserved
    assert not ontology.relationship_types["compiled_from"].extract


def test_a_strict_vault_says_so() -> None:
    assert vault("mode: strict").mode == "strict"


@pytest.mark.parametrize("text", ["", "# only a comment\n", "page_types:\n", "\ufeffmode: open\n"])
def test_an_empty_manifest_changes_nothing(text: str) -> None:
    ontology = load_ontology(text)
    assert (ontology.issues, ontology.fingerprint) == ((), BUILTIN.fingerprint)


# Faults: each is listed with its line, and costs no more than itself


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("page_types:\n  Person: {fields: [}}\n", 2),
        ("- a list\n- of things", 1),
        ("just a text", 1),
        ("mode: open\nmode2: [}", 2),
        ("page_types: [Person]", 1),
        ("claim_kinds:\n  fact: {}\nmode: strickt", 3),
        ("---\nmode: open\n---\nmode: strict", 3),
        ("a: 1\nb: \x00", 2),
        ("page_types:\n  M: {}\n  M: {}", 3),
        ("? [a]\n: b", 1),
        ("[" * 1000, 1),
        ("page_types: " + "{a: " * 100 + "1" + "}" * 100, 1),
        ("mode: !!python/name:os.system x", 1),
    ],
)
def test_a_manifest_that_cannot_be_used_leaves_the_rest_in_force_and_is_broken(
    text: str, line: int | None
) -> None:
    ontology = load_ontology(text)
    assert ontology.broken
    assert ontology.fingerprint == BUILTIN.fingerprint
    found = issue(ontology)
    assert (found.level, found.source, found.line) == ("error", "vault", line)


def test_a_broken_partition_manifest_leaves_the_vaults_in_force() -> None:
    ontology = load_ontology("page_types: {Machine: {}}", "page_types: [")
    assert ontology.broken
    assert ontology.page_type("Machine") is not None
    assert issue(ontology).source == "partition"


def test_many_aliases_of_yaml_are_refused_before_they_grow() -> None:
    lines = ["a0: &a0 {x: 1}"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
    assert load_ontology("\n".join(lines)).broken


def test_a_manifest_of_megabytes_is_refused() -> None:
    assert load_ontology("# " + "x" * 1_000_001).broken


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("page_types:\n  Machine:\n    parent: Gadget", "unknown_parent", 3),
        ("page_types:\n  A:\n    parent: A", "parent_loop", 3),
        ("page_types:\n  Person:\n    parent: Place", "redefined", 3),
        ("page_types:\n  Person:\n    fields:\n      born: integer", "redefined", 4),
        ("page_types:\n  M:\n    fields:\n      website: {type: text}", "field_conflict", 3),
        ("page_types:\n  M:\n    fields:\n      x: {type: colour}", "unknown_field_type", 4),
        (
            "page_types:\n  M:\n    fields:\n      x: {type: integer, values: [1, two]}",
            "invalid_value",
            4,
        ),
        ("page_types:\n  M:\n    fields:\n      x: {minimum: 3}", "invalid_value", 4),
        ("page_types:\n  M:\n    fields: {x: text, X: text}", "duplicate_definition", 3),
        ("page_types:\n  M:\n    fields: {'': text}", "invalid_name", 3),
        ("page_types:\n  M:\n    fields: {'a\tb': text}", "invalid_name", 3),
        ("page_types:\n  M:\n    filing: [pages/person]", "filing_taken", 3),
        ("page_types:\n  M:\n    identity: maybe", "invalid_value", 3),
        ("page_types:\n  M:\n    colour: red", "unknown_key", 3),
        ("page_types:\n  M: 3", "unknown_key", 2),
        ("page_types:\n  M: [1]", "invalid_value", 2),
        ("page_types:\n  '???': {}", "invalid_name", 2),
        ("page_types:\n  M: {}\n  m: {}", "duplicate_definition", 3),
        ("page_types:\n  M:\n    description: Foo: bar", "lenient_yaml", 3),
        ("page_types:\n  M:\n    aliases: [person]", "alias_taken", 3),
        ("page_types:\n  M:\n    aliases: [Organisation]", "alias_taken", 3),
        ("page_types:\n  M:\n    aliases: {a: b}", "invalid_value", 3),
        ("claim_kinds:\n  M:\n    aliases: [promise]", "alias_taken", 3),
        ("claim_kinds:\n  M:\n    parent: fact", "unknown_key", 3),
        ("relationship_types:\n  m:\n    from: Gadget", "unknown_type", 3),
        ("relationship_types:\n  m:\n    layer: reserved", "invalid_value", 3),
        ("relationship_types:\n  m:\n    endpoints: [Person]", "invalid_value", 3),
        ("relationship_types:\n  m:\n    aliases: [requires]", "alias_taken", 3),
        ("relationship_types:\n  knows:\n    symmetric: false", "redefined", 3),
        ("relationship_types:\n  relates_to:\n    from: Person", "redefined", 2),
        ("colour: red", "unknown_key", 1),
    ],
)
def test_a_bad_definition_is_a_warning_with_its_line(text: str, code: str, line: int) -> None:
    ontology = load_ontology(text)
    found = issue(ontology)
    assert (found.code, found.line, found.level) == (code, line, "warning")
    assert not ontology.broken


def test_what_is_left_of_a_bad_definition_holds() -> None:
    ontology = vault(
        """
        page_types:
          Machine:
            parent: Gadget
            fields: {year: integer, colour: hue}
          Person: {fields: {born: integer}}
        """
    )
    assert ontology.ancestors("Machine") == ("Entity",)
    assert "colour" not in ontology.fields_of("Machine")
    assert ontology.fields_of("Machine")["year"].type == "integer"
    assert ontology.fields_of("Person")["born"].type == "date"
    assert len(ontology.issues) == 3


def test_a_loop_of_parents_leaves_every_member_an_entity() -> None:
    ontology = vault(
        """
        page_types:
          A: {parent: B}
          B: {parent: C}
          C: {parent: A}
          D: {parent: C}
        """
    )
    assert [(i.code, i.line) for i in ontology.issues] == [
        ("parent_loop", 3),
        ("parent_loop", 4),
        ("parent_loop", 5),
    ]
    assert ontology.ancestors("A") == ("Entity",)
    assert ontology.ancestors("D") == ("C", "Entity")


def test_a_field_added_above_never_changes_one_that_stands_below() -> None:
    ontology = vault("page_types:\n  Entity:\n    fields: {status: integer}")
    assert issue(ontology).code == "field_conflict"
    assert ontology.fields_of("Project")["status"].type == "text"
    assert "status" not in ontology.fields_of("Entity")


def test_a_name_goes_before_an_alias() -> None:
    ontology = vault("page_types: {Organisation: {parent: Company}}")
    assert not ontology.issues
    found = ontology.page_type("organisation")
    assert found is not None
    assert found.name == "Organisation"
    assert "Organisation" not in ontology.page_types["Company"].aliases


# Fingerprint


MACHINE = """
page_types:
  Machine:
    description: A machine.
    aliases: [Device, Apparatus]
    fields:
      year: {type: integer}
      status: {type: text, values: [designed, built]}
relationship_types:
  designed: {endpoints: [{from: Person, to: Machine}, {from: Company, to: Machine}]}
"""


def test_the_fingerprint_is_a_sha256_of_the_meaning() -> None:
    assert len(BUILTIN.fingerprint) == 64
    assert load_ontology(MACHINE).fingerprint != BUILTIN.fingerprint


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("A machine.", "Something that runs."),
        ("page_types:", "# a comment\npage_types:"),
        ("[Device, Apparatus]", "\n      - Apparatus\n      - 'Device'"),
        ("values: [designed, built]", 'values: ["built", "designed"]'),
        (
            "{from: Person, to: Machine}, {from: Company, to: Machine}",
            "{from: Company, to: machine}, {to: Machine, from: person}",
        ),
        (
            "      year: {type: integer}\n      status: {type: text, values: [designed, built]}",
            "      status: {values: [designed, built]}\n      year: integer",
        ),
        ("page_types:\n  Machine:", "page_types:\n  machine:"),
    ],
)
def test_formatting_order_and_description_do_not_change_the_fingerprint(old: str, new: str) -> None:
    assert old in MACHINE
    changed = load_ontology(MACHINE.replace(old, new))
    assert not changed.issues
    assert changed.fingerprint == load_ontology(MACHINE).fingerprint


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  Machine:\n", "  Contraption:\n"),
        ("[Device, Apparatus]", "[Device]"),
        ("{type: integer}", "{type: number}"),
        ("{type: integer}", "{type: integer, required: true}"),
        ("{type: integer}", "{type: integer, many: true}"),
        ("{type: integer}", "{type: integer, minimum: 1}"),
        ("year:", "built_in:"),
        ("[designed, built]", "[designed]"),
        ("    aliases:", "    parent: Project\n    aliases:"),
        ("    aliases:", "    identity: true\n    aliases:"),
        ("    aliases:", "    extract: false\n    aliases:"),
        ("    aliases:", "    filing: machines\n    aliases:"),
        (", {from: Company, to: Machine}", ""),
        ("  designed: {", "  designed: {layer: deterministic, "),
        ("  designed: {", "  designed: {keywords: [plan], "),
        ("  designed: {", "  designed: {symmetric: true, "),
        ("page_types:", "mode: strict\npage_types:"),
        ("page_types:", "claim_kinds: {quotation: {}}\npage_types:"),
    ],
)
def test_a_change_of_meaning_changes_the_fingerprint(old: str, new: str) -> None:
    assert old in MACHINE
    assert (
        load_ontology(MACHINE.replace(old, new)).fingerprint != load_ontology(MACHINE).fingerprint
    )


# Views


def test_the_catalog_names_and_describes_without_rules() -> None:
    rows = BUILTIN.describe()
    assert len(rows) == len(BUILTIN.page_types) + len(BUILTIN.claim_kinds) + len(
        BUILTIN.relationship_types
    )
    assert set(rows[0]) == {"name", "kind", "label", "description", "aliases", "provenance"}
    assert [(r["kind"], r["name"]) for r in rows] == sorted((r["kind"], r["name"]) for r in rows)


def test_a_name_of_two_kinds_is_described_twice_unless_one_kind_is_asked_for() -> None:
    assert [r["kind"] for r in BUILTIN.describe(name="decision")] == ["claim", "page"]
    assert [r["name"] for r in BUILTIN.describe(name="decision", kind="page")] == ["Decision"]
    assert BUILTIN.describe(name="spaceship") == []


def test_a_definition_shows_every_rule_and_where_each_came_from() -> None:
    ontology = vault(
        """
        page_types:
          Machine: {fields: {year: integer}}
          Engine: {parent: Machine, aliases: [Motor]}
        """
    )
    (row,) = ontology.describe("definitions", name="motor")
    assert (row["name"], row["inherits"], row["provenance"]) == (
        "Engine",
        ["Machine", "Entity"],
        ["vault"],
    )
    fields = {f["name"]: (f["declared_by"], f["provenance"]) for f in row["fields"]}
    assert fields["year"] == ("Machine", "vault")
    assert fields["website"] == ("Entity", "builtin")
    (row,) = ontology.describe("definitions", name="tests", kind="relationship")
    assert row["endpoints"] == [{"from": ["TestScenario"], "to": ["Criterion"]}]
    assert row["reserved"]


# Properties

KEYS = st.sampled_from(
    [
        *("page_types", "claim_kinds", "relationship_types", "mode", "label", "parent", "aliases"),
        *("fields", "filing", "type", "values", "from", "to", "endpoints", "layer", "symmetric"),
        *("M", "Person", "violates", "Entity", "Engine"),
    ]
)
MANIFESTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4) | KEYS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(KEYS, MANIFESTS, max_size=4), MANIFESTS)
def test_no_shape_of_manifest_raises_or_opens_what_is_reserved(
    vault_data: object, partition: object
) -> None:
    ontology = load_ontology(json.dumps(vault_data), json.dumps({"page_types": partition}))
    assert set(ontology.page_types) >= DESIGN_PAGE_TYPES
    assert all(ontology.relationship_types[name].reserved for name in RESERVED)
    for name, page_type in ontology.page_types.items():
        assert name not in ontology.ancestors(name)
        assert ontology.page_type(name) is page_type
    assert all(i.line for i in ontology.issues)


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet=st.sampled_from("ab:{}[]-&*!|>'\"#?,%@\\ \n\tPparent_types0"), max_size=80))
def test_no_manifest_whatever_raises(text: str) -> None:
    ontology = load_ontology("page_types:\n  M: " + text, text)
    assert set(ontology.page_types) >= DESIGN_PAGE_TYPES
    assert len(ontology.fingerprint) == 64


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=5,
)
FIELD_NAMES = st.sampled_from(sorted(BUILTIN.fields_of("Person"))) | st.text(max_size=5)


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(sorted(BUILTIN.page_types)), st.dictionaries(FIELD_NAMES, VALUES, max_size=5)
)
def test_fields_that_pass_pass_again_unchanged(type_name: str, fields: dict[str, object]) -> None:
    checked, problems = BUILTIN.check_fields(type_name, fields)
    if not [p for p in problems if p.level == "error"]:
        again, problems = BUILTIN.check_fields(type_name, checked)
        assert repr(again) == repr(checked)
        assert not [p for p in problems if p.level == "error"]
