"""`python -m storage import`: what is stored of files, folders and archives, and what is said of them."""

import gzip
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from core.transcript import Call, Transcript, Usage
from storage import Library
from storage.__main__ import main
from storage.database import open_engine
from storage.errors import StorageError
from storage.importing import Importing, import_path
from storage.progress_bar import ProgressBar, line
from tests.test_readers_bundles import CHAT, CLAUDE, folder, zipped
from tests.test_readers_tar import tarred

KEY = "sk-proj-" + "a1B2" * 12


@pytest.fixture
def store(tmp_path: Path) -> Library:
    return Library(open_engine(f"sqlite:///{tmp_path / 'store.db'}"))


def test_a_folder_is_imported_file_by_file(store: Library, tmp_path: Path) -> None:
    place = folder(tmp_path / "logs", {"a.json": CHAT, "b/c.jsonl": CLAUDE, "notes.txt": "some notes"})
    done = import_path(store, place)
    assert (done.new, done.known, store.count()) == (2, 0, 2)
    told = [(file.name, file.format, file.transcripts, file.new, file.calls, file.messages) for file in done.files]
    assert sorted(told) == [
        ("a.json", "openai_chat", 1, 1, 1, 2),
        ("b/c.jsonl", "anthropic", 1, 1, 1, 1),
        ("notes.txt", None, 0, 0, 0, 0),
    ]
    [notes] = [file for file in done.files if file.name == "notes.txt"]
    assert notes.problems[0].startswith("notes.txt, line 1: this is not JSON")


def test_importing_again_changes_nothing(store: Library, tmp_path: Path) -> None:
    path = tmp_path / "logs.zip"
    path.write_bytes(zipped({"a.json": CHAT, "b.jsonl": CLAUDE}))
    first = import_path(store, path)
    before = store.list()
    again = import_path(store, path)
    assert (again.new, again.known, again.ids) == (0, 2, first.ids)
    assert store.list() == before
    assert [file.new for file in again.files] == [0, 0]


def test_a_file_beside_others_of_the_same_content_is_known(store: Library, tmp_path: Path) -> None:
    place = folder(tmp_path / "logs", {"a.json": CHAT, "b.json": CHAT})
    done = import_path(store, place)
    assert (done.new, done.known, store.count()) == (1, 1, 1)
    assert [(file.known, file.repeated) for file in done.files] == [(0, 0), (0, 1)]


def test_files_of_one_name_in_two_archives_are_counted_each_alone(store: Library, tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    path.write_text(CHAT)
    import_path(store, path)
    files: dict[str, str | bytes] = {"a.zip": zipped({"run.json": CLAUDE}), "b.zip": zipped({"run.json": CHAT})}
    told = import_path(store, folder(tmp_path / "logs", files)).files
    assert [(file.name, file.format, file.transcripts, file.new) for file in told] == [
        ("run.json", "anthropic", 1, 1),
        ("run.json", "openai_chat", 1, 0),
    ]


def test_problems_of_a_folder_itself_are_told(store: Library, tmp_path: Path) -> None:
    place = folder(tmp_path / "logs", {"a.json": CHAT, ".git/config": "x"})
    (place / "b.json").symlink_to("/etc/hostname")
    done = import_path(store, place)
    own = [file for file in done.files if file.name == "logs"]
    assert [len(file.problems) for file in own] == [1]
    assert "b.json is a link that leads out of the folder" in own[0].problems[0]
    assert ".git" in own[0].remarks[0]


def test_secrets_are_masked_and_counted(store: Library, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{"role": "user", "content": f"use {KEY}"}, {"role": "assistant", "content": "ok"}]))
    done = import_path(store, path)
    assert done.masked == {"openai-key": 2}  # in the message and in the title
    assert KEY not in json.dumps(store.get(done.ids[0]).messages)


CONFIGURATION = json.dumps({"schema_version": 1, "strategy": {"kind": "keep_last"}}, indent=2)
TOLD = "config.json: this is an exported configuration, not a transcript. Import it on the page Configurations."


@pytest.mark.parametrize("format_name", [None, "anthropic", "aider"])
def test_a_configuration_is_told_apart(store: Library, tmp_path: Path, format_name: str | None) -> None:
    path = tmp_path / "config.json"
    path.write_text(CONFIGURATION)
    [file] = import_path(store, path, format_name).files
    assert file.problems == (TOLD,)
    path.write_bytes(gzip.compress(CONFIGURATION.encode()))
    assert [file.problems for file in import_path(store, path, format_name).files] == [(TOLD,)]


