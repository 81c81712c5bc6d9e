"""aider's history: who said what in a file that is written for people to read."""

import gzip
import re
from pathlib import Path

import pytest

from core.readers import read
from core.transcript import Transcript, Usage
from tests import small_chats as small

START = "# aider chat started at 2024-08-05 19:33:02\n\n"


def texts(made: Transcript) -> list[tuple[str, str]]:
    return [(message["role"], message["content"]) for message in made.messages]


def test_a_history() -> None:
    found = read(small.AIDER)
    first, second = found.transcripts
    assert (found.format, found.problems) == ("aider", [])
    assert texts(first)[:5] == [
        ("user", "fix the bug\n\nit is in a.py"),
        ("assistant", "I fix it.\n\n> a quote of the docs\n\n#### A heading\n\ndone"),
        ("user", "why?"),
        ("assistant", "Because."),
        ("user", "again"),
    ]
    assert [call.model for call in first.calls] == ["gpt-4o"] * 3
    assert [call.usage for call in first.calls] == [
        Usage(input=1200, output=345),
        Usage(input=492 + 1278, cache_read=1278, output=72),
        Usage(),
    ]
    assert [call.response is None for call in first.calls] == [False, False, True]
    assert [message["content"] for message in first.captured(2)["messages"]] == ["again"]
    assert len(first.history(2)["messages"]) == 5
    assert (first.session, second.session) == ("2024-08-05 19:33:02", "2024-08-07 10:00:00")
    assert second.calls[0].usage == Usage(input=2937, cache_read=2728, output=45)
    assert second.models == ("x/deepseek-coder",)
    assert list(first.notes) == [
        "token figures are rounded, as aider prints them",
        "files in the chat and the map of the repository are not recorded",
        "system prompt not recorded",
        "the chat was cleared before call 3",
    ]


def test_lines_add_up() -> None:
    found = read(small.AIDER)
    filled = sum(bool(line.strip()) for line in small.AIDER.split("\n"))
    assert found.counts.read == filled == found.counts.used + found.counts.ignored


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.lstrip(),
        lambda text: "a preamble\n\n> x  \n" + text,
        lambda text: text.encode("utf-8-sig"),
    ],
)
def test_other_spellings_of_the_same_history(change: object) -> None:
    content = change(small.AIDER)  # type: ignore[operator]
    assert [texts(made) for made in read(content).transcripts] == [
        texts(made) for made in read(small.AIDER).transcripts
    ]


def test_a_history_whose_lines_were_stripped() -> None:
    text = START + "> Aider\n\n#### hi\n#### you\n\nHello.\n\n> Tokens: 5 sent, 1 received.\n"
    [made] = read(text).transcripts
    assert texts(made) == [("user", "hi\nyou"), ("assistant", "Hello.")]
    assert made.calls[0].usage == Usage(input=5, output=1)


def test_what_a_command_prints_is_no_answer() -> None:
    text = START + "#### hi  \n\nHello.\n\n#### /run ls  \n\na.py\nb.py\n\n#### bye  \n\nBye.\n"
    [made] = read(text).transcripts
    assert texts(made) == [("user", "hi"), ("assistant", "Hello."), ("user", "bye"), ("assistant", "Bye.")]


def test_the_argument_of_a_command_that_asks_is_the_question() -> None:
    text = START + "#### /ask what is it?  \n\nA file.\n\n> Tokens: 5 sent, 1 received.  \n"
    [made] = read(text).transcripts
    assert texts(made) == [("user", "what is it?"), ("assistant", "A file.")]


def test_answers_in_a_row_are_calls_of_their_own() -> None:
    text = (
        START + "#### do it  \n\nA plan.\n\n> Tokens: 5 sent, 1 received.  \n\n"
        "The edit.\n\n> Tokens: 9 sent, 2 received.  \n"
    )
    [made] = read(text).transcripts
    assert [call.usage.input for call in made.calls] == [5, 9]


def test_the_real_history(transcripts_folder: Path) -> None:
    path = transcripts_folder / "aider/aider-chat-history-4mb.md.gz"
    text = gzip.decompress(path.read_bytes()).decode()
    found = read(path)
    billed = [call for made in found.transcripts for call in made.calls if call.usage.output is not None]
    lines = re.findall(r"^> Tokens: .* received.*$", text, re.MULTILINE)
    assert len(lines) == 839
    assert len(billed) == len(lines)
    assert found.counts.read == found.counts.used + found.counts.ignored
    assert found.counts.read == sum(bool(line.strip()) for line in text.split("\n"))


def questions(session: str) -> list[str]:
    """Return what the user wrote in a session that has no commands but those that print."""
    found: list[list[str]] = []
    before = ""
    for line in session.split("\n"):
        if line.startswith("####") and line.endswith("  "):
            if not (before.startswith("####") and before.endswith("  ")):
                found.append([])
            found[-1].append(line[5:].rstrip())
        before = line
    asked = ["\n".join(lines).strip() for lines in found]
    return [text for text in asked if text and text != "<blank>" and not (text[0] in "/!" and "\n" not in text)]


def test_questions_of_the_real_history(transcripts_folder: Path) -> None:
    path = transcripts_folder / "aider/aider-chat-history-4mb.md.gz"
    parts = re.split(r"^# aider chat started at (.*)$", gzip.decompress(path.read_bytes()).decode(), flags=re.MULTILINE)
    sessions = list(zip(parts[1::2], parts[2::2], strict=True))
    made = {one.session: one for one in read(path).transcripts}
    compared = 0
    for started, text in sessions:
        if re.search(r"^#### [/!]", text, re.MULTILINE) or [name for name, _ in sessions].count(started) > 1:
            continue
        told = questions(text)
        compared += len(told)
        assert (
            [message["content"] for message in made[started].messages if message["role"] == "user"] == told
            if told
            else True
        )
    assert compared == 356
