"""LMSYS and Arena data: chat logs (LMSYS-Chat-1M, WildChat), battles of two models, answers to benchmark questions.

A battle is two transcripts, each naming the other model. The answers of MT-bench stand without their questions, which
are in `question.jsonl`: in a folder or archive that holds both they are put together, alone they are refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from ..transcript import Fidelity, Transcript
from ..wire import Wire, text_of
from .chat_wire import assistant
from .event_log import EventLog
from .fields import inner, listed, objects, text
from .formats import Format, Reading, share
from .rows import Unused, read_rows, sample_rows, within
from .shapes import is_message
from .times import parse_time

QUESTIONS = "question.jsonl"
ANSWERS = ("model_answer", "reference_answer")
KEPT = ("language", "winner", "judge", "turn", "category", "conversation_hash", "answer_id", "ans_id", "redacted")
EXPECTED = (
    "A row with `conversation`, `conversation_a` and `conversation_b`, or an answer with `messages` was expected."
)
ALONE = (
    "the answer stands without its question, so no prompt can be shown",
    f"Give a folder or a ZIP archive that holds {QUESTIONS} of the benchmark and {ANSWERS[0]}/ with this file.",
)


def sniff(values: Sequence[Any]) -> float:
    """Return how likely some records are rows of LMSYS or Arena."""
    return 0.9 * share(sample_rows(values), lambda row: _is_chat(row) or _is_battle(row) or _is_answer(row))


def gather(names: Sequence[str]) -> list[list[str]]:
    """Return the files of each benchmark: its questions and the answers to them."""
    found = []
    for name in names:
        folder, _, base = name.rpartition("/")
        if base == QUESTIONS:
            starts = tuple(f"{folder}/{part}/".lstrip("/") for part in ANSWERS)
            answers = [other for other in names if other.startswith(starts) and other.endswith(".jsonl")]
            found += [[name, *answers]] if answers else []
    return found


def read(reading: Reading) -> Iterator[Transcript]:
    """Yield a transcript a row, two for a battle, one for each choice of an answer."""
    if len(reading.files) > 1:
        yield from _benchmark(reading)
    else:
        yield from read_rows(reading, partial(_read_row, reading, {}), EXPECTED)


def _benchmark(reading: Reading) -> Iterator[Transcript]:
    """Read questions, then the files of answers to them."""
    questions: dict[Any, list[str]] = {}
    for record in reading.records:
        turns = [turn for turn in listed(record.value, "turns") if isinstance(turn, str)]
        if turns and isinstance(record.value.get("question_id"), str | int):
            questions[record.value["question_id"]] = turns
            reading.report.used()
        else:
            reading.report.broken("this is no question", "`question_id` and `turns` were expected.", place=record.place)
    for _, records in reading.others():
        answers = Reading(records, reading.report)
        yield from read_rows(answers, partial(_read_row, answers, questions), EXPECTED)


def _read_row(reading: Reading, questions: Mapping[Any, list[str]], row: Wire, place: str) -> Iterator[Transcript]:
    if _is_battle(row):
        for side, other in (("a", "b"), ("b", "a")):
            meta = {"opponent": text(row, f"model_{other}"), "side": side}
            yield from _talk(
                reading, row, objects(row, f"conversation_{side}"), place, text(row, f"model_{side}"), meta
            )
    elif _is_answer(row) and not objects(row, "messages"):
        yield from _choices(reading, questions, row, place)
    else:
        turns = objects(row, "conversation") or objects(row, "messages")
        yield from _talk(reading, row, turns, place, text(row, "model", "model_id"), {})


def _choices(reading: Reading, questions: Mapping[Any, list[str]], row: Wire, place: str) -> Iterator[Transcript]:
    asked = questions.get(row.get("question_id")) if isinstance(row.get("question_id"), str | int) else None
    if asked is None:
        raise Unused(*ALONE)
    for number, choice in enumerate(objects(row, "choices"), 1):
        wires: list[Wire] = []
        for question, turn in zip(asked, listed(choice, "turns"), strict=False):
            answer = turn if isinstance(turn, str) else text(turn, "content")
            wires += [{"role": "user", "content": question}, assistant(answer)]
        here = within(place, f"choice {number}")
        yield from _talk(reading, row, wires, here, text(row, "model_id", "model"), {"choice": choice.get("index")})


def _talk(
    reading: Reading, row: Wire, turns: Sequence[Wire], place: str, model: str, meta: Mapping[str, Any]
) -> Iterator[Transcript]:
    log = EventLog("openai_chat", reading)
    log.may_have_tools = False
    at = parse_time(row.get("tstamp", row.get("timestamp")))
    for number, turn in enumerate(turns, 1):
        here = within(place, f"message {number}")
        if not is_message(turn):
            reading.report.add("the message has no role or no content", "It was left out.", place=here)
        elif turn["role"] == "assistant":
            fidelity = Fidelity.RECONSTRUCTED if log.at.lead else Fidelity.PARTIAL
            log.reply([_plain(turn)], here, model=model, at=parse_time(turn.get("timestamp")) or at, fidelity=fidelity)
        else:
            log.say(_plain(turn), here)
    if log.builder.messages:
        kept = {key: row[key] for key in KEPT if row.get(key) is not None}
        session = text(row, "conversation_id", "conversation_hash", "uid") or text_of(row.get("question_id"))
        yield log.transcript(session=session, meta={**kept, **meta})


def _plain(turn: Wire) -> Wire:
    """Return a message of role and content; Arena writes what a model answered as an object around the text."""
    content = turn.get("content")
    answer = text(inner(turn, "content"), "answer", "content", "text") if isinstance(content, Mapping) else content
    return {"role": turn["role"], "content": answer}


def _is_chat(row: Any) -> bool:
    if not isinstance(row, Mapping) or not isinstance(row.get("conversation"), list):
        return False
    return any(map(is_message, row["conversation"])) and "from" not in row


def _is_battle(row: Any) -> bool:
    return isinstance(row, Mapping) and all(isinstance(row.get(f"conversation_{side}"), list) for side in "ab")


def _is_answer(row: Any) -> bool:
    if not isinstance(row, Mapping):
        return False
    named = any(key in row for key in ("ans_id", "answer_id")) and any(key in row for key in ("model", "model_id"))
    return named and any(isinstance(row.get(key), list) for key in ("messages", "choices"))


FORMAT = Format("lmsys_arena", "LMSYS chats, Arena battles and answers", sniff, read, gather=gather)