def test_a_configuration_in_a_folder_or_an_archive_is_told_apart_from_the_files_beside_it(
    store: Library, tmp_path: Path
) -> None:
    files: dict[str, str | bytes] = {
        "a.json": CHAT,
        "config.json": CONFIGURATION,
        "large.json": json.dumps({"strategy": {"kind": "x" * 1_000_000}}),
        "list.json": f"[{CONFIGURATION}]",
        "other.json": '{"strategy": "none"}',
    }
    place = folder(tmp_path / "logs", {**files, "in.zip": zipped({"config.json": CONFIGURATION})})
    for name, content in {"logs.zip": zipped(files), "logs.tgz": gzip.compress(tarred(files))}.items():
        (tmp_path / name).write_bytes(content)
    for path, times in ((place, 2), (tmp_path / "logs.zip", 1), (tmp_path / "logs.tgz", 1)):
        told = import_path(store, path).files
        assert [file.problems for file in told if file.name == "config.json"] == [(TOLD,)] * times
        others = [file for file in told if file.name in ("large.json", "list.json", "other.json")]
        assert ["the format was not recognised" in file.problems[0] for file in others] == [True] * 3


def test_progress_is_told_while_reading(store: Library, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join([CHAT] * 3))
    seen: list[tuple[int, int]] = []
    import_path(store, path, work=Importing(progress=lambda done, size: seen.append((done, size))))
    assert seen[-1] == (path.stat().st_size, path.stat().st_size)


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    url = f"sqlite:///{tmp_path / 'command.db'}"
    monkeypatch.setenv("PROMPT_INSPECTOR_DB", url)
    return url


