"""The Library page: what it lists, how transcripts come in, and what it says of files that it cannot read."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.errors import RequestError
from core.fingerprint import engine_fingerprint
from core.readers import read
from core.replay import replay
from pages.parts import peaks
from pages.parts.import_told import alike, import_table, sentences, summary_line
from pages.parts.library_list import capture_command
from storage import Library, Summary
from storage.importing import ImportedFile
from storage.samples import TITLES
from tests.pages_app import SAMPLES, Open, page, run, sample, sample_database, shown, store
from tests.test_readers_bundles import zipped

__all__ = ["page", "sample_database", "store"]

HELLO = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hello from a test"}]}


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def upload(app: AppTest, **files: bytes) -> AppTest:
    for name, content in files.items():
        app.file_uploader[0].upload(name.replace("__", "."), content)
    return imported(run(app))


def imported(app: AppTest) -> AppTest:
    """Look on until no import goes on any more, as a browser does by itself."""
    while "import" in app.query_params:
        run(app)
    return app


def test_the_samples_are_listed_with_their_figures(page: Open) -> None:
    table = page("library.py").dataframe[0].value.set_index("source")
    for path in sorted(SAMPLES.glob("*.json*")):
        if path.name == "configuration.json":
            continue
        transcript = sample(path)
        row = table.loc[path.name]
        assert row["title"] == TITLES[path.stem]
        assert (row["calls"], row["messages"]) == (len(transcript.calls), len(transcript.messages))
        assert row["models"] == ", ".join(transcript.models)
        assert row["peak window"] == max(replay(transcript, {"strategy": {"kind": "as_captured"}}).calls["in_window"])


def test_peaks_are_counted_once(page: Open, store: Library) -> None:
    page("library.py")
    app = page("library.py")
    counted = len(app.dataframe[0].value)
    hashes = [bytes.fromhex(summary.sha256)[:16] for summary in store.list()]
    assert len(store.analyses.get(f"peak:{engine_fingerprint()}", hashes)) == counted


def test_a_transcript_that_cannot_be_counted_is_listed(store: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = store.list()

    def count(_: Library, summary: Summary) -> int:
        if summary.id == listed[0].id:
            raise RequestError("This request cannot be read.")
        return 7

    monkeypatch.setattr(peaks, "count_peak", count)
    monkeypatch.setattr(peaks, "KEY", "peaks of nobody")
    assert peaks.peaks(store, listed) == [None, *[7] * (len(listed) - 1)]


@pytest.mark.parametrize(("search", "rows"), [("", 4), ("openai_chat", 2), ("gpt-4o", 1), ("sample claude", 2)])
def test_a_search_finds_names_models_and_tags(page: Open, search: str, rows: int) -> None:
    assert len(page("library.py", search=search).dataframe[0].value) == rows


def test_a_search_without_result_says_so(page: Open) -> None:
    app = page("library.py", search="*nothing*")
    assert "No transcript has “*nothing*” in its names or tags." in shown(app)
    assert not app.dataframe


def test_a_file_is_stored_once(page: Open, store: Library) -> None:
    app = upload(page("library.py"), hello__json=json.dumps(HELLO).encode())
    assert "1 transcript with 1 call, read as openai_chat." in shown(app)
    assert app.dataframe[0].value["title"][0] == "Hello from a test"
    app = upload(app, again__json=json.dumps(HELLO).encode())
    assert "Everything in it was in the library already." in shown(app)
    assert store.count("Hello from a test") == 1


def test_pasted_text_is_stored(page: Open, store: Library) -> None:
    app = page("library.py")
    app.text_area(key="pasted_0").set_value(json.dumps(HELLO))
    run(app)
    app.button(key="add_pasted").click()
    assert "1 transcript with 1 call" in shown(imported(run(app)))
    assert app.text_area(key="pasted_1").value == ""
    assert store.count("Hello from a test") == 1


def test_a_format_can_be_forced(page: Open, store: Library) -> None:
    app = page("library.py")
    app.selectbox(key="format").set_value("anthropic")
    app = upload(run(app), hello__json=json.dumps({"messages": [user("forced")]}).encode())
    assert "read as anthropic." in shown(app)
    assert store.list("forced")[0].dialect == "anthropic"


def test_secrets_are_masked_and_counted(page: Open, store: Library) -> None:
    key = "sk-" + "proj-" + "a1B2c3D4e5F6g7H8i9J0" * 2
    content = json.dumps([user("hello there, this is it: " + "x " * 99 + key)]).encode()
    app = upload(page("library.py"), secret__json=content)
    assert "Secrets masked before storing: openai-key in 1 place." in shown(app)
    assert key not in json.dumps(store.get(store.list("secret.json")[0].id).messages)


BROKEN = {
    "not JSON": (b"hello, this is prose", 0),
    "empty": (b"", 0),
    "binary": (bytes(range(256)) * 20, 0),
    "a cut object": (b'{"messages": [{"role": "user"', 0),
    "another kind of JSON": (b'{"name": "x", "version": 3}', 0),
    "one long line": (b"x" * 5_000_000, 0),
    "null content": (json.dumps([user("q"), {"role": "assistant", "content": None}]).encode(), 1),
    "an unknown role": (json.dumps([user("q"), {"role": "wizard", "content": "abracadabra"}]).encode(), 1),
    "a result without its call": (
        json.dumps([user("q"), {"role": "tool", "tool_call_id": "nowhere", "content": "42"}]).encode(),
        1,
    ),
    "a bad line between good ones": (
        "\n".join([json.dumps(HELLO), "{not json}", json.dumps(HELLO)]).encode(),
        1,
    ),
}


@pytest.mark.parametrize(("content", "stored"), BROKEN.values(), ids=BROKEN.keys())
def test_a_file_with_faults_gives_sentences_and_nothing_is_half_stored(
    page: Open, store: Library, content: bytes, stored: int
) -> None:
    before = store.count()
    app = upload(page("library.py"), faulty__jsonl=content)
    said = shown(app)
    assert store.count() == before + stored
    assert "Traceback" not in said
    if not stored:
        assert "Nothing was stored." in said
        assert "faulty.jsonl" in said
        assert "Not read:" in app.error[0].value
    else:
        assert len(store.get(store.list("faulty.jsonl")[0].id).calls) >= 1


def test_what_was_not_read_is_named_with_its_line(page: Open) -> None:
    content = "\n".join([json.dumps(HELLO), "{not json}", json.dumps(HELLO)]).encode()
    assert "faulty.jsonl, line 2:" in shown(upload(page("library.py"), faulty__jsonl=content))


def test_a_configuration_is_sent_to_its_own_page(page: Open) -> None:
    content = (SAMPLES / "configuration.json").read_bytes()
    app = upload(page("library.py"), configuration__json=content)
    assert "this is an exported configuration, not a transcript." in shown(app)


def test_a_file_name_is_no_path_and_no_markup(page: Open, store: Library) -> None:
    app = page("library.py")
    app.file_uploader[0].upload("..\\..\\*bold*.json", json.dumps(HELLO).encode())
    imported(run(app))
    assert store.list("Hello from a test")[0].source == "*bold*.json"
    assert app.success[0].value.startswith("**\\*bold\\*.json**")


def test_what_was_said_of_an_import_can_be_closed(page: Open) -> None:
    app = upload(page("library.py"), hello__json=json.dumps(HELLO).encode())
    app.button(key="close_imported").click()
    assert not run(app).success


def chat(number: int) -> bytes:
    return json.dumps([user(f"question {number}"), {"role": "assistant", "content": f"answer {number}"}]).encode()


def test_many_files_are_told_in_one_line_with_the_refused_ones(page: Open, store: Library) -> None:
    before = store.count()
    files = {f"chat_{number}__json": chat(number) for number in range(6)}
    app = upload(page("library.py"), **files, prose__json=b"hello", empty__json=b"")
    assert (len(app.success), len(app.error), len(app.warning)) == (0, 0, 1)
    said = app.warning[0].value.replace("\\", "")
    assert said.startswith("**6 transcripts from 6 of 8 files; 2 were refused.**")
    assert "- prose.json, line 1: this is not JSON" in said and "- empty.json: " in said
    assert "chat_0" not in said
    assert store.count() == before + 6
    table = app.dataframe[0].value
    assert list(table["file"])[:2] == ["prose.json", "empty.json"] and len(table) == 8
    assert table["calls"].sum() == 6
    app = upload(app, **files)
    assert app.info[0].value.replace("\\", "") == (
        "**6 transcripts from 6 files. All the transcripts were in the library already.**"
    )


ONE_REFUSED = "4 transcripts from 4 of 5 files; 1 was refused."


@pytest.mark.parametrize(
    ("read", "new", "refused", "remarked", "sentence"),
    [
        (4, 4, 0, 0, "4 transcripts from 4 files."),
        (4, 3, 1, 0, f"{ONE_REFUSED} 1 of the transcripts was in the library already."),
        (4, 1, 1, 0, f"{ONE_REFUSED} 3 of the transcripts were in the library already."),
        (4, 0, 0, 0, "4 transcripts from 4 files. All the transcripts were in the library already."),
        (1, 1, 3, 0, "1 transcript from 1 of 4 files; 3 were refused."),
        (0, 0, 4, 0, "Nothing was stored: 4 files refused."),
        (4, 4, 1, 3, "4 transcripts from 4 of 5 files; 1 was refused, 3 read with a remark."),
        (4, 4, 0, 1, "4 transcripts from 4 files; 1 read with a remark."),
    ],
)
@pytest.mark.parametrize("container", [(), (ImportedFile("a.zip", None, 0, 0, 0, 0, 0, (), ()),)], ids=["files", "zip"])
def test_the_line_of_many_files(
    read: int, new: int, refused: int, remarked: int, sentence: str, container: tuple[ImportedFile, ...]
) -> None:
    """An archive of which there is only something to remark is no file beside its own."""
    good = [
        ImportedFile(f"{at}", "openai_chat", 1, int(at < new), 1, 2, 0, (), ("odd.",) * (at < remarked))
        for at in range(read)
    ]
    bad = [ImportedFile(f"x{at}", None, 0, 0, 0, 0, 0, ("x: no.",), ()) for at in range(refused)]
    assert summary_line([*container, *good, *bad]) == sentence


def test_the_line_of_many_files_tells_what_was_read_in_part() -> None:
    whole = ImportedFile("a", "openai_chat", 1, 1, 1, 2, 0, (), ())
    files = [whole, replace(whole, problems=("line 2: no.",)), replace(whole, problems=("no.",), remarks=("odd.",))]
    assert summary_line(files) == "3 transcripts from 3 files; 2 read in part, 1 read with a remark."


def test_the_row_of_a_file_says_all_that_was_told_of_it() -> None:
    whole = ImportedFile("a", "openai_chat", 1, 1, 1, 2, 0, (), ())
    files = [whole, replace(whole, problems=("line 2: no.", "line 9: no.")), replace(whole, remarks=("line 3: cut.",))]
    said = ["", "line 2: no. (and 1 more like it)", "line 3: cut."]
    assert import_table(files)["problems, remarks"].tolist() == said


@pytest.mark.parametrize(
    ("known", "repeated", "said"),
    [
        (0, 43, " 43 of the transcripts repeat others of this import."),
        (0, 1, " 1 of the transcripts repeats another of this import."),
        (2, 3, " 2 of the transcripts were in the library already. 3 of the transcripts repeat others of this import."),
    ],
)
def test_repeats_in_an_import_were_not_in_the_library_before(known: int, repeated: int, said: str) -> None:
    file = ImportedFile("a.jsonl", "openai_chat", 50, 50 - known - repeated, 50, 90, 0, (), (), repeated)
    more = replace(file, name="b.jsonl", transcripts=1, new=1, repeated=0)
    assert summary_line([file, more]) == f"51 transcripts from 2 files.{said}"
    assert list(sentences(file))[1:] == re.findall(r"\d[^.]+\.", said.replace("the transcripts", "them"))


def test_what_is_given_twice_at_once_is_no_old_acquaintance(page: Open) -> None:
    said = shown(upload(page("library.py"), **{f"copy_{number}__json": chat(1) for number in range(5)}))
    assert "5 transcripts from 5 files. 4 of the transcripts repeat others of this import." in said


def test_remarks_on_a_refused_file_are_left_out(page: Open) -> None:
    files = {f"chat_{number}__json": chat(number) for number in range(4)}
    app = upload(page("library.py"), **files, broken__json=b"\xff\xfe nothing \xff" * 9)
    assert "1 was refused" in shown(app) and "Read with a remark" not in shown(app)


def test_remarks_that_differ_in_numbers_alone_are_told_once() -> None:
    odd = [f"a.jsonl, line {line}: byte {line * 40} is not UTF-8." for line in (1, 2, 1_200)]
    assert alike(odd) == ["a.jsonl, line 1: byte 40 is not UTF-8. (and 2 more like it)"]
    assert alike([odd[0], "a.jsonl: another one.", odd[1]]) == [
        f"{odd[0]} (and 1 more like it)",
        "a.jsonl: another one.",
    ]
    assert alike(["one", "two"]) == ["one", "two"] and alike([]) == []


@pytest.mark.parametrize(
    ("ignored", "said"),
    [
        (0, ["1 transcript with 2 calls, read as openai_chat."]),
        (1, [..., "1 record that holds no messages by design: passed over."]),
        (2, [..., "2 records that hold no messages by design: passed over."]),
    ],
)
def test_records_without_messages_are_told_in_one_or_many(ignored: int, said: list[Any]) -> None:
    told = list(sentences(ImportedFile("a.json", "openai_chat", 1, 1, 2, 3, ignored, (), ())))
    assert told[-1] == said[-1] and len(told) == len(said)


def test_an_archive_of_many_files_is_told_file_by_file(page: Open) -> None:
    content = zipped({f"{number}.json": chat(number) for number in range(5)} | {"notes.txt": "prose"})
    app = upload(page("library.py"), logs__zip=content)
    assert "5 transcripts from 5 of 6 files; 1 was refused." in shown(app)
    assert "- logs.zip: notes.txt" in app.warning[0].value.replace("\\", "")
    assert {name.partition(": ")[0] for name in app.dataframe[0].value["file"]} == {"logs.zip"}


def test_what_is_remarked_on_an_archive_is_no_file_of_it(page: Open) -> None:
    files = {f"{number}.json": chat(number) for number in range(4)} | {"__MACOSX/._0.json": "x"}
    said = shown(upload(page("library.py"), logs__zip=zipped(files)))
    assert "**4 transcripts from 4 files.**" in said and "what tools and systems keep was passed over" in said


def test_a_library_that_may_only_be_read_is_shown_and_says_why(
    page: Open, store: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "library.db"
    monkeypatch.setenv("PROMPT_INSPECTOR_DB", f"sqlite:///file:{path}?mode=ro")
    app = page("library.py")
    assert len(app.dataframe[0].value) == 4
    assert not app.file_uploader and not app.error
    said = app.warning[0].value.replace("\\", "")
    assert f"{path} cannot be written. Give this user the right to write the file and its folder." in said
    assert said.endswith("Until then transcripts can be looked at, but nothing can be added or changed.")


def test_a_library_that_cannot_be_opened_says_why_instead_of_being_empty(
    page: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folder.db").mkdir()
    monkeypatch.setenv("PROMPT_INSPECTOR_DB", f"sqlite:///{tmp_path / 'folder.db'}")
    app = page("library.py")
    assert f"The database {tmp_path / 'folder.db'} cannot be opened. Check that" in shown(app)
    assert "No transcripts yet" not in shown(app)


def test_an_empty_library_says_what_to_do(page: Open, store: Library) -> None:
    for summary in store.list():
        store.delete(summary.id)
    app = page("library.py")
    assert "No transcripts yet" in shown(app)
    assert "/api/capture" in app.code[0].value
    for name in ("inspect_transcript.py", "compare.py"):
        assert "Nothing to show yet" in shown(page(name))


@pytest.mark.parametrize(
    ("page_address", "port", "server"),
    [
        (None, 8501, "http://localhost:8501"),
        (None, 8777, "http://localhost:8777"),
        ("http://localhost:8777/?search=a", 8501, "http://localhost:8777"),
        ("https://prompts.example.com/library", 8501, "https://prompts.example.com"),
    ],
)
def test_the_command_for_captures_names_this_server(page_address: str | None, port: int, server: str) -> None:
    said = capture_command(page_address, port, asks_for_token=False)
    assert said.startswith(f'curl {server}/api/capture -H "Content-Type: application/json" -d \'{{')
    assert "Authorization" not in said
    body = json.loads(said.partition("-d '")[2].removesuffix("'"))
    assert list(body) == ["request", "response"]


def test_the_command_for_captures_names_the_token_where_one_is_set(
    page: Open, store: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    for summary in store.list():
        store.delete(summary.id)
    assert "Authorization" not in page("library.py").code[0].value
    monkeypatch.setenv("PROMPT_INSPECTOR_TOKEN", "a-secret")
    app = page("library.py")
    assert '-H "Authorization: Bearer $PROMPT_INSPECTOR_TOKEN"' in app.code[0].value
    assert "a-secret" not in app.code[0].value + shown(app)


def test_the_rows_are_those_of_the_page_also_after_its_last_one_is_deleted(page: Open, store: Library) -> None:
    for number in range(110):
        (transcript,) = read(json.dumps([user(f"question {number}")])).transcripts
        store.add(transcript)
    rest = store.list("", 50, 100)
    app = page("library.py", page="3")
    assert list(app.dataframe[0].value["title"]) == [summary.title for summary in rest]
    assert store.delete_all([summary.id for summary in rest]) == len(rest)
    first = store.list("", 50, 0)
    assert list(run(app).dataframe[0].value["title"]) == [summary.title for summary in first]


def test_several_can_be_selected_instead_of_opened(page: Open) -> None:
    app = page("library.py")
    assert not [button for button in app.button if button.key == "delete_several"]
    app.toggle(key="selecting").set_value(True)
    assert run(app).button(key="delete_several").disabled
    assert "" not in app.dataframe[0].value.columns
    assert "4 transcripts. Tick those to delete." in shown(app)
