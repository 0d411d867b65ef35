"""`vault-kg call` and `operations`: the contract that scripts rely on, in real processes."""

from __future__ import annotations

import json

import pytest


def test_a_result_is_one_json_document_on_standard_output_and_exit_0(shell, vault) -> None:
    done = shell("call", "knowledge_lookup", "--json", '{"text": "Ada"}', "--vault", vault.root)
    assert done.code == 0
    assert done.json["record"]["id"] == vault["ada"]
    assert done.out.count("\n") == 1
    assert done.err == ""


def test_a_refusal_is_code_message_and_data_on_standard_output_and_exit_1(shell, vault) -> None:
    done = shell("call", "knowledge_lookup", "--json", '{"text": "Nobody"}', "--vault", vault.root)
    assert done.code == 1
    assert set(done.json) == {"error"}
    assert set(done.json["error"]) == {"code", "message", "data"}
    assert done.json["error"]["code"] == "not_found"


def test_shared_options_stand_before_or_after_the_subcommand(shell, vault, tmp_path) -> None:
    done = shell(
        "--vault", vault.root, "--actor", "Grace", "call", "knowledge_status", cwd=tmp_path
    )
    assert done.code == 0
    again = shell("call", "--vault", vault.root, "knowledge_status", cwd=tmp_path)
    assert again.json["vaultId"] == done.json["vaultId"]


def test_arguments_come_from_standard_input(shell, vault) -> None:
    body = "Zeile\n" * 20_000
    given = json.dumps({"requestId": "r1", "type": "Topic", "title": "Größe", "body": body})
    done = shell("call", "knowledge_save_page", "--json", "-", "--vault", vault.root, input=given)
    assert done.code == 0, done.out
    assert done.json["revision"] == 1
    again = shell(
        "call", "knowledge_save_page", "--json", "-", cwd=vault.root, input="\ufeff" + given
    )
    assert again.json == done.json, "the same request again gives the same receipt"


def test_an_unavailable_vault_exits_3(shell, vault, tmp_path) -> None:
    nowhere = tmp_path / "plain"
    nowhere.mkdir()
    done = shell("call", "knowledge_status", "--vault", nowhere)
    assert (done.code, done.json["error"]["code"]) == (3, "unavailable")
    assert "vault-kg init" in done.json["error"]["message"]
    missing = shell("call", "knowledge_status", "--vault", tmp_path / "missing")
    assert (missing.code, missing.json["error"]["code"]) == (3, "unavailable")
    for name in ("state.sqlite", "state.sqlite-wal", "state.sqlite-shm"):
        (vault.root / ".vault-kg" / name).unlink(missing_ok=True)
    lost = shell("call", "knowledge_status", "--vault", vault.root)
    assert (lost.code, lost.json["error"]["code"]) == (3, "unavailable")
    assert "vault-kg recover" in lost.json["error"]["message"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--json", '{"text": "Ada",}'], "line 1, column 1"),
        (["--json", '{"text": "Ada"\n "type"'], "line 2, column 2"),
        (["--json", '["Ada"]'], "must be an object"),
        (["--json", '{"text": "a", "text": "b"}'], "'text' is there twice"),
        (["--json", '{"text": NaN}'], "NaN"),
        (["--json", "[" * 200_000], "nested too deeply"),
        (["--json", '{"limit": ' + "9" * 5000 + "}"], "integer"),
        (["--json"], "requires an argument"),
        (["--colour"], "No such option"),
        (["extra", "words"], "unexpected extra argument"),
    ],
)
def test_wrong_usage_exits_2_and_says_where(vault_kg, vault, arguments, said) -> None:
    if len(" ".join(arguments)) > 100_000:
        done = vault_kg(
            "call", "knowledge_lookup", "--json", "-", "--vault", vault.root, input=arguments[1]
        )
    else:
        done = vault_kg("call", "knowledge_lookup", "--vault", vault.root, *arguments)
    assert done.code == 2
    assert said in done.err
    assert done.out == ""


def test_input_that_is_not_utf_8_is_wrong_usage(shell, vault) -> None:
    done = shell(
        "call", "knowledge_lookup", "--json", "-", cwd=vault.root, input=b'{"text": "\xe9"}'
    )
    assert done.code == 2
    assert "byte 10" in done.err


def test_an_unknown_key_is_refused_and_named(vault_kg, vault) -> None:
    done = vault_kg(
        "call", "knowledge_lookup", "--json", '{"text": "Ada", "colour": 1}', cwd=vault.root
    )
    assert done.code == 1
    assert done.json["error"]["code"] == "invalid_argument"
    assert {"field": "colour", "problem": "unknown key"} in done.json["error"]["data"]["problems"]