def test_the_command_prints_a_table(database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = folder(tmp_path / "logs", {"a.json": CHAT, "帮我.json": CLAUDE, "notes.txt": "x"})
    assert main(["import", str(place)]) == 1
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].split() == ["file", "format", "transcripts", "new", "calls", "messages", "problems"]
    assert shown[1].split() == ["a.json", "openai_chat", "1", "1", "1", "2", "0"]
    assert shown[2].split() == ["notes.txt", "-", "0", "0", "0", "0", "1"]
    assert shown[3].index("anthropic") == shown[1].index("openai_chat") - 2
    assert shown[4].startswith("not read: notes.txt, line 1: this is not JSON")
    assert shown[5].startswith("2 new, ")
    assert main(["import", str(place / "a.json"), str(place / "帮我.json"), "--quiet"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("0 new, 2 in the library already.")
    other = folder(tmp_path / "twice", {"b.json": CHAT.replace("hello", "bye"), "c.json": CHAT.replace("hello", "bye")})
    assert main(["import", str(other), str(place / "a.json"), "--quiet"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == "1 new, 1 in the library already, 1 repeats another of this import."


def test_a_format_can_be_named(database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.json"
    path.write_text(CHAT)
    assert main(["import", str(path), "--format", "anthropic"]) == 0
    assert capsys.readouterr().out.splitlines()[1].split()[1] == "anthropic"
    with pytest.raises(SystemExit):
        main(["import", str(path), "--format", "grok"])


def test_many_problems_are_shown_on_demand(database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(CHAT + "\n" + "{oops}\n" * 15)
    main(["import", str(path)])
    short = capsys.readouterr().out
    main(["import", str(path), "--all"])
    assert (short.count("not read:"), capsys.readouterr().out.count("not read:")) == (11, 15)
    assert "and 5 more; --all shows them." in short


def test_what_cannot_be_opened_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", str(tmp_path / "none.json")]) == 1
    assert "none.json: the file cannot be read (no such file or directory)" in capsys.readouterr().out
    monkeypatch.setenv("PROMPT_INSPECTOR_DB", "nonsense://x")
    assert main(["import", str(tmp_path)]) == 2
    assert capsys.readouterr().err


def test_the_module_runs(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(CHAT)
    environment = {"PROMPT_INSPECTOR_DB": f"sqlite:///{tmp_path / 'x.db'}", "PATH": ""}
    command = [sys.executable, "-m", "storage", "import", str(path)]
    done = subprocess.run(command, cwd=Path(__file__).parents[1], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1].startswith("1 new, 0 in the library already.")


@pytest.mark.parametrize(
    ("done", "size", "told", "expected"),
    [
        (0, 200, "", "a  [" + "." * 30 + "]    0%  0.0 of 0.0 MB"),
        (1_500_000, 3_000_000, "7 transcripts", "a  [" + "#" * 15 + "." * 15 + "]   50%  1.5 of 3.0 MB  7 transcripts"),
        (5, 4, "", "a  [" + "#" * 30 + "]  100%  0.0 of 0.0 MB"),
        (0, 0, "", "a  [" + "#" * 30 + "]  100%  0.0 of 0.0 MB"),
    ],
)
def test_the_bar(done: int, size: int, told: str, expected: str) -> None:
    assert line("a", done, size, told) == expected


def test_the_bar_is_taken_away() -> None:
    shown, hidden = io.StringIO(), io.StringIO()
    for stream, seen in ((shown, True), (hidden, False)):
        bar = ProgressBar("x" * 60, stream, seen)
        bar.show(1, 2)
        bar.show(2, 2)
        bar.close()
    assert hidden.getvalue() == ""
    assert shown.getvalue().startswith("\r…" + "x" * 39)
    assert shown.getvalue().rpartition("\r")[0].endswith(" " * 20)


def absurd(figure: str) -> str:
    """Return a recording of one call whose usage has a figure that cannot be true."""
    request = '{"model": "gpt-4o", "messages": [{"role": "user", "content": "absurd"}]}'
    response = '{"choices": [{"message": {"role": "assistant", "content": "yo"}}], "usage": {"prompt_tokens": %s}}'
    return f'{{"request": {request}, "response": {response % figure}}}'


@pytest.mark.parametrize("figure", [str(10**25), str(2**63), str(2**31), "-5", "NaN", "Infinity", "1e400"])
def test_an_absurd_figure_stops_no_import(store: Library, tmp_path: Path, figure: str) -> None:
    path = tmp_path / "logs.zip"
    path.write_bytes(zipped({"a.json": absurd(figure), "b.jsonl": CLAUDE}))
    done = import_path(store, path)
    first, second = done.files
    assert (first.name, first.new, first.calls, first.problems) == ("a.json", 1, 1, ())
    assert (second.name, second.new) == ("b.jsonl", 1)
    [remark] = first.remarks
    assert remark.startswith("a.json: the usage has ")
    assert remark.endswith("A whole number from 0 to 2,147,483,647 was expected; the figure was ignored.")
    assert store.get(done.ids[0]).calls[0].usage == Usage()
    assert import_path(store, path).new == 0


def test_an_absurd_figure_is_a_line_of_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PROMPT_INSPECTOR_DB", f"sqlite:///{tmp_path / 'store.db'}")
    path = tmp_path / "a.json"
    path.write_text(absurd(str(10**25)))
    assert main(["import", str(path)]) == 0
    told = capsys.readouterr().out
    assert "read with a remark: a.json: the usage has 10000000000000000000000000, which is no number of tokens" in told


def test_a_number_beyond_the_database_is_a_sentence(store: Library) -> None:
    """Readers give none; a transcript that a program made may."""
    call = Call(head=0, history=0, captured=0, usage=Usage(input=10**25))
    made = Transcript("openai_chat", ({"role": "user", "content": "hi"},), (-1,), ({"messages": []},), (call,))
    with pytest.raises(StorageError, match="A number is larger than the database can hold, and nothing was stored"):
        store.add(made)
    assert store.count() == 0


ASKED = '{"model": "gpt-4o", "messages": [{"role": "user", "content": "%s"}]}'
CUT = '{"model": "gpt-4o", "messages": [{"role": "user", "content": "hi"}, {"role": "user", "content'


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (f"{ASKED % 'one'}\n{{bad\n\n{ASKED % 'two'}\n{{}}\n", "2 of 4 lines of the file were not read"),
        (f"{ASKED % 'one'}\n{{bad\n", "1 of 2 lines of the file was not read"),
        (f"{ASKED % 'one'}\n{{bad", "1 of 2 lines of the file was not read"),
        (CUT, "a part of the file was not read"),
        (f"{ASKED % 'one'}\n\n{ASKED % 'two'}\n", ""),
        ('{"model": "gpt-4o", "messages": [{"role": "odd", "content": "a remark"}]}', ""),
        (absurd("-5"), ""),
    ],
)
def test_a_transcript_notes_what_of_its_file_was_not_read(store: Library, tmp_path: Path, text: str, note: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(text)
    for archived in (False, True):
        if archived:
            path = tmp_path / "b.zip"
            path.write_bytes(zipped({"a.jsonl": text, "b.jsonl": CLAUDE}))
        import_path(store, path)  # from the archive only the second file is new
    noted = {summary.id: [said for said in summary.notes if "not read" in said] for summary in store.list()}
    assert store.count() > 1
    assert all(
        said == ([note] if note and store.get(number).dialect == "openai_chat" else [])
        for number, said in noted.items()
    )


def test_what_was_not_read_is_no_part_of_a_transcripts_name(store: Library, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f"{ASKED % 'one'}\n{{bad\n")
    [first] = import_path(store, path).ids
    path.write_text(f"{ASKED % 'one'}\n")
    assert import_path(store, path).ids == [first]
    assert store.get(first).notes[-1] == "1 of 2 lines of the file was not read"


def test_remarks_beyond_those_listed_do_not_make_a_file_read_in_part(store: Library, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    odd = [{"role": "odd", "content": str(number)} for number in range(300)]
    path.write_text(json.dumps({"model": "gpt-4o", "messages": odd}))
    done = import_path(store, path)
    [file] = done.files
    assert (file.problems, len(file.remarks)) == ((), 201)
    assert file.remarks[-1].startswith("a.json: 100 more problems are not listed")
    assert "not read" not in " ".join(store.get(done.ids[0]).notes)
