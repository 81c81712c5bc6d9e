"""inspect_ai logs as documents and as archives: model events as calls, what stands apart put back."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from core.readers import read, read_stream
from core.transcript import Fidelity
from tests import small_agent_runs as small
from tests.small_runs import of, seen, usages
from tests.test_readers_bundles import zipped

ASKED = "look at it " * 20


def test_requests_are_taken_as_they_were_sent() -> None:
    found = of(small.inspect_log())
    agent, grader = found.transcripts
    assert (found.format, found.problems) == ("inspect_ai", [])
    assert seen(found, 0) == [("user", ASKED)]
    assert seen(found, 1) == [("user", ASKED), ("assistant", "look()"), ("tool", "seen")]
    assert [call.fidelity for call in agent.calls] == [Fidelity.CAPTURED] * 2
    assert usages(found) == [(10, 8, 5), (20, 8, 5)]
    assert agent.models == ("gpt-x-1",)
    assert agent.heads == ({"model": "gpt-x", "messages": []},)
    assert agent.meta == {"task": "t", "sample": "s1", "epoch": 2, "scores": {"judge": "C"}}
    assert (agent.session, grader.session) == ("e/s1/2", "e/s1/2/1")
    assert (grader.meta["parent_session"], grader.meta["purpose"]) == ("e/s1/2", "scorer")


def test_without_requests_the_messages_are_written_as_openai_chat() -> None:
    found = of(small.inspect_log(with_requests=False))
    agent = found.transcripts[0]
    assert seen(found, 1) == [("user", ASKED), ("assistant", "look()"), ("tool", "seen")]
    assert [call.fidelity for call in agent.calls] == [Fidelity.RECONSTRUCTED] * 2
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"x":1}'}}
    assert agent.calls[0].response == {"role": "assistant", "content": None, "tool_calls": [call]}
    assert [tool["function"]["name"] for tool in agent.heads[0]["tools"]] == ["look"]
    assert usages(found) == [(10, 8, 5), (20, 8, 5)]


def test_without_events_the_sample_is_read_from_its_messages() -> None:
    found = of(small.inspect_log(with_events=False))
    assert seen(found, 1) == [("user", ASKED), ("assistant", "look()"), ("tool", "seen")]
    assert usages(found) == [(None, None, None), (20, None, 5)]
    assert found.transcripts[0].calls[0].fidelity is Fidelity.PARTIAL


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"input_tokens": 10, "output_tokens": 5, "total_tokens": 15, "input_tokens_cache_read": 8}, (10, 8, 5)),
        ({"input_tokens": 2, "output_tokens": 5, "total_tokens": 15, "input_tokens_cache_read": 8}, (10, 8, 5)),
        ({"input_tokens": 2, "output_tokens": 5}, (2, None, 5)),
        ({}, (None, None, None)),
    ],
)
def test_whether_input_includes_cached_tokens_is_told_by_the_total(usage: Any, expected: tuple[Any, ...]) -> None:
    log = small.inspect_log(with_requests=False)
    log["samples"][0]["events"][1]["output"]["usage"] = usage
    assert usages(of(log))[0] == expected


def test_shared_messages_come_from_the_pool() -> None:
    log = small.inspect_log(with_requests=False)
    sample = log["samples"][0]
    sample["message_pool"] = [*sample["messages"][:3], {"role": "user", "content": "grade it"}]
    for event, refs in zip(sample["events"][1:], ([[0, 1]], [[0, 2], [2, 3]], [[3, 4]]), strict=True):
        event["input"], event["input_refs"] = [], refs
    assert of(log).transcripts[0].calls == of(small.inspect_log(with_requests=False)).transcripts[0].calls


def test_shared_messages_of_requests_come_from_their_pool() -> None:
    log = small.inspect_log()
    sample = log["samples"][0]
    sample["events_data"] = {"messages": [], "calls": sample["events"][2]["call"]["request"]["messages"]}
    for event, refs in zip(sample["events"][1:3], ([[0, 1]], [[0, 3]]), strict=True):
        event["call"]["request"].pop("messages")
        event["call"] |= {"call_key": "messages", "call_refs": refs}
    assert of(log).transcripts[0].calls == of(small.inspect_log()).transcripts[0].calls


def test_a_text_that_is_missing_is_told() -> None:
    log = small.inspect_log()
    log["samples"][0]["attachments"] = {}
    found = of(log)
    assert [str(problem) for problem in found.problems] == [
        "the text, sample 1: a text that stands apart in the log is missing. The reference to it was kept."
    ]
    assert seen(found, 0) == [("user", "attachment://aaa")]


def test_images_are_put_back_into_requests() -> None:
    log = small.inspect_log()
    event = log["samples"][0]["events"][1]
    image = {"type": "image_url", "image_url": {"url": "<base64-data-removed>"}}
    event["call"]["request"]["messages"] = [{"role": "user", "content": [image, image]}]
    pictures = [{"type": "image", "image": f"data:image/png;base64,{name}"} for name in ("AAA", "BBB")]
    event["input"] = [{"role": "user", "content": pictures}]
    [message] = of(log).transcripts[0].captured(0)["messages"]
    assert [part["image_url"]["url"][-3:] for part in message["content"]] == ["AAA", "BBB"]
    event["input"] = []
    assert "images and files were taken out of the recorded requests" in of(log).transcripts[0].notes


@pytest.mark.parametrize(
    ("log", "problem"),
    [
        ({"eval": {"task": "t"}, "plan": {}, "status": "started"}, "the log holds no samples"),
        ({"eval": {"task": "t"}, "plan": {}, "samples": [{"id": 1, "epoch": 1}], "status": "error"}, "(error)"),
    ],
)
def test_logs_without_messages_are_refused(log: Any, problem: str) -> None:
    found = of(log)
    assert found.transcripts == []
    assert problem in str(found.problems[0])


def archive(header: str = "header.json") -> dict[str, str | bytes]:
    log = small.inspect_log()
    sample = json.dumps(log.pop("samples")[0])
    return {
        "_journal/start.json": json.dumps({"version": 2, "eval": log["eval"], "plan": {}}),
        "samples/b_epoch_1.json": sample,
        "samples/a_epoch_1.json": sample.replace('"s1"', '"s0"'),
        "summaries.json": "[]",
        **({header: json.dumps(log)} if header else {}),
    }


@pytest.mark.parametrize("header", ["header.json", ""])
def test_an_archive_is_one_log(tmp_path: Path, header: str) -> None:
    path = tmp_path / "log.eval"
    path.write_bytes(zipped(archive(header)))
    found = read(path)
    assert (found.format, found.problems) == ("inspect_ai", [])
    assert [made.session for made in found.transcripts] == ["e/s0/2", "e/s0/2/1", "e/s1/2", "e/s1/2/1"]
    assert {made.source for made in found.transcripts} == {"log.eval"}
    counts = found.counts
    assert (counts.read, counts.used, counts.ignored) == ((5, 3, 2) if header else (4, 3, 1))


def test_progress_goes_on_over_the_files_of_a_log(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    path.write_bytes(zipped(archive()))
    seen: list[tuple[int, int]] = []
    list(read_stream(path, progress=lambda done, size: seen.append((done, size))))
    size = sum(len(str(content)) for content in archive().values())
    assert {whole for _, whole in seen} == {size}
    told = [done for done, _ in seen]
    assert told == sorted(told) and 0.9 * size < told[-1] <= size


def test_an_archive_packed_with_zstandard_by_another_version(tmp_path: Path) -> None:
    zstandard = pytest.importorskip("zstandard")
    files = archive()
    data = bytearray(
        zipped({name: zstandard.compress(str(text).encode()) for name, text in files.items()}, zipfile.ZIP_STORED)
    )
    at = 0
    for sign, method, size in ((b"PK\x03\x04", 8, 22), (b"PK\x01\x02", 10, 24)):
        at = 0
        for text in files.values():
            at = data.index(sign, at)
            data[at + method : at + method + 2] = (93).to_bytes(2, "little")
            data[at + size : at + size + 4] = len(str(text)).to_bytes(4, "little")
            at += 4
    found = read(bytes(data))
    assert (found.format, len(found.transcripts), found.problems) == ("inspect_ai", 4, [])


def test_a_broken_sample_does_not_stop_the_others() -> None:
    files = archive()
    files["samples/a_epoch_1.json"] = '{"id": 1, "epo'
    found = read(zipped(files))
    assert len(found.transcripts) == 2
    assert [problem.source for problem in found.problems] == ["the archive/samples/a_epoch_1.json"]


@pytest.mark.parametrize(
    ("name", "transcripts", "calls", "messages", "fidelity"),
    [
        ("inspect-ai/2025-05-12-browser.json", 1, 5, 9, Fidelity.CAPTURED),
        ("inspect-ai/log_images_tc.json", 1, 1, 1, Fidelity.CAPTURED),
        ("inspect-ai/log_message_deduplication.eval", 1, 6, 11, Fidelity.RECONSTRUCTED),
        ("inspect-ai/log_streaming.eval", 4, 4, 4, Fidelity.CAPTURED),
    ],
)
def test_real_logs(
    transcripts_folder: Path, name: str, transcripts: int, calls: int, messages: int, fidelity: Fidelity
) -> None:
    found = read(transcripts_folder / name)
    assert (found.format, found.problems, len(found.transcripts)) == ("inspect_ai", [], transcripts)
    assert sum(len(made.calls) for made in found.transcripts) == calls
    assert sum(len(made.messages) for made in found.transcripts) == messages
    assert {call.fidelity for made in found.transcripts for call in made.calls} == {fidelity}
    assert "://" not in {text[:13] for made in found.transcripts for text in map(str, made.messages)}


def test_prompts_of_a_real_log(transcripts_folder: Path) -> None:
    path = transcripts_folder / "inspect-ai/2025-05-12-browser.json"
    sample = json.loads(path.read_text(encoding="utf-8"))["samples"][0]
    requests = [event["call"]["request"] for event in sample["events"] if event["event"] == "model"]
    texts = sample["attachments"]
    made = read(path).transcripts[0]
    for call, request in enumerate(requests):
        sent = [
            texts[content.removeprefix("attachment://")] if str(content).startswith("attachment://") else content
            for content in (message["content"] for message in request["messages"])
        ]
        assert [message["content"] for message in made.captured(call)["messages"]] == sent
        assert len(made.captured(call)["tools"]) == len(request["tools"]) == 8
