"""What counts as a reference, class by class, and whether another text holds it."""

from __future__ import annotations

import inspect
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.normal_text import arguments_text, normal
from core.reference_classes import ReferenceClass
from core.references import references_of
from core.text_index import TextIndex, watch_words, words_of


def keys(text: str, code: bool = False) -> set[tuple[str, str]]:
    return {(reference.kind.value, reference.key) for reference in references_of(normal(text), code)}


FOUND = [
    ("url", "see https://shop.example/items/?q=1.", "shop.example/items/?q=1"),
    ("url", "[docs](https://docs.example/a_b).", "docs.example/a_b"),
    ("url", "on deepwiki.dev today", "deepwiki.dev"),
    ("email", "write to Ann.Lee@Example.org, please", "ann.lee@example.org"),
    ("uuid", "id 253FD5EF-38bf-4f4a-804a-98df5088a868", "253fd5ef-38bf-4f4a-804a-98df5088a868"),
    ("date", "on 2024-05-21T15:00:00Z", "2024-05-21"),
    ("date", "on May 21, 2024: go", "2024-05-21"),
    ("date", "the 3rd of March 2023", "2023-03-03"),
    ("date", "2024/5/1 here", "2024-05-01"),
    ("date", "于2024年5月21日出发", "2024-05-21"),
    ("date", "since 2025年8月", "2025-08"),
    ("date", "May 10th at noon", "--05-10"),
    ("date", "in Aug 2025", "2025-08"),
    ("path", "open core/log.py:17", "core/log.py"),
    ("path", "in `./a/b.test.ts`.", "a/b.test.ts"),
    ("path", "cd /srv/app/", "/srv/app"),
    ("path", "branch origin/entire/sessions", "origin/entire/sessions"),
    ("path", r"C:\dev\roo\new.ts broke", "c:/dev/roo/new.ts"),
    ("path", r"src\project\__init__.py", "src/project/__init__.py"),
    ("path", "the Makefile says", "Makefile"),
    ("path", "in .gitignore and", ".gitignore"),
    ("path", "-F file=@notes.md", "notes.md"),
    ("path", "`packages/web` and", "packages/web"),
    ("path", "under src/units then", "src/units"),
    ("path", "import @acme/widgets now", "acme/widgets"),
    ("path", "已写入版本說明.md 了", "已写入版本說明.md"),
    ("path", "刪除TODO.md文件", "TODO.md"),
    ("hash", "commit 5c565b72 fixes", "5c565b72"),
    ("hash", "at 0x7f00", "0x7f00"),
    ("error", "ended with exit code 137", "exit code 137"),
    ("error", "got HTTP 404 there", "404"),
    ("error", "raised ENOENT", "ENOENT"),
    ("error", "flake8 E501", "E501"),
    ("error", "TS2345 again", "TS2345"),
    ("id", "fixes #12", "#12"),
    ("id", "order #W9348897", "W9348897"),
    ("id", "ticket ABC-123", "ABC-123"),
    ("id", "flight HAT052", "HAT052"),
    ("id", "booking JG7FMM", "JG7FMM"),
    ("id", "with gift_card_4643416", "gift_card_4643416"),
    ("id", "ISBN 9780747532699", "9780747532699"),
    ("number", "costs $3,538 now", "3538"),
    ("number", "about 302.67", "302.67"),
    ("number", "within 24 hours", "24 hours"),
    ("number", "need 20h", "20 hours"),
    ("number", "only 7％ left", "7 %"),
    ("number", "共12支球队", "12 支"),
    ("number", "pay $100", "100"),
    ("number", "约90,000美元", "90000"),
    ("number", "year=2023", "2023"),
    ("identifier", "call get_group_by first", "get_group_by"),
    ("identifier", "useTodos()", "useTodos"),
    ("identifier", "the DatetimeIndex", "DatetimeIndex"),
    ("identifier", "self.find_spec(x)", "find_spec"),
    ("identifier", "use fs.stat(dir)", "fs.stat"),
    ("identifier", "tauri::Builder", "tauri::Builder"),
    ("identifier", "obj->fooBar", "obj->fooBar"),
    ("identifier", "@computed_field", "computed_field"),
    ("identifier", "a PyArrow-backed one", "PyArrow"),
    ("quoted", 'says "time series has no columns".', "time series has no columns"),
    ("quoted", "run `mise run lint`", "mise run lint"),
    ("quoted", "`values('m')`", "values('m')"),
    ("quoted", 'named "Norma Jeane Mortenson," and', "Norma Jeane Mortenson"),
    ("cjk", "《哈利·波特与密室》很好", "哈利·波特与密室"),
    ("cjk", '叫"苏超联赛第一季"的', "苏超联赛第一季"),
]

