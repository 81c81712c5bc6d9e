"""Folders and ZIP archives: each file by its own format, within bounds, and no name leads outside."""

import gzip
import io
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

from core.readers import ReadResult, Report, archive_files, bundles, read, read_stream
from core.readers.bundles import ZSTANDARD

CHAT = json.dumps([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}])
CLAUDE = json.dumps({"model": "claude-x", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]})
NOTES = "just some notes"


def zipped(files: dict[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def folder(place: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return place


def table(found: ReadResult) -> list[tuple[str, str | None, int, int]]:
    """Return each file's name, format, transcripts and problems."""
    return [(file.source, file.format, file.transcripts, len(file.problems)) for file in found.files]


FILES: dict[str, str | bytes] = {
    "a.json": CHAT,
    "deep/er/b.jsonl": f"{CLAUDE}\n{CLAUDE}\n",
    "deep/notes.txt": NOTES,
    "z.json.gz": gzip.compress(CHAT.encode()),
}
TABLE = [
    ("a.json", "openai_chat", 1, 0),
    ("deep/er/b.jsonl", "anthropic", 1, 0),
    ("deep/notes.txt", None, 0, 1),
    ("z.json.gz", "openai_chat", 1, 0),
]


def test_each_file_of_a_folder_is_read_by_its_own_format(tmp_path: Path) -> None:
    found = read(folder(tmp_path / "logs", FILES))
    assert sorted(table(found)) == TABLE
    assert found.format == "openai_chat, anthropic"
    assert (found.counts.read, found.counts.used, found.counts.broken) == (5, 4, 1)
    assert {transcript.source for transcript in found.transcripts} == {"a.json", "deep/er/b.jsonl", "z.json.gz"}
    assert [str(problem)[:15] for problem in found.problems] == ["deep/notes.txt,"]
    assert str(tmp_path) not in "".join(map(str, found.problems))


def test_a_zip_is_read_like_the_folder(tmp_path: Path) -> None:
    path = tmp_path / "logs.zip"
    path.write_bytes(zipped(FILES))
    assert table(read(path)) == TABLE == table(read(path.read_bytes()))


def test_a_named_format_is_taken_for_all_files(tmp_path: Path) -> None:
    plain = json.dumps([{"role": "user", "content": "hi"}])
    found = read(folder(tmp_path, {"a.json": plain, "b.json": plain}), format="anthropic")
    assert [file.format for file in found.files] == ["anthropic", "anthropic"]
    assert {transcript.dialect for transcript in found.transcripts} == {"anthropic"}


def test_archives_in_folders_and_in_archives_are_opened_twice_and_no_more() -> None:
    once = zipped({"a.json": CHAT})
    twice = zipped({"once.zip": once})
    thrice = zipped({"twice.zip": twice})
    assert len(read(twice).transcripts) == 1
    found = read(thrice)
    assert found.transcripts == []
    assert "too deep inside others" in str(found.problems[0])


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("../../etc/a.json", "etc/a.json"),
        ("/var/a.json", "var/a.json"),
        ("C:\\logs\\..\\a.json", "logs/a.json"),
        ("./a.json", "a.json"),
        ("a\x1b[0m.json", "a\ufffd[0m.json"),
    ],
)
def test_names_lead_nowhere_outside(name: str, shown: str) -> None:
    found = read(zipped({name: CHAT}))
    assert [transcript.source for transcript in found.transcripts] == [shown]


def test_what_systems_put_beside_files_is_passed_over_and_told(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "a.json": CHAT,
        "__MACOSX/._a.json": b"\0\1",
        ".DS_Store": b"\0",
        ".git/config": "x",
    }
    for found in (read(zipped(files)), read(folder(tmp_path, files))):
        assert len(found.transcripts) == 1
        assert [problem.warning for problem in found.problems] == [True]
        assert ".git" in str(found.problems[0])


@pytest.mark.parametrize("empty", [{}, {"__MACOSX/x": "y"}])
def test_nothing_to_read_is_said(tmp_path: Path, empty: dict[str, str | bytes]) -> None:
    for found in (read(zipped(empty)), read(folder(tmp_path / "empty", empty) if empty else tmp_path)):
        assert found.transcripts == []
        assert found.problems


def test_a_link_that_leads_out_of_the_folder_is_left_out(tmp_path: Path) -> None:
    outside = folder(tmp_path / "outside", {"secret.json": CHAT})
    inside = folder(tmp_path / "inside", {"a.json": CHAT})
    (inside / "b.json").symlink_to(outside / "secret.json")
    (inside / "c.json").symlink_to("a.json")
    os.mkfifo(inside / "pipe")
    found = read(inside)
    assert [file.source for file in found.files] == ["a.json", "c.json"]
    assert [str(problem).partition(": ")[2][:30] for problem in found.problems] == [
        "b.json is a link that leads ou",
        "pipe is no file that can be re",
    ]


def test_bounds_of_an_archive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_files, "SMALL", 1_000)
    monkeypatch.setattr(archive_files, "MOST_RATIO", 50)
    monkeypatch.setattr(archive_files, "MOST_BYTES", 200_000)
    monkeypatch.setattr(archive_files, "MOST_TOTAL", 300_000)
    noise = bytes(range(256)) * 2
    files: dict[str, str | bytes] = {
        "bomb": b"0" * 150_000,
        "large": os.urandom(200_001),
        "one": os.urandom(190_000),
        "two": os.urandom(190_000),
        "small": noise,
    }
    report = Report()
    assert [member.name for member in bundles.zip_files(zipped(files), report)] == ["one", "small"]
    assert [str(problem).partition(": ")[2].partition(" ")[0] for problem in report.problems] == [
        "bomb",
        "large",
        "two",
    ]
    monkeypatch.setattr(archive_files, "MOST_FILES", 1)
    assert len(bundles.zip_files(zipped(files), Report())) == 1


