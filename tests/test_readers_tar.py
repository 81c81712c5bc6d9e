"""Tar archives, plain and packed with gzip: read like the folder, within bounds, and no name or link leads outside."""

import gzip
import io
import json
import os
import tarfile
import warnings
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.readers import Report, archive_files, read, read_stream, tar_archives
from core.readers.tar_archives import tar_files
from tests.test_readers_bundles import CHAT, FILES, TABLE, damaged, folder, table, zipped


def entry(name: str, size: int = 0, **changes: Any) -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.size = size
    for key, value in changes.items():
        setattr(made, key, value)
    return made


def tarred(files: dict[str, str | bytes], *others: tarfile.TarInfo, form: int = tarfile.PAX_FORMAT) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=form) as archive:
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            archive.addfile(entry(name, len(data)), io.BytesIO(data))
        for other in others:
            archive.addfile(other)
    return buffer.getvalue()


@pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT])
@pytest.mark.parametrize("name", ["logs.tar", "logs.tar.gz", "logs.tgz", "logs"])
def test_a_tar_is_read_like_the_folder(tmp_path: Path, name: str, form: int) -> None:
    content = tarred(FILES, entry("deep", type=tarfile.DIRTYPE), form=form)
    path = tmp_path / name
    path.write_bytes(content if name.endswith("tar") else gzip.compress(content))
    assert table(read(path)) == TABLE == table(read(path.read_bytes()))
    assert read(path).problems == read(folder(tmp_path / "unpacked", FILES)).problems


def test_an_old_archive_without_magic_number_is_known_by_its_checksum() -> None:
    content = bytearray(tarred({"a.json": CHAT}, form=tarfile.USTAR_FORMAT))
    content[257:265] = bytes(8)
    content[148:156] = b" " * 8
    content[148:156] = b"%06o\0 " % sum(content[:512])
    assert [transcript.source for transcript in read(bytes(content)).transcripts] == ["a.json"]


def test_long_names_are_read_whole() -> None:
    name = "/".join(["folder"] * 40) + "/a.json"
    for form in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT):
        assert [transcript.source for transcript in read(tarred({name: CHAT}, form=form)).transcripts] == [name]


def test_archives_in_archives_are_opened_twice_and_no_more() -> None:
    once = gzip.compress(tarred({"a.json": CHAT}))
    for twice in (zipped({"once.tgz": once}), tarred({"once.tgz": once}), tarred({"once.zip": zipped({"a": CHAT})})):
        assert len(read(twice).transcripts) == 1
        assert "too deep inside others" in str(read(tarred({"twice": twice})).problems[0])


@pytest.mark.parametrize(
    ("name", "shown"),
    [("../../etc/a.json", "etc/a.json"), ("/var/a.json", "var/a.json"), ("a\x1b[0m.json", "a\ufffd[0m.json")],
)
def test_names_lead_nowhere_outside(name: str, shown: str) -> None:
    assert [transcript.source for transcript in read(tarred({name: CHAT})).transcripts] == [shown]


def twice(*files: tuple[str, str]) -> dict[str, bytes]:
    """Return archives of each kind that hold these files in this order, whatever their names."""
    tar, packed = io.BytesIO(), io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as archive, zipfile.ZipFile(packed, "w") as other:
        for name, content in files:
            archive.addfile(entry(name, len(content)), io.BytesIO(content.encode()))
            with warnings.catch_warnings(action="ignore"):
                other.writestr(name, content)
    return {"a.tar": tar.getvalue(), "a.tgz": gzip.compress(tar.getvalue()), "a.zip": packed.getvalue()}


def saying(text: str) -> str:
    return json.dumps([{"role": "user", "content": text}])


