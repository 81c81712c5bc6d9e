"""The Inspect page: its figures are those of the replay, and unknown is never shown as 0."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.export import pinned
from core.readers import read
from core.readers.builder import TranscriptBuilder
from core.replay import Replay, replay
from core.transcript import Fidelity, Usage
from core.wire import body_sha256
from pages.parts.loading import captured_config
from storage import Library
from storage.library import Exchange
from tests.pages_app import Open, id_of, metrics, page, run, sample, sample_database, shown, store

__all__ = ["page", "sample_database", "store"]

PAGE = "inspect_transcript.py"


def captured() -> Replay:
    transcript = sample()
    return replay(transcript, captured_config(transcript))


def add(store: Library, model: str | None = "gpt-4o", usage: list[Usage] | None = None, turns: int = 3) -> str:
    """Store a conversation of so many turns, and return its id."""
    builder = TranscriptBuilder("openai_chat")
    messages: list[dict[str, Any]] = [{"role": "system", "content": "Be brief."}]
    for turn in range(turns):
        messages.append({"role": "user", "content": f"question {turn} *with* `signs` <b>"})
        body = {**({"model": model} if model else {}), "messages": list(messages)}
        builder.call(builder.body(body), usage=usage[turn] if usage else None, model=model)
        messages.append({"role": "assistant", "content": f"answer {turn}"})
    return str(store.add(builder.build(title="*stars* & <b>tags</b> $x$", format="openai_chat")).id)


def spec(app: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(app.get("vega_lite_chart")[0].proto.spec)
    return found


def test_the_cards_show_the_figures_of_the_replay(page: Open, store: Library) -> None:
    played = captured()
    cards = metrics(page(PAGE, transcript=id_of(store)))
    assert cards["Peak in window"] == f"{max(played.calls['in_window']):,}"
    assert cards["Entered"] == f"{sum(played.calls['entered']):,}"
    assert cards["Fixed floor"] == f"{played.plan(0).fixed.tokens:,}"
    assert cards["Billed input"] == "not recorded"
    assert cards["Not recorded"] == "unknown"


def test_the_spans_of_a_call_add_up_to_its_window(page: Open, store: Library) -> None:
    played = captured()
    for call in (1, 7, 20):
        app = page(PAGE, transcript=id_of(store), call=str(call))
        table = app.dataframe[0].value
        assert table["tokens"].sum() == played.calls["in_window"][call - 1]
        assert f"**Call {call}** of 20 · {table['tokens'].sum():,} in window" in shown(app)


def test_every_figure_says_how_it_was_made(page: Open, store: Library) -> None:
    app = page(PAGE, transcript=id_of(store))
    assert "Texts are counted exactly (o200k_base); frames, tools and images by formula." in shown(app)
    assert " tokens, exact · entered in call " in shown(app)
    app = page(PAGE, transcript=id_of(store, "long_chat.json"))
    assert "Texts are an estimate (o200k_base × 1.2" in shown(app)
    assert " tokens, estimate · entered in call " in shown(app)


def test_reported_usage_is_billed_and_what_is_missing_is_about(page: Open, store: Library) -> None:
    number = add(store, usage=[Usage(input=7_000, cache_read=3_500)] * 3)
    largest = int(metrics(page(PAGE, transcript=add(store)))["Peak in window"])
    app = page(PAGE, transcript=number)
    assert [card.delta for card in app.metric if card.label == "Billed input"] == ["50% cache read"]
    assert metrics(app)["Billed input"] == "21,000"
    assert metrics(app)["Not recorded"] == f"about {round(7_000 - largest, -2):,}"


@pytest.mark.parametrize(
    ("beyond", "said"),
    [
        ([15_548] * 3, "15,548"),
        ([15_548, 15_548, 15_549], "about 16,000"),
        ([15_548, 15_549, None], "about 16,000"),
        ([15_548, None, None], "15,548"),
        ([0, 0, 0], "0"),
    ],
)
def test_what_is_not_recorded_is_exact_where_all_calls_have_the_same(
    page: Open, store: Library, beyond: list[int | None], said: str
) -> None:
    counted = replay(store.get(int(add(store))), {"strategy": {"kind": "as_captured"}}).calls["in_window"]
    usage = [Usage(input=None if more is None else tokens + more) for tokens, more in zip(counted, beyond, strict=True)]
    assert metrics(page(PAGE, transcript=add(store, usage=usage)))["Not recorded"] == said


LONG = "Please read all of *these* files before you answer, and tell me then which of them says what a tent weighs."


@pytest.mark.parametrize(
    ("text", "title", "whole"),
    [
        (LONG, LONG[:79] + "…", LONG),
        (LONG + " word" * 200, LONG[:79] + "…", (LONG + " word" * 200)[:600]),
        (f"<task>\n{LONG}\n</task>", LONG[:79] + "…", f"{LONG} </task>"),
        (LONG, "A name that a person gave …", ""),
        ("A short question.", "A short question.", ""),
    ],
    ids=["cut", "very long", "in a frame", "another", "short"],
)
def test_a_title_that_was_cut_is_whole_in_its_help(
    page: Open, store: Library, text: str, title: str, whole: str
) -> None:
    builder = TranscriptBuilder("openai_chat")
    builder.call(builder.body({"model": "gpt-4o", "messages": [{"role": "user", "content": text}]}))
    app = page(PAGE, transcript=str(store.add(builder.build(title=title)).id))
    assert app.title[0].value.replace("\\", "").endswith(title[-20:])
    help_text = app.title[0].proto.help.replace("\\", "")
    assert help_text.startswith(whole[:590]) and bool(help_text) is bool(whole)


def peak_card(app: AppTest) -> tuple[str, str, str, str]:
    card = app.metric[0]
    return card.label, card.value, card.delta, card.proto.help


@pytest.mark.parametrize(
    ("beyond", "soft", "shown_card"),
    [
        (0, "100", ("Peak in window", "{sent:,}", "{share:.0%} of soft budget", ".")),
        (7_000, "9000", ("Peak as sent", "{sent:,}", "{share:.0%} of soft budget", ", of which {peak} tokens are ")),
        (
            7_000,
            "5000",
            ("Peak as sent", "{sent:,}", "{share:.0%} of soft budget", " and about 7,000 are not."),
        ),
        (-12, "100", ("Peak as sent", "{sent:,}", "{share:.0%} of soft budget", ", as reported; counted are {peak}.")),
        (7_000, "0", ("Peak as sent", "{sent:,}", "over any budget", ".")),
    ],
)
def test_the_largest_prompt_meets_the_budget_as_it_was_sent(
    page: Open, store: Library, beyond: int, soft: str, shown_card: tuple[str, ...]
) -> None:
    counted = replay(store.get(int(add(store))), {"strategy": {"kind": "as_captured"}}).calls["in_window"]
    usage = [Usage(input=tokens + beyond) for tokens in counted]
    app = page(PAGE, transcript=add(store, usage=usage), soft=soft)
    sent = max(counted) + beyond
    figures = {"peak": max(counted), "sent": sent, "share": sent / (int(soft) or 1)}
    label, value, share, help_text = (text.format(**figures) for text in shown_card)
    assert peak_card(app)[:3] == (label, value, share)
    assert peak_card(app)[3].startswith("The largest prompt as sent: call 3")
    assert help_text in peak_card(app)[3]


@pytest.mark.parametrize("usage", [[Usage(input=500), Usage()], [Usage(), Usage(input=500)]])
def test_what_one_of_two_calls_reports_is_not_said_of_both(page: Open, store: Library, usage: list[Usage]) -> None:
    app = page(PAGE, transcript=add(store, usage=usage, turns=2))
    notes = {card.label: card.delta for card in app.metric}
    assert (notes["Billed input"], notes["Not recorded"]) == ("1 of 2 calls", "reported in 1 of 2 calls")
    assert "in every call" not in shown(app)


def test_a_share_without_parts_of_unknown_size_is_the_least(page: Open, store: Library) -> None:
    transcript = replace(sample(), notes=("system prompt not recorded",), session="lacks")
    app = page(PAGE, transcript=str(store.add(transcript).id), soft="20000")
    assert peak_card(app)[2:] == (
        "at least 45% of budget",
        "The largest prompt as sent: call 20, without the system prompt, which is not recorded.",
    )


def test_the_call_that_is_shown_first_is_the_largest_as_sent(page: Open, store: Library) -> None:
    usage = [Usage(input=tokens) for tokens in (900, 5_000, 1_000)]
    app = page(PAGE, transcript=add(store, usage=usage))
    assert "**Call 2** of 3" in shown(app)
    assert peak_card(app)[1] == "5,000"


def test_compare_opens_with_what_a_soft_limit_leaves_to_what_is_recorded(page: Open, store: Library) -> None:
    counted = replay(store.get(int(add(store))), {"strategy": {"kind": "as_captured"}}).calls["in_window"]
    number = add(store, usage=[Usage(input=tokens + 400) for tokens in counted])
    for soft, given in (("450", {"budget": "50", "beside": "400"}), ("300", {"budget": "300"})):
        app = page(PAGE, transcript=number, soft=soft)
        app.button(key="to_compare").click()
        run(app)
        assert {key: app.query_params[key] for key in ("budget", "beside") if key in app.query_params} == given


def test_more_read_from_the_cache_than_was_sent_is_not_believed(page: Open, store: Library) -> None:
    calls = tuple(replace(call, usage=Usage(input=100, cache_read=350)) for call in sample().calls)
    number = store.add(replace(sample(), calls=calls, session="too much read")).id
    app = page(PAGE, transcript=str(number))
    assert [card.delta for card in app.metric if card.label == "Billed input"] == ["reported cache not believable"]


def test_usage_of_some_calls_says_of_how_many(page: Open, store: Library) -> None:
    app = page(PAGE, transcript=add(store, usage=[Usage(input=40), Usage(), Usage()]))
    assert [card.delta for card in app.metric if card.label == "Billed input"] == ["1 of 3 calls"]


def test_a_soft_limit_is_a_line_and_a_share(page: Open, store: Library) -> None:
    app = page(PAGE, transcript=id_of(store), soft="6000")
    assert [card.delta for card in app.metric if card.label == "Peak in window"] == ["149% of soft budget"]
    assert [layer["mark"]["type"] for layer in spec(app)["layer"]].count("rule") == 1
    assert "Far above the chart: hard window 128,000." in shown(app)


def test_without_a_known_window_there_is_no_limit(page: Open, store: Library) -> None:
    app = page(PAGE, transcript=add(store, model="some-new-model"))
    assert [card.delta for card in app.metric if card.label == "Peak in window"] == ["no limit set"]
    assert app.number_input(key="window").placeholder == "unknown"
    assert "The window of this model is not documented here." in shown(app)


def test_a_typed_model_brings_its_window_and_its_encoding(page: Open, store: Library) -> None:
    app = page(PAGE, transcript=add(store, model=None), model="gpt-4")
    assert app.number_input(key="window").placeholder == "8,192"
    assert "counted exactly (cl100k_base)" in shown(app)


def test_a_window_that_leaves_nothing_is_a_sentence(page: Open, store: Library) -> None:
    app = page(PAGE, transcript=id_of(store), window="100", max_output="100")
    assert "model" in app.error[0].value or "budget" in app.error[0].value
    assert "leaves" in shown(app) or "nothing" in shown(app)


@pytest.mark.parametrize("number", ["999999", "-1", "abc", "9" * 40])
def test_a_transcript_that_is_not_there_is_a_sentence_never_another_one(page: Open, number: str) -> None:
    app = page(PAGE, transcript=number)
    said = shown(app).replace("\\", "")
    assert "There is no transcript" in said
    assert number[:40] in said
    assert not app.dataframe


def test_the_diff_says_what_entered(page: Open, store: Library) -> None:
    app = page(PAGE, transcript=add(store), call="2", view="Since last call")
    assert "Against call 1: 2 new (+" in shown(app)
    table = app.dataframe[0].value
    assert table["change"].tolist() == ["new", "new", "changed"]
    app = page(PAGE, transcript=add(store), call="1", view="Since last call")
    assert "Against nothing: 3 new" in shown(app) or "Against nothing: 4 new" in shown(app)


def test_the_request_is_the_recorded_one(page: Open, store: Library) -> None:
    app = page(PAGE, transcript=id_of(store), call="3", view="Request")
    assert f"sha256 {body_sha256(sample().captured(2))}" in shown(app)
    assert app.code[0].value.startswith('{\n  "model": "gpt-4o"')


def test_a_response_that_was_not_recorded_is_not_empty(page: Open, store: Library) -> None:
    app = page(PAGE, transcript=add(store), call="3", view="Response")
    assert "The response of this call is not in the recording." in shown(app)


def test_a_long_text_is_cut_and_shown_whole_on_request(page: Open, store: Library, tmp_path: Path) -> None:
    text = "\n".join(f"line {number}" for number in range(500))
    path = tmp_path / "long.json"
    path.write_text(json.dumps([{"role": "user", "content": text}]), encoding="utf-8")
    app = page(PAGE, transcript=str(store.add(read(path).transcripts[0]).id))
    assert app.code[0].value.count("\n") <= 100
    assert "more characters in 400 lines are not shown." in shown(app)
    app.toggle(key="span_text_whole").set_value(True)
    assert run(app).code[0].value == text


def test_a_title_is_text_not_markup(page: Open, store: Library) -> None:
    app = page(PAGE, transcript=add(store))
    assert app.title[0].value.replace("\\", "") == "*stars* & <b>tags</b> $x$"
    assert "\\*stars\\*" in app.title[0].value
    assert "\\<b\\>" in app.title[0].value


def test_turns_are_fewer_bars(page: Open, store: Library) -> None:
    calls, turns = (spec(page(PAGE, transcript=id_of(store), axis=axis)) for axis in ("Calls", "Turns"))
    assert [layer["encoding"]["x"]["title"] for layer in (calls["layer"][0], turns["layer"][0])] == ["call", "turn"]


def test_a_transcript_without_calls_says_so(page: Open, store: Library) -> None:
    builder = TranscriptBuilder("openai_chat")
    app = page(PAGE, transcript=str(store.add(builder.build(title="nothing in it", session="s")).id))
    assert "This transcript holds no call to a model" in shown(app)


def test_the_page_counts_as_the_export_does(store: Library) -> None:
    transcript = sample()
    config = captured_config(transcript)
    assert pinned(config, transcript) == config


def test_long_model_names_are_cut_in_the_head_and_whole_in_its_help(page: Open, store: Library) -> None:
    model = "projects/customer-platform/locations/europe-west4/endpoints/tuned-*llama*-70b-instruct"
    for name in (PAGE, "compare.py", "advise.py"):
        line = page(name, transcript=add(store, model=model)).caption[0]
        assert "projects/customer-platform/loc…-instruct · 3 calls" in line.value.replace("\\", "")
        assert line.help.replace("\\", "") == model and "*llama*" not in line.help
    line = page(PAGE, transcript=add(store, model="gpt-4o")).caption[0]
    assert "gpt-4o · 3 calls" in line.value.replace("\\", "") and not line.help


@pytest.mark.parametrize(
    "request_body",
    [
        {"model": "gpt-4o", "messages": []},
        {"model": "claude-sonnet-4-5", "max_tokens": 9, "system": "Be brief.", "messages": []},
        {"model": "gpt-4o", "input": []},
        {"contents": []},
    ],
    ids=["chat", "anthropic", "responses", "gemini"],
)
def test_a_request_without_messages_is_said_to_be_one(page: Open, store: Library, request_body: dict[str, Any]) -> None:
    number = str(store.append_call(Exchange(request_body)).transcript)
    for name in (PAGE, "compare.py", "advise.py"):
        app = page(name, transcript=number)
        assert "Nothing was said: the list of messages was sent empty." in shown(app)
        assert not app.error


def test_a_call_without_messages_among_others_is_named(page: Open, store: Library) -> None:
    builder = TranscriptBuilder("openai_chat")
    for messages in ([{"role": "user", "content": "hello"}], [], [{"role": "user", "content": "again"}]):
        builder.call(builder.body({"model": "gpt-4o", "messages": messages}), fidelity=Fidelity.CAPTURED)
    app = page(PAGE, transcript=str(store.add(builder.build(title="t", session="s")).id))
    assert "1 call of 3 sent an empty list of messages: call 2." in shown(app)
    assert "empty list of messages" not in shown(page(PAGE, transcript=add(store)))


def test_a_prompt_that_was_not_recorded_was_not_sent_empty(page: Open, store: Library) -> None:
    reply = {"choices": [{"message": {"role": "assistant", "content": "hi"}}], "object": "chat.completion", "id": "1"}
    transcript = read(json.dumps(reply)).transcripts[0]
    app = page(PAGE, transcript=str(store.add(transcript).id))
    assert "sent empty" not in shown(app)


def test_counts_that_are_too_high_are_whole_in_the_help(page: Open, store: Library) -> None:
    app = page(PAGE, transcript=add(store, usage=[Usage(input=1), Usage(input=2), Usage(input=3)]))
    (card,) = [card for card in app.metric if card.label == "Not recorded"]
    assert card.value == "0" and card.delta.startswith("counts ") and card.delta.endswith(" too high")
    assert f"In tokens a call, {card.delta.replace('counts', 'counts are')}." in card.proto.help


@pytest.mark.parametrize(
    ("beyond", "said"),
    [
        (0, "{recorded:,} in window · {sent:,} billed"),
        (7_000, "{sent:,} as sent ({recorded:,} recorded, 7,000 not) · {sent:,} billed"),
        (-12, "{sent:,} as sent ({recorded:,} counted, 12 too much) · {sent:,} billed"),
    ],
)
def test_what_is_recorded_is_not_called_the_window_where_more_was_sent(
    page: Open, store: Library, beyond: int, said: str
) -> None:
    counted = replay(store.get(int(add(store))), {"strategy": {"kind": "as_captured"}}).calls["in_window"]
    usage = [Usage(input=tokens + beyond) for tokens in counted]
    app = page(PAGE, transcript=add(store, usage=usage), call="3")
    assert f"**Call 3** of 3 · {said.format(recorded=counted[2], sent=counted[2] + beyond)}" in shown(app)
    assert ("in window" in shown(app)) is (beyond == 0)