NONE = {
    "plain words": [
        "a plain sentence, without anything.",
        "deadbeef is a word",
        "APIs and URLs",
        "READ-ONLY, long-term and Step-by-step",
        "e.g. this, i.e. that",
        "12:30 o'clock",
    ],
    "choices": ["and/or, TV/Twitch, read/write", "his/her", "a 1/2 chance"],
    "what everybody knows": [
        "GitHub, YouTube and JavaScript",
        "Node.js on ASP.NET",
        "TypeError in os.path.join by isinstance",
        "SHA256 and UTF8",
        "/dev/null and /bin/bash",
        "application/json",
        "http://www.w3.org/2000/svg",
        "see http://localhost:8080/",
    ],
    "markup": ["</tag> <b>bold</b>", "</TabsContent>x</p>", "class names grid-cols-3, mt-2 and text-green-600"],
    "keys and single words in quotes": [
        "\"status\" 'todo' `freq`",
        '{"path": "todo", "description": "none", "required": true}',
        '{"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}',
    ],
    "line numbers": [
        "lines 83-89, line 6077, 第6行",
        "Line 345: and L 512",
        "lines 120 to 187",
        "head -50 and grep -n 345",
        "sed -n '500,550p'",
        "@@ -312,40 +312,41 @@",
        "  6035\tcode\n  6036\tcode",
        "  6035→code\n  6036→code",
        "345: code\n346: code",
        "345| code\n346| code",
        "at the top:17:3",
        "goto 512",
    ],
    "options": ["--depth 345 and -n=512", "--max-count=100"],
    "versions": ["python 3.10, >=3.12, version 1.23.0", "~1.123, ^3.14"],
    "years and round numbers": ["in 2023 we saw 100 of 2000", "0% of it", "a 5, a 42 and a 7"],
}
"""What is no reference, and by which rule."""


@pytest.mark.parametrize(("kind", "text", "key"), FOUND)
def test_a_reference_is_found(kind: str, text: str, key: str) -> None:
    assert (kind, key) in keys(text)


@pytest.mark.parametrize(("kind", "text", "key"), FOUND)
def test_one_stretch_is_one_reference(kind: str, text: str, key: str) -> None:
    assert len(keys(text)) == 1 or {found for _, found in keys(text)} == {key, "1"}


@pytest.mark.parametrize(("rule", "text"), [(rule, text) for rule, texts in NONE.items() for text in texts])
def test_what_everybody_writes_is_none(rule: str, text: str) -> None:
    assert keys(text) == set(), rule


def test_every_class_is_tried_and_documented() -> None:
    """The comment beside a class says what it takes; its order is that in which classes claim a stretch."""
    source = inspect.getsource(ReferenceClass)
    for kind in ReferenceClass:
        assert re.search(rf"^    {kind.name} = .*  # \S", source, re.MULTILINE), kind
        assert [text for found, text, _ in FOUND if found == kind]


WHOLE = [
    ("10-12 March 2026", {"2026-03-10", "2026-03-12"}),
    ("10–12 March 2026", {"2026-03-10", "2026-03-12"}),
    ("from 1 to 3 May", {"--05-01", "--05-03"}),
    ("March 10-12, 2026", {"2026-03-10", "2026-03-12"}),
    ("March 10 to 12, 2026", {"2026-03-10", "2026-03-12"}),
    ("10 March - 12 April 2026", {"--03-10", "2026-04-12"}),
    ("the 10th of March, 2026", {"2026-03-10"}),
    ("Mar 3 May 4", {"--03-03", "--05-04"}),
    ("Date:   Tue Mar 10 09:12:44 2026 +0100", {"2026-03-10"}),
    ("Tue Mar 10 09:12:44 UTC 2026", {"2026-03-10"}),
    ("Tue, 10 Mar 2026 09:12:44 GMT", {"2026-03-10"}),
    ("-rw-r--r-- 1 ann ann Mar  5 10:52 a", {"--03-05"}),
    ("due 13 March, at 17:00", {"--03-13"}),
    ("on 2026-03-10T09:00:00+01:00", {"2026-03-10"}),
    ("at 2026-03-10 09:00:00,123 INFO", {"2026-03-10"}),
    ("2026-03-10 - 2026-03-12", {"2026-03-10", "2026-03-12"}),
    ("logs/2026-03-10/app.log", {"logs/2026-03-10/app.log"}),
    ("HTTP/1.1 200 2026-03-10", {"200", "2026-03-10"}),
    ("exit status 2026-03-10", {"2026-03-10"}),
    ("50% 2026-03-10", {"50 %", "2026-03-10"}),
    ("call_253fd5ef-38bf-4f4a-804a-98df5088a868", {"253fd5ef-38bf-4f4a-804a-98df5088a868"}),
    ("urn:uuid:253fd5ef-38bf-4f4a-804a-98df5088a868", {"253fd5ef-38bf-4f4a-804a-98df5088a868"}),
    ("HAT052-1", {"HAT052-1"}),
    ("ABC-123.", {"ABC-123"}),
    ("ABC-123-4", set()),
    ("ORD-2024-001", set()),
    ("id_2026-03-10", set()),
    ("2026-03-10-1234", set()),
    ("2026-03-10_backup", set()),
    ("gpt-4o-2024-08-06", set()),
    ("HTTP 404-2026", set()),
    ("status code 500.5", {"500.5"}),
    ("exit code 1.5", set()),
    ("192.168.10.200", set()),
    ("max_length-1", {"max_length"}),
    ('"Run `go mod tidy` first"', {"go mod tidy"}),
    ("'see \"two words.\" and more'", {"two words"}),
]