@pytest.mark.parametrize("first", ["run.json", "./run.json", "../run.json", "/run.json", "C:\\run.json"])
def test_of_files_of_one_name_the_last_is_read_and_it_is_said(tmp_path: Path, first: str) -> None:
    for name, content in twice((first, saying("old")), ("b.json", CHAT), ("run.json", saying("new"))).items():
        (tmp_path / name).write_bytes(content)
        found = read(tmp_path / name)
        assert [transcript.source for transcript in found.transcripts] == ["b.json", "run.json"]
        assert found.transcripts[1].messages[0]["content"] == "new"
        assert [(str(problem), problem.warning) for problem in found.problems] == [
            (f"{name}: run.json stands more than once in it. The last one was read.", True)
        ]


def test_many_files_of_one_name_are_said_in_one_sentence() -> None:
    names = [f"{number:02}.json" for number in range(12)]
    for content in twice(*((name, CHAT) for name in [*names, *names, *names])).values():
        found = read(content)
        assert [transcript.source for transcript in found.transcripts] == names
        [problem] = found.problems
        assert str(problem) == (
            f"the archive: {', '.join(names[:10])} and 2 more stand more than once in it."
            " The last one of each was read."
        )


def test_files_whose_names_become_one_are_said_in_a_folder_and_count_once(tmp_path: Path) -> None:
    folder(tmp_path, {"a\x01.json": saying("old"), "a\x02.json": saying("new")})
    assert "a\ufffd.json stands more than once in it" in str(read(tmp_path).problems[0])
    seen: list[tuple[int, int]] = []
    for content in twice(("a.json", CHAT), ("a.json", CHAT)).values():
        list(read_stream(content, progress=lambda done, size: seen.append((done, size))))
        assert seen[-1] == (len(CHAT), len(CHAT))


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE])
@pytest.mark.parametrize(
    ("target", "shown"), [("a.json", "a.json"), ("/etc/passwd", "etc/passwd"), ("../a", "a"), ("", "nothing")]
)
def test_links_are_refused_with_a_sentence(kind: bytes, target: str, shown: str) -> None:
    found = read(tarred({"a.json": CHAT}, entry("b.json", type=kind, linkname=target)))
    assert [transcript.source for transcript in found.transcripts] == ["a.json"]
    assert [str(problem) for problem in found.problems] == [
        f"the archive: b.json is a link (to {shown}). It was left out; unpack the archive and give the folder."
    ]


def test_what_is_no_file_is_left_out() -> None:
    found = read(tarred({"a.json": CHAT}, entry("pipe", type=tarfile.FIFOTYPE), entry("null", type=tarfile.CHRTYPE)))
    assert len(found.transcripts) == 1
    assert [str(problem).partition(": ")[2].partition(".")[0] for problem in found.problems] == [
        "pipe is no file that can be read",
        "null is no file that can be read",
    ]


def test_what_systems_put_beside_files_is_passed_over_and_told() -> None:
    found = read(tarred({"a.json": CHAT, "._a.json": b"\0\1", ".git/config": "x"}))
    assert [problem.warning for problem in found.problems] == [True]
    assert ".git" in str(found.problems[0])


def test_bounds_of_an_archive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_files, "MOST_BYTES", 200_000)
    monkeypatch.setattr(archive_files, "MOST_TOTAL", 300_000)
    files: dict[str, str | bytes] = {
        "large": os.urandom(200_001), "one": os.urandom(190_000), "two": os.urandom(190_000), "small": b"x" * 512,
    }  # fmt: skip
    report = Report()
    assert [member.name for member in tar_files(tarred(files), report)] == ["one", "small"]
    assert [str(problem).partition(": ")[2].partition(" ")[0] for problem in report.problems] == ["large", "two"]
    monkeypatch.setattr(archive_files, "MOST_FILES", 1)
    assert len(tar_files(tarred(files), Report())) == 1
    monkeypatch.setattr(tar_archives, "MOST_ENTRIES", 2)
    report = Report()
    tar_files(tarred(files), report)
    assert "more than 2 entries" in str(report.problems[-1])