def test_a_folder_of_many_files_is_read_as_far_as_is_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_files, "MOST_FILES", 2)
    found = read(folder(tmp_path, {f"{n}.json": CHAT for n in range(5)}))
    assert [transcript.source for transcript in found.transcripts] == ["0.json", "1.json"]
    assert "more than 2 files" in str(found.problems[0])


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_compressions_without_a_bound_are_refused(method: int) -> None:
    found = read(zipped({"a.json": CHAT}, method))
    assert "a.json is packed in a way that cannot be unpacked safely" in str(found.problems[0])


def as_zstandard(content: bytes, declared: int | None = None) -> bytes:
    """Return an archive whose one file is packed with Zstandard: a stored one with other numbers."""
    import zstandard

    packed = zstandard.compress(content)
    data = bytearray(zipped({"a.json": packed}, zipfile.ZIP_STORED))
    size = len(content) if declared is None else declared
    central = data.index(b"PK\x01\x02")
    for at, offset in ((0, 8), (central, 10)):
        data[at + offset : at + offset + 2] = ZSTANDARD.to_bytes(2, "little")
        data[at + offset + 14 : at + offset + 18] = size.to_bytes(4, "little")
    return bytes(data)


def test_zstandard_is_unpacked_and_gives_no_byte_more_than_declared() -> None:
    assert len(read(as_zstandard(CHAT.encode())).transcripts) == 1
    [member] = bundles.zip_files(as_zstandard(b"x" * 5_000, declared=100), Report())
    with member.open() as handle:
        assert handle.read() == b"x" * 100


def damaged(content: bytes, at: bytes, by: int) -> bytes:
    place = content.index(at) + by
    return content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (zipped({"a.json": CHAT})[:60], "the ZIP archive is damaged"),
        (damaged(zipped({"a.json": CHAT * 50}), b"a.json", 20), "the file cannot be read"),
        (damaged(zipped({"a.json": CHAT}), b"PK\x01\x02", 8), "a.json is locked with a password"),
        (damaged(as_zstandard(CHAT.encode()), b"a.json", 12), "the file cannot be read"),
    ],
    ids=["cut", "member", "locked", "zstandard"],
)
def test_damaged_archives_are_reported(content: bytes, problem: str) -> None:
    found = read(content)
    assert problem in str(found.problems[0])


def test_progress_goes_on_over_all_files(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    files: dict[str, str | bytes] = {f"{n}.json": CHAT for n in range(3)}
    list(read_stream(folder(tmp_path, files), progress=lambda done, size: seen.append((done, size))))
    size = len(CHAT)
    assert seen == [(size, 3 * size), (2 * size, 3 * size), (3 * size, 3 * size)]


def test_progress_of_archives_in_a_folder_ends_with_the_folder(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    files: dict[str, str | bytes] = {"a.zip": zipped({"a.json": CHAT + " " * 50_000, "b.json": CHAT}), "z.json": CHAT}
    list(read_stream(folder(tmp_path, files), progress=lambda done, size: seen.append((done, size))))
    size = sum(len(content) for content in files.values())
    told = [done for done, _ in seen]
    assert told == sorted(told) and told[-1] == size
    assert {whole for _, whole in seen} == {size}


def test_transcripts_come_file_by_file(tmp_path: Path) -> None:
    report = Report()
    stream = read_stream(folder(tmp_path, {"a.json": CHAT, "b.json": CHAT}), report=report)
    next(stream)
    assert [file.source for file in report.files] == []
    next(stream)
    assert [file.source for file in report.files] == ["a.json"]
    assert list(stream) == []
    assert (report.transcripts, report.calls, report.messages) == (2, 2, 4)


def test_problems_of_many_files_are_bounded() -> None:
    rows: list[Any] = [*[{"role": "user", "content": "hi"}] * 20, *[1] * 150]
    text = "\n".join(json.dumps(row) for row in rows)
    found = read(zipped({"a.jsonl": text, "b.jsonl": text}))
    assert len(found.problems) == 201
    assert str(found.problems[-1]).startswith("the archive: 100 more problems are not listed")
