"""The Configurations page: what is saved, how it comes back in, and how production loads it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import insert, select

from core.errors import ConfigError
from core.export import exported
from core.replay import replay
from pages.parts.config_opening import compare_address
from pages.parts.saved_configs import CHANGED, import_config, provenance_text
from storage import Library
from storage.schema import ConfigurationRow, TranscriptRow
from tests.pages_app import SAMPLES, Open, errors_in_popover, id_of, page, run, sample_database, shown, store

__all__ = ["page", "sample_database", "store"]

PAGE = "configurations.py"
NAME = "support triage, 5,000 tokens"
OTHER = {"name": "second", "strategy": {"kind": "keep_last", "keep_steps": 3}}


def paste(page: Open, text: str) -> str:
    app = page(PAGE)
    app.text_area(key="config_text_0").set_value(text)
    run(app)
    app.button(key="config_import_now").click()
    return shown(run(app))


def test_the_sample_is_listed_and_shown(page: Open) -> None:
    app = page(PAGE)
    row = app.dataframe[0].value.iloc[0]
    assert (row["name"], row["version"], row["soft limit"]) == (NAME, 1, "5,000")
    assert row["strategy"] == "summarize_and_keep · 4 turns"
    assert json.loads(app.code[0].value) == json.loads((SAMPLES / "configuration.json").read_text(encoding="utf-8"))
    assert 'ContextRuntime.load("support-triage-5-000-tokens.json")' in app.code[1].value


def test_pasted_json_is_stored_under_its_name(page: Open, store: Library) -> None:
    assert "Imported as version 1 of second." in paste(page, json.dumps(OTHER))
    assert store.configs.get("second").body == OTHER
    assert "Imported as version 2 of second." in paste(page, json.dumps({**OTHER, "budget": {"soft_limit": 9}}))
    app = page(PAGE, config="second", version="1")
    assert app.selectbox(key="version").options == ["2", "1"]
    assert json.loads(app.code[0].value) == OTHER


def test_an_import_closes_the_form_over_what_is_told_of_it(page: Open) -> None:
    app = page(PAGE)
    app.session_state["config_import"] = True
    run(app).text_area(key="config_text_0").set_value(json.dumps(OTHER))
    run(app).button(key="config_import_now").click()
    assert "Imported as version 1 of second." in shown(run(app))
    assert app.session_state["config_import"] is False


@pytest.mark.parametrize(
    ("text", "key", "said"),
    [
        ('{"strategy": {"kind": "keep_last", "keep_trns": 4}}', "strategy.keep_trns", "Did you mean 'keep_turns'?"),
        ('{"strategy": {"kind": "keep_last"}, "budget": {"soft_limit": -1}}', "budget.soft_limit", "0"),
        ('{"name": "no strategy"}', "strategy", "missing"),
        ("{broken", "configuration", "this is not JSON"),
        ("[" * 100_000, "configuration", "this is not JSON"),
        ("[1, 2]", "configuration", "this is not an object"),
        ("/etc/hostname", "configuration", "this is not JSON"),
    ],
)
def test_what_cannot_be_used_is_explained(page: Open, store: Library, text: str, key: str, said: str) -> None:
    found = paste(page, text)
    assert f"**{key}**: " in found
    assert said in found
    assert [saved.name for saved in store.configs.list()] == [NAME]


BAD = [
    '{"strategy": {"kind": "keep_lust"}}',
    '{"strategy": {"kind": "keep_last"',
    "",
    "{}",
    "[1, 2]",
]


@pytest.mark.parametrize("is_file", [False, True])
@pytest.mark.parametrize("text", BAD)
def test_what_cannot_be_imported_is_explained_where_it_was_given(page: Open, text: str, is_file: bool) -> None:
    app, pasted = page(PAGE), text or "nothing"
    if is_file:
        app.file_uploader[0].upload("bad.json", text.encode())
    else:
        app.text_area(key="config_text_0").set_value(pasted)
    run(app)
    app.button(key="config_import_now").click()
    (error,) = errors_in_popover(run(app), "Import")
    assert error.startswith("**") and len(app.error) == 1
    assert is_file or app.text_area(key="config_text_0").value == pasted


LARGE = json.dumps({**OTHER, "name": "x" * (1 << 20)})


def test_what_is_too_large_is_refused_with_a_sentence(page: Open, store: Library) -> None:
    said = "**configuration**: this has 1.0 MB, and at most 1 MB are taken."
    assert said in paste(page, LARGE)
    app = page(PAGE)
    assert app.file_uploader[0].proto.max_upload_size_mb == 1
    assert "a file of more than 1 MB is refused. A recorded run is added on the page Library." in shown(app)
    app.file_uploader[0].upload("large.json", LARGE.encode() + b" " * (1 << 20))
    run(app)
    app.button(key="config_import_now").click()
    assert said.replace("1.0", "2.0").replace("configuration", "large.json") in shown(run(app))
    assert [saved.name for saved in store.configs.list()] == [NAME]


def test_a_name_that_is_too_long_is_a_sentence(page: Open, store: Library) -> None:
    said = "**name**: has 201 characters, 1 more than the 200 that fit."
    assert said in paste(page, json.dumps({**OTHER, "name": "n" * 201}))
    slots = {"a": json.dumps({**OTHER, "name": "n" * 201}), "b": json.dumps(OTHER)}
    app = page("compare.py", transcript=id_of(store), **slots)
    app.button(key="a_save").click()
    assert said in shown(run(app))
    assert [saved.name for saved in store.configs.list()] == [NAME]


FAULTY = {
    "strategy": {"kind": "keep_last", "keep_trns": 4},
    "budget": {"soft_limit": 10**30, "reserve_ratio": "much"},
    "colour": "red",
}
FAULTS = [
    "budget.reserve_ratio: a number is expected, and this is the text 'much'.",
    "budget.soft_limit: this is more than 9,007,199,254,740,991, the most that is taken.",
    "strategy.keep_trns: there is no such setting.",
    "colour: there is no such setting.",
]


@pytest.mark.parametrize("file", ["", "broken.json"])
def test_all_that_is_wrong_with_a_configuration_is_said_at_once_and_in_which_file(page: Open, file: str) -> None:
    app = page(PAGE)
    if file:
        app.file_uploader[0].upload(file, json.dumps(FAULTY).encode())
    else:
        app.text_area(key="config_text_0").set_value(json.dumps(FAULTY))
    run(app)
    app.button(key="config_import_now").click()
    (error,) = errors_in_popover(run(app), "Import")
    said = [part.splitlines()[0].replace("**", "").rstrip() for part in error.split("\n\n")]
    assert said == [f"{file}, {fault}" if file else fault for fault in FAULTS]


@pytest.mark.parametrize("text", ["{broken", "[1, 2]"])
def test_a_file_that_is_no_configuration_goes_by_its_name(page: Open, text: str) -> None:
    app = page(PAGE)
    app.file_uploader[0].upload("broken.json", text.encode())
    run(app)
    app.button(key="config_import_now").click()
    (error,) = errors_in_popover(run(app), "Import")
    assert error.startswith("**broken.json**: this is not ")


def test_a_configuration_that_was_measured_on_nothing_here_says_what_it_opens_on(page: Open, store: Library) -> None:
    store.configs.save("by hand", OTHER)
    newest, oldest = store.list(limit=10)[0], store.list(limit=10)[-1]
    app = page(PAGE, config="by hand")
    assert f"Compare opens it on “{newest.title}”." in shown(app)
    assert "Compare opens it on" not in shown(page(PAGE, config=NAME))
    app = page("inspect_transcript.py", transcript=str(oldest.id))
    app.switch_page(PAGE)
    app.query_params["config"] = "by hand"
    assert f"Compare opens it on “{oldest.title}”." in shown(run(app))
    assert compare_address(store, store.configs.get("by hand"))["transcript"] == str(newest.id)
    app.button(key="config_compare").click()
    assert str(oldest.title) in run(app).title[0].value.replace("\\", "")


def test_a_configuration_for_another_dialect_says_that_compare_does_not_convert(page: Open, store: Library) -> None:
    told = "It is for anthropic; Compare shows the transcript in its own dialect, openai_chat."
    summary = store.summary(int(id_of(store)))
    body = store.configs.get(NAME).body
    for dialect, says in (("anthropic", True), (summary.dialect, False), (None, False)):
        store.configs.save("another", {**body, "model": {**body["model"], "dialect": dialect}})
        assert (told in shown(page(PAGE, config="another"))) is says


def test_a_file_without_a_name_goes_by_its_file_name(page: Open, store: Library) -> None:
    app = page(PAGE)
    app.file_uploader[0].upload("winner.json", json.dumps({"strategy": {"kind": "keep_last"}}).encode())
    run(app)
    app.button(key="config_import_now").click()
    assert "Imported as version 1 of winner." in shown(run(app))


def test_deleting_takes_all_versions(page: Open, store: Library) -> None:
    app = page(PAGE)
    app.button(key="config_delete_now").click()
    assert "No configuration yet" in shown(run(app))
    assert store.configs.list() == []


def test_a_deletion_is_told_and_shows_the_next_configuration(page: Open, store: Library) -> None:
    store.configs.save("second", store.configs.get(NAME).body)
    app = page(PAGE, config="second")
    app.button(key="config_delete_now").click()
    run(app)
    assert [saved.name for saved in store.configs.list()] == [NAME]
    assert [told.value for told in app.toast] == ["All versions of second were deleted."]


def test_compare_opens_it_beside_the_whole_history(store: Library) -> None:
    saved = store.configs.get(NAME)
    address = compare_address(store, saved)
    assert (address["budget"], address["window"], address["model"]) == ("5000", "128000", "gpt-4o")
    assert json.loads(address["b"]) == {"strategy": {"kind": "full_history"}}
    said = json.loads(address["a"])
    assert said["name"] == NAME
    assert said["strategy"]["kind"] == "summarize_and_keep"
    assert said["rules"] == []
    assert address["transcript"] == id_of(store)
    unmeasured = {key: value for key, value in saved.body.items() if key != "provenance"}
    newest = store.list(limit=1)[0]
    assert compare_address(store, store.configs.save(NAME, unmeasured))["transcript"] == str(newest.id)


def test_compare_opens_the_transcript_that_it_was_measured_on(page: Open, store: Library) -> None:
    number = id_of(store)
    app = page("compare.py", transcript=number)
    app.button(key="a_save").click()
    run(app)
    address = compare_address(store, store.configs.get("keep_last · 2 turns"))
    assert address["transcript"] == number
    app = page("compare.py", **address)
    assert app.dataframe[0].value.columns.tolist()[2:] == ["keep_last · 2 turns", "full_history"]


@pytest.mark.parametrize("value", [5, "x", None, [3], {"a": 1}, [{"calls": None, "sha256": []}]])
def test_a_provenance_written_by_hand_breaks_no_page(value: Any) -> None:
    body = {"transcripts": value, "measured": value, "golden": value}
    assert provenance_text(body).startswith("Measured on ")
    assert provenance_text({"measured": {"peak_tokens": value}}).startswith("Measured on 0 transcripts")


def test_provenance_is_said_in_words() -> None:
    body = {
        "transcripts": [{"sha256": "a", "calls": 20}, {"sha256": "b", "calls": 1}],
        "measured": {"peak_tokens": 4425, "sum_tokens": 50128},
        "golden": [{}, {}, {}],
    }
    said = provenance_text(body).replace("\\", "")
    assert said == (
        "Measured on 2 transcripts with 21 calls: peak 4,425 tokens, 50,128 over all calls."
        " 3 golden calls to verify it with."
    )
    assert provenance_text(None).startswith("Written by hand")


def test_a_text_that_names_a_file_is_never_read(store: Library) -> None:
    with pytest.raises(ConfigError, match="this is not JSON"):
        import_config(store, "x", str(SAMPLES / "configuration.json"))


def test_what_an_older_version_saved_and_this_one_refuses_is_shown_with_the_reason(page: Open, store: Library) -> None:
    body = {"counter": {"kind": "chars4", "scale": 1.2}, "strategy": {"kind": "keep_last"}}
    row = {
        "name": "old",
        "version": 1,
        "body": json.dumps(body),
        "note": "",
        "created_at": datetime(2026, 5, 1, tzinfo=UTC),
    }
    with store.engine.begin() as connection:
        connection.execute(insert(ConfigurationRow), row)
    app = page(PAGE, config="old")
    rows = app.dataframe[0].value.set_index("name")
    assert rows.loc["old", "strategy"] == "cannot be used"
    assert rows.loc[NAME, "strategy"] == "summarize_and_keep · 4 turns"
    assert "**counter.scale**: the counter chars4 has no scale." in shown(app)
    assert app.button(key="config_compare").disabled
    assert "In production" not in shown(app)
    app.button(key="config_delete_now").click()
    run(app)
    assert [saved.name for saved in store.configs.list()] == [NAME]


@pytest.mark.parametrize(
    "body",
    [
        {"schema_version": 99, "strategy": {"kind": "keep_last"}},
        {"strategy": {"kind": "of_a_newer_version"}},
        {"strategy": "keep_last", "model": "gpt-4o", "provenance": "none"},
        {"strategy": {"kind": "keep_last"}, "settings_of_a_newer_version": True},
        {},
    ],
)
def test_one_that_a_newer_version_saved_leaves_the_others_as_they_are(
    page: Open, store: Library, body: dict[str, Any]
) -> None:
    row = {"name": "newer", "version": 1, "body": json.dumps(body), "note": "", "created_at": datetime.now(UTC)}
    with store.engine.begin() as connection:
        connection.execute(insert(ConfigurationRow), row)
    for name in ("newer", NAME):
        app = page(PAGE, config=name)
        rows = app.dataframe[0].value.set_index("name")
        assert rows.loc["newer", "strategy"] == "cannot be used"
        assert rows.loc[NAME, "strategy"] == "summarize_and_keep · 4 turns"
        assert len(app.error) == (name == "newer")


@pytest.mark.parametrize("spoken", ["openai_chat", "openai_responses", "anthropic", "gemini"])
def test_the_transcript_it_was_measured_on_is_found_in_whatever_dialect(spoken: str, store: Library) -> None:
    number = id_of(store)
    made = replay(store.get(int(number)), {"strategy": {"kind": "keep_last"}, "model": {"dialect": spoken}})
    saved = store.configs.save("spoken", exported([made], datetime(2026, 1, 1, tzinfo=UTC)))
    assert compare_address(store, saved)["transcript"] == number


def add_newer_ones(store: Library) -> None:
    with store.engine.begin() as connection:
        row = dict(connection.execute(select(TranscriptRow.__table__)).mappings().all()[0])
        newer = {"updated_at": datetime(2999, 1, 1, tzinfo=UTC), "capture_key": None}
        rows = [{**row, **newer, "id": 1000 + n, "sha256": f"{n:064d}"} for n in range(1, 701)]
        connection.execute(insert(TranscriptRow), rows)
    assert store.list(limit=1)[0].id > 1000


def test_the_transcript_it_was_measured_on_is_found_among_many(store: Library) -> None:
    summary = store.summary(int(id_of(store)))
    saved = store.configs.save("old", {"strategy": {"kind": "keep_last"}, "provenance": {
        "transcripts": [{"sha256": "0" * 64}, {"sha256": summary.sha256}]
    }})  # fmt: skip
    add_newer_ones(store)
    assert compare_address(store, saved)["transcript"] == str(summary.id)


def test_a_transcript_in_the_address_opens_among_many(page: Open, store: Library) -> None:
    number = id_of(store)
    add_newer_ones(store)
    app = page("compare.py", transcript=number)
    assert app.title[0].value.startswith(f"Compare on {store.summary(int(number)).title[:8]}")


def test_figures_of_other_settings_are_told_as_such(page: Open, store: Library) -> None:
    body = dict(store.configs.get(NAME).body)
    assert CHANGED not in [warning.value for warning in page(PAGE, config=NAME).warning]
    store.configs.save("edited", {**body, "strategy": {**body["strategy"], "keep_turns": 3}})
    assert CHANGED in [warning.value for warning in page(PAGE, config="edited").warning]
    store.configs.save("renamed", {**body, "name": "renamed"})
    assert CHANGED not in [warning.value for warning in page(PAGE, config="renamed").warning]