@pytest.mark.parametrize(("text", "expected"), WHOLE)
def test_no_date_or_id_is_cut(text: str, expected: set[str]) -> None:
    """What one class cannot take whole, no other class takes a piece of."""
    assert {key for _, key in keys(text)} == expected


ADDRESSES = [
    ("file:///srv/app/log.txt", ("/srv/app/log.txt", "/srv/app", "/srv")),
    ("https:////x", ("//x",)),
    ("see file:/// now", None),
    ("http://,;:", None),
    ("git+ssh://host.example/a", ("host.example/a", "host.example")),
]


@pytest.mark.parametrize(("text", "forms"), ADDRESSES)
def test_no_form_of_an_address_is_empty(text: str, forms: tuple[str, ...] | None) -> None:
    assert [reference.forms for reference in references_of(text)] == ([] if forms is None else [forms])


def test_values_in_a_query_are_references_too() -> None:
    assert keys("https://fhir.example/Obs?patient=S2111822") == {
        ("url", "fhir.example/Obs?patient=S2111822"),
        ("id", "S2111822"),
    }


def test_two_words_with_a_slash_are_a_path_in_an_argument() -> None:
    assert keys("database/sql") == set()
    assert keys("database/sql", code=True) == {("path", "database/sql")}


def test_the_parts_of_a_reference_are_its_later_forms() -> None:
    (path,) = references_of("/srv/app/core/log.py")
    assert path.forms == (
        "/srv/app/core/log.py",
        "srv/app/core/log.py",
        "app/core/log.py",
        "core/log.py",
        "log.py",
        "/srv/app/core",
        "/srv/app",
    )
    (url,) = references_of("https://a.example/b/c?d=e")
    assert url.forms == ("a.example/b/c?d=e", "a.example/b/c", "a.example/b", "a.example")
    (name,) = references_of("models.User.objects")
    assert name.forms == ("models.User.objects", "models.User")


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (r"say \"yes\" \/ \u4e2d", 'say "yes" / 中'),
        (r"is\_open \*now\*", "is_open *now*"),
        (r"one\ntwo", "one\ntwo"),
        (r"\\\"deep\\\"", '"deep"'),
        (r"C:\dev\roo", "c:/dev/roo"),
        (r"C:\\dev\\new\nnext", "c:/dev/new\nnext"),
        (r"src\project\__init__.py", r"src\project\__init__.py"),
        ("\x1b[31mred\x1b[0m", "red"),
    ],
)
def test_escapes_are_undone(raw: str, expected: str) -> None:
    assert normal(raw) == expected


def test_arguments_are_read_without_keys_choices_and_steering_numbers() -> None:
    arguments = '{"file_path": "a.py", "limit": 250, "status": "in_progress", "old": ["x", {"n": 5, "amount": 731}]}'
    assert arguments_text(arguments) == "a.py\nx\n731"
    assert arguments_text("no json") == "no json"