def test_an_archive_made_to_fill_a_disk_is_read_only_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_files, "SMALL", 100_000)
    bomb = gzip.compress(tarred({"a.json": CHAT, "bomb": bytes(50_000_000)}))
    found = read(bomb)
    assert [transcript.source for transcript in found.transcripts] == ["a.json"]
    assert "it unpacks to more than 400 times its size" in str(found.problems[0])


def test_a_packed_archive_is_unpacked_no_further_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_files, "MOST_TOTAL", 3_000_000)
    content = gzip.compress(tarred({"a.json": CHAT, "noise": os.urandom(6_000_000)}))
    assert "more than" in str(read(content).problems[0])
    assert len(read(content).transcripts) == 1


PLAIN = tarred({"a.json": CHAT, "b.json": CHAT})


@pytest.mark.parametrize(
    ("content", "transcripts", "problem"),
    [
        (PLAIN[:552], 0, "a.json: the file cannot be read (unexpected end of data)"),
        (PLAIN[: 512 * 3 + 40], 1, "the tar archive is damaged (unexpected end of data)"),
        (PLAIN[: 512 * 2], 1, "has no end mark"),
        (damaged(PLAIN, b"b.json", 3), 1, "the tar archive is damaged (a header cannot be read)"),
        (damaged(PLAIN, b"a.json", 3), 0, "the tar archive is damaged"),
        (gzip.compress(PLAIN)[:-20], 2, "the gzip data ends in the middle"),
        (damaged(gzip.compress(tarred({"a.json": CHAT, "b": os.urandom(90_000)})), b"\x1f\x8b", 60_000), 1, "damaged"),
        (damaged(gzip.compress(PLAIN), b"\x1f\x8b", 12), 0, "damaged"),
    ],
    ids=["in a file", "in the next", "at a border", "header", "first header", "gzip cut", "gzip late", "gzip early"],
)
def test_damaged_archives_are_reported_and_what_stands_before_is_read(
    content: bytes, transcripts: int, problem: str
) -> None:
    found = read(content)
    assert len(found.transcripts) == transcripts
    assert problem in " ".join(map(str, found.problems))


def with_pax(records: bytes) -> bytes:
    """Return an archive whose one file has these attributes before it."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        archive.addfile(entry("attributes", len(records), type=tarfile.XHDTYPE), io.BytesIO(records))
        archive.addfile(entry("a.json", len(CHAT)), io.BytesIO(CHAT.encode()))
    return buffer.getvalue()


def test_headers_made_to_hang_or_fill_a_reader_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(read(with_pax(b"13 size=0078\n")).transcripts) == 1
    back = read(with_pax(b"18 size=-00009999\n"))
    assert back.transcripts == [] and back.problems
    monkeypatch.setattr(tar_archives, "LONGEST_HEADER", 100)
    long = read(with_pax(b"x" * 200))
    assert "a header has an impossible size" in str(long.problems[0])


def test_progress_goes_on_over_all_files(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    path = tmp_path / "a.tar.gz"
    path.write_bytes(gzip.compress(tarred({f"{n}.json": CHAT for n in range(3)})))
    list(read_stream(path, progress=lambda done, size: seen.append((done, size))))
    size = len(CHAT)
    assert seen == [(size, 3 * size), (2 * size, 3 * size), (3 * size, 3 * size)]


@pytest.mark.parametrize(
    ("start", "kind"),
    [(b"BZh9", "a bzip2 archive"), (b"\xfd7zXZ\0", "an XZ archive"), (b"Rar!\x1a", "a RAR archive")],
)
def test_archives_that_are_not_opened_are_named(start: bytes, kind: str) -> None:
    assert f"this is {kind}" in str(read(start + b"abc" * 99).problems[0])


@given(st.data())
def test_no_damage_raises_or_hangs(data: st.DataObject) -> None:
    content = bytearray(tarred({"a.json": CHAT, "/".join("b" * 120): CHAT}))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(content)))
    for made in (bytes(content), bytes(content[:cut]), gzip.compress(bytes(content))):
        found = read(made)
        assert found.transcripts or found.problems