@pytest.mark.parametrize(
    "arguments",
    [
        {"text": ""},
        {"text": "\x00"},
        {"text": "x" * 100_000},
        {"text": {"a": [1]}},
        {"text": None},
        {"text": "Ada", "type": "\x1b[31m"},
        {},
    ],
)
def test_odd_arguments_are_refused_without_a_traceback(vault_kg, vault, arguments) -> None:
    done = vault_kg(
        "call", "knowledge_lookup", "--json", "-", cwd=vault.root, input=json.dumps(arguments)
    )
    assert done.code == 1
    assert done.json["error"]["code"] in ("invalid_argument", "not_found")
    assert "Traceback" not in done.err


def test_lone_surrogates_are_refused(vault_kg, vault) -> None:
    done = vault_kg("call", "knowledge_lookup", "--json", '{"text": "\\ud800"}', cwd=vault.root)
    assert done.code == 1
    assert done.json["error"]["code"] in ("invalid_argument", "not_found")


def test_an_unknown_operation_is_refused_and_says_where_they_are_listed(vault_kg, vault) -> None:
    done = vault_kg("call", "knowledge_dance", cwd=vault.root)
    assert (done.code, done.json["error"]["code"]) == (1, "not_found")
    assert "vault-kg operations" in done.json["error"]["message"]


def test_output_is_utf_8_in_every_locale(shell, vault) -> None:
    shell(
        "call", "knowledge_save_page", "--json", "-", cwd=vault.root,
        input=json.dumps({"requestId": "r", "type": "Topic", "title": "東京 Ærø"}),
    )  # fmt: skip
    done = shell(
        "call", "knowledge_lookup", "--json", '{"text": "東京 Ærø"}', cwd=vault.root,
        LC_ALL="C", PYTHONIOENCODING="latin-1", PYTHONUTF8="0",
    )  # fmt: skip
    assert done.code == 0
    assert done.json["record"]["title"] == "東京 Ærø"


def test_the_actor_is_the_option_or_the_environment_or_cli(shell, vault) -> None:
    def actor(request: str, *options: str, **environment: str) -> str:
        given = json.dumps({"requestId": request, "type": "Topic", "title": request})
        done = shell(
            "call", "knowledge_save_page", "--json", given, *options, cwd=vault.root, **environment
        )
        return str(done.json["actor"])

    assert actor("r1") == "cli"
    assert actor("r2", VAULT_KG_ACTOR="Grace") == "Grace"
    assert actor("r3", "--actor", "Alan", VAULT_KG_ACTOR="Grace") == "Alan"


def test_a_fault_of_ours_is_one_line_and_the_traceback_is_for_who_asks(
    vault_kg, vault, monkeypatch
) -> None:
    from vault_kg.operations import registry

    def broken(*_: object) -> None:
        raise ZeroDivisionError("by\nnothing")

    monkeypatch.setattr(registry, "call", broken)
    done = vault_kg("call", "knowledge_status", cwd=vault.root)
    assert done.code == 1
    assert done.json["error"]["code"] == "error"
    assert "VAULT_KG_DEBUG=1" in done.json["error"]["message"]
    shown = vault_kg("status", cwd=vault.root)
    assert shown.code == 1
    assert shown.err.splitlines() == [
        "vault-kg: unexpected ZeroDivisionError: by nothing "
        "(set VAULT_KG_DEBUG=1 to see the traceback)"
    ]
    monkeypatch.setenv("VAULT_KG_DEBUG", "1")
    assert "Traceback" in vault_kg("status", cwd=vault.root).err


def test_operations_lists_every_operation_with_its_scope(vault_kg, tmp_path) -> None:
    done = vault_kg("operations", cwd=tmp_path)
    assert done.code == 0
    rows = [line.split() for line in done.out.splitlines()]
    assert ["knowledge_withdraw", "write"] in [row[:2] for row in rows]
    described = vault_kg("operations", "knowledge_withdraw", "--json").json
    assert described["request"]["required"] == [
        "requestId", "id", "expectedRevision", "expectedHash", "reason",
    ]  # fmt: skip
    assert "reason (required)" in vault_kg("operations", "knowledge_withdraw").out
    unknown = vault_kg("operations", "knowledge_dance")
    assert unknown.code == 1
    assert "knowledge_withdraw" in unknown.err


def test_a_result_that_says_it_did_not_succeed_exits_1(shell, vault) -> None:
    call = ("call", "knowledge_apply_corrections", "--vault", vault.root)
    entry = "corrections:\n- id: c1\n  type: same_as\n  canonical: Nobody\n  aliases: [Nothing]\n"
    (vault.root / "corrections.yaml").write_text(entry)
    done = shell(*call)
    assert (done.code, done.json["success"]) == (1, False)
    assert done.json["errors"][0]["id"] == "c1"
    (vault.root / "corrections.yaml").write_text("corrections: []\n")
    done = shell(*call)
    assert (done.code, done.json["success"]) == (0, True)