HELD = [
    ("number", "17", "17 of them", True),
    ("number", "17", "1174", False),
    ("number", "17", "1.17", False),
    ("number", "17", "17-3", False),
    ("number", "3538", "paid 3,538.", True),
    ("number", "3538", "paid 3538.00", True),
    ("number", "3538", "13,538", False),
    ("number", "24 hours", "24hrs ago", True),
    ("number", "24 hours", "24 days", False),
    ("number", "12 支", "共12支", True),
    ("identifier", "foo_bar", "obj.foo_bar()", True),
    ("identifier", "foo_bar", "foo_bars", False),
    ("identifier", "fooBar", "foobar", False),
    ("identifier", "a.bc", "x.a.bc.d", True),
    ("path", "foo.py", "/a/foo.py:3", True),
    ("path", "foo.py", "barfoo.py", False),
    ("path", "foo.py", "foo.pyc", False),
    ("path", "foo.py", "foo.py.bak", False),
    ("path", "foo.py", "Look at foo.py.", True),
    ("path", "test.ts", "foo.test.ts", False),
    ("path", "src/a/b.py", r"src\a\b.py", True),
    ("path", "src/a", "src/a/b.py", True),
    ("path", "src/a", "src/ab", False),
    ("path", "/a/b", "c:/a/b", True),
    ("path", "/a/b", "x/a/b", False),
    ("path", "c:/a/b", "C:/a/b/c", True),
    ("path", "src/a.py", "src/a.py->x", True),
    ("path", "src/a.py", "src/a.py-x", False),
    ("path", "Makefile", "-Makefile", True),
    ("path", "Makefile", "my-Makefile", False),
    ("path", "env.py", ".env.py", False),
    ("path", "a.py", "...a.py", True),
    ("url", "a.example/b", "https://a.example/b_c", False),
    ("url", "a.example/b", "https://a.example/b/c", True),
    ("url", "a.example/b", "https://a.example/bc", False),
    ("email", "a@b.example", "A@B.example", True),
    ("uuid", "253fd5ef-38bf-4f4a-804a-98df5088a868", "253FD5EF-38BF-4F4A-804A-98DF5088A868", True),
    ("uuid", "253fd5ef-38bf-4f4a-804a-98df5088a868", "call_253fd5ef-38bf-4f4a-804a-98df5088a868-1", True),
    ("uuid", "253fd5ef-38bf-4f4a-804a-98df5088a868", "253fd5ef-38bf-4f4a-804a-98df5088a8681", False),
    ("date", "2026-03-12", "10-12 March 2026", True),
    ("date", "2026-03-10", "Tue Mar 10 09:12:44 2026", True),
    ("date", "2024-05-21", "May 21, 2024", True),
    ("date", "--05-21", "2024-05-21", True),
    ("date", "2024-05-21", "2024-05-22", False),
    ("hash", "5c565b7", "5c565b7a", False),
    ("id", "#12", "see /issues/12", True),
    ("id", "#12", "12 items", False),
    ("id", "HAT052", "HAT0521", False),
    ("error", "exit code 1", "Exit code 1", True),
    ("quoted", "go mod init", "when go  mod\ninit runs", True),
    ("quoted", "go mod init", "go mod initialise", False),
    ("cjk", "密室", "与密室的", True),
    ("identifier", "packed_refs", "packed_refsファイル", True),
]


@pytest.mark.parametrize(("kind", "form", "text", "held"), HELD)
def test_a_reference_stands_in_a_text_as_a_whole(kind: str, form: str, text: str, held: bool) -> None:
    assert TextIndex(normal(text)).holds(ReferenceClass(kind), form) is held


@pytest.mark.parametrize(("kind", "form", "text", "held"), HELD)
def test_no_text_that_holds_a_form_lacks_its_words(kind: str, form: str, text: str, held: bool) -> None:
    words = watch_words(ReferenceClass(kind), form)
    present = words_of(normal(text), frozenset((*words.needed, *words.either)))
    possible = present.issuperset(words.needed) and (not words.either or not present.isdisjoint(words.either))
    assert possible or not held


def test_the_words_of_a_huge_text_are_found_across_blocks() -> None:
    text = "word " * 500_000 + "last_word"
    assert words_of(text, frozenset((b"last_word", b"wor", b"word"))) == {b"last_word", b"word"}


PIECES = [*"aZ09_./\\:@#$%,-'\"`“”《》 \n中é{}=", "->", "Makefile"]


@given(st.lists(st.sampled_from(PIECES), max_size=80).map("".join), st.booleans())
def test_a_text_holds_its_own_references(text: str, code: bool) -> None:
    plain = normal(text)
    index = TextIndex(plain)
    for kind, forms in references_of(plain, code):
        assert all(forms)
        assert index.holds(kind, forms[0]), (kind, forms[0])


@given(st.text(max_size=200), st.booleans())
def test_any_text_is_read(text: str, code: bool) -> None:
    assert references_of(normal(text), code) == references_of(normal(text), code)


@pytest.mark.parametrize(
    "piece", ["\\", '"', "/", "1", ".", "a_", "a/", "1,", "@", "'a ", "“", "L1\n", "--a ", "中.md"]
)
def test_a_long_run_of_anything_takes_linear_time(piece: str) -> None:
    """No clock: a pattern that backtracks over such a text would not come back at all."""
    text = normal(piece * 100_000)
    assert len(references_of(text)) < 100_000
