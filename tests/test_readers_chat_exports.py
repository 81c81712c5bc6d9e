"""Exported chats: ChatGPT and claude.ai with their branches, chats saved as Markdown."""

import json
from pathlib import Path
from typing import Any

import pytest

from core.readers import read
from core.transcript import Fidelity
from tests import small_chats as small
from tests.small_runs import of, seen


def test_the_visible_branch_of_chatgpt_is_the_transcript() -> None:
    found = of([small.chatgpt_branched()])
    made = found.transcripts[0]
    assert (found.format, found.problems, made.title, made.session) == ("chatgpt_export", [], "T", "c")
    assert seen(found, 1) == [("user", "q1"), ("assistant", "second answer"), ("user", "q2")]
    assert [call.model for call in made.calls] == ["gpt-4", "gpt-4"]
    assert len(made.messages) == 4
    assert made.meta["alternatives"] == [
        {"after": 1, "messages": [{"role": "assistant", "content": "first answer"}]},
        {
            "after": 2,
            "messages": [
                {"role": "user", "content": "q2 edited"},
                {"role": "assistant", "content": "other end"},
            ],
        },
    ]
    assert list(made.notes) == [
        "2 other branches of the chat are kept in the transcript's alternatives, beside the visible one",
        "system prompt not recorded",
    ]
    assert [call.fidelity for call in made.calls] == [Fidelity.PARTIAL] * 2


def test_nodes_of_one_answer_are_one_reply() -> None:
    found = of(small.chatgpt_tools())
    made = found.transcripts[0]
    assert found.problems == []
    assert seen(found, 0) == [("system", "P\n\nI"), ("user", "image_url what is it?")]
    first, second = made.calls
    call = {"id": "call_0", "type": "function", "function": {"name": "python", "arguments": "print(1)"}}
    assert first.response == {
        "role": "assistant",
        "content": None,
        "reasoning_content": "I think",
        "tool_calls": [call],
    }
    assert made.messages[2] == {"role": "tool", "tool_call_id": "call_0", "name": "python", "content": "1\nand more"}
    assert second.response == {"role": "assistant", "content": "It is one."}
    assert (first.model, made.meta) == ("gpt-5", {"not_sent": 2})
    assert "of the system prompt only the user's own instructions are recorded" in made.notes


def test_instructions_beside_an_empty_message() -> None:
    told = {"about_user_message": "U", "about_model_message": "M"}
    chat = small.chatgpt(
        small.node("s", "root", "system", "", metadata={"user_context_message_data": told}),
        small.node("u", "s", "user", "q"),
        small.node("a", "u", "assistant", "r"),
        current="a",
    )
    assert seen(of(chat), 0) == [("system", "U\n\nM"), ("user", "q")]


@pytest.mark.parametrize("current", [None, "gone"])
def test_without_a_current_node_the_last_one_ends_the_branch(current: str | None) -> None:
    chat = {**small.chatgpt_branched(), "current_node": current}
    assert seen(of(chat), 1)[-1] == ("user", "q2 edited")


def test_rings_and_odd_nodes_do_not_stop_a_chat() -> None:
    chat = small.chatgpt(small.node("u", "a", "user", "q"), small.node("a", "u", "assistant", "r"), current="a")
    chat["mapping"] |= {"x": 5, "y": {"message": {"author": None}, "parent": "u"}}
    found = of(chat)
    assert len(found.transcripts[0].calls) == 1
    assert [str(problem) for problem in found.problems] == [
        "the text: 1 node of the chat is no object. It was left out."
    ]


def test_a_tool_that_answers_no_call_was_put_in_by_the_service() -> None:
    chat = small.chatgpt(
        small.node("u", "root", "user", "q"),
        small.node("t", "u", "tool", "a file", name="file_search"),
        small.node("a", "t", "assistant", "r"),
        current="a",
    )
    found = of(chat)
    assert (found.problems, seen(found, 0)) == ([], [("user", "q"), ("system", "a file")])


def test_a_chat_that_was_never_begun_is_told() -> None:
    found = of([small.chatgpt(), small.chatgpt_tools()])
    assert len(found.transcripts) == 1
    assert str(found.problems[0]).startswith("the text, item 1: the chat holds no messages.")


def test_nodes_that_name_only_their_children() -> None:
    chat = small.chatgpt_branched()
    for node in chat["mapping"].values():
        node.pop("parent")
    assert of(chat).transcripts[0].calls == of(small.chatgpt_branched()).transcripts[0].calls


def test_an_answer_of_claude_ai_is_taken_apart_at_its_tools() -> None:
    found = of(small.claude_ai_tools())
    made = found.transcripts[0]
    assert (found.format, found.problems, made.dialect) == ("claude_ai_export", [], "anthropic")
    assert len(made.calls) == 2
    asked, used, given, said = made.messages
    assert asked["content"] == [
        {"type": "text", "text": '<document name="a.txt">\ninside\n</document>'},
        {"type": "image", "source": {"type": "file", "file_id": "f1"}},
        {"type": "text", "text": "q"},
    ]
    call_id = used["content"][2]["id"]
    assert used["content"] == [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "I search."},
        {"type": "tool_use", "id": call_id, "name": "web", "input": {"q": 1}},
    ]
    found_text = [{"type": "text", "text": "found"}]
    assert given["content"] == [{"type": "tool_result", "tool_use_id": call_id, "content": found_text}]
    assert said == {"role": "assistant", "content": "Here."}
    assert list(made.notes) == ["system prompt not recorded", "tool definitions not recorded"]


def test_branches_of_claude_ai() -> None:
    made = of(small.claude_ai_branched()).transcripts[0]
    assert [message["content"] for message in made.messages] == ["q1", "two", "q2", "three"]
    assert made.meta["alternatives"] == [{"after": 1, "messages": [{"role": "assistant", "content": "one"}]}]
    assert made.models == ("claude-x",)


def test_where_the_text_of_a_message_stands() -> None:
    empty = [{"type": "text", "text": ""}]
    chat = small.claude_ai(
        small.claude_message("u", small.ROOT, "human", [], text="in text"),
        small.claude_message("a", "u", "assistant", empty, text="in text too"),
        small.claude_message("b", "a", "human", empty),
    )
    found = of(chat)
    assert [message["content"] for message in found.transcripts[0].messages] == ["in text", "in text too"]
    assert [str(problem) for problem in found.problems] == [
        "the text, message 3: the message holds nothing. It was left out."
    ]


def test_without_parents_the_messages_follow_one_another() -> None:
    chat = {**small.claude_ai_branched(), "current_leaf_message_uuid": "a1"}
    chat["chat_messages"].append({"sender": "nobody"})
    for message in chat["chat_messages"]:
        message.pop("parent_message_uuid", None)
        message["content"], message["text"] = [], message.get("uuid")
    found = of([chat])
    assert [message["content"] for message in found.transcripts[0].messages] == ["u1", "a1", "a2", "u2", "a3"]
    assert [problem.place for problem in found.problems] == ["item 1, message 6"]


def test_a_chat_saved_as_markdown(tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    path.write_text(small.MARKDOWN, encoding="utf-8")
    found = read(path)
    made = found.transcripts[0]
    assert (found.format, found.problems, made.session) == ("chatgpt_markdown", [], "notes")
    assert seen(found, 1)[0] == ("user", "How do I do it?")
    assert seen(found, 1)[1][1].startswith("Like this:") and seen(found, 1)[1][1].endswith("and done.")
    assert (found.counts.read, found.counts.used, found.counts.ignored) == (15, 13, 2)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("## Prompt:\nq\n\n## Response:\na\n\n## Prompt:\nr\n\n## Response:\nb", ["q", "a", "r", "b"]),
        ("**You:**\n\nq\n\n**ChatGPT:**\n\na", ["q", "a"]),
        ("#### You said:\nq\n#### ChatGPT said:\na", ["q", "a"]),
        ("# User\r\nq\r\n# Claude\r\na\r\n", ["q", "a"]),
    ],
)
def test_ways_to_name_the_speakers(text: str, said: list[str]) -> None:
    found = read(text)
    assert [message["content"] for message in found.transcripts[0].messages] == said


@pytest.mark.parametrize("text", ["# Install\n\nrun it\n\n# Model\n\nany\n", "## ChatGPT\n\nis a model.", "just text"])
def test_other_markdown_is_no_chat(text: str) -> None:
    assert read(text).transcripts == []


def test_markdown_that_is_named_a_chat_and_is_none() -> None:
    found = read("# Install\n\nrun it\n", format="chatgpt_markdown")
    assert str(found.problems[0]).startswith("the text: no speakers were found in it.")
    assert (found.counts.read, found.counts.broken) == (2, 2)


@pytest.mark.parametrize(
    ("name", "calls", "messages", "others"),
    [
        ("chatgpt-export/mitkury-branch-example.json", 2, 4, 1),
        ("chatgpt-export/rbellamy-conversations-one.json", 3, 6, 0),
        ("claude-ai-export/osteele-bakery.json", 2, 4, 0),
        ("chatgpt-markdown/kekyo-c-compiler-init-ja.md", 3, 6, 0),
    ],
)
def test_real_chats(transcripts_folder: Path, name: str, calls: int, messages: int, others: int) -> None:
    found = read(transcripts_folder / name)
    [made] = found.transcripts
    assert found.problems == []
    assert (len(made.calls), len(made.messages), len(made.meta.get("alternatives", []))) == (calls, messages, others)


def test_the_visible_branch_of_a_real_chat(transcripts_folder: Path) -> None:
    path = transcripts_folder / "chatgpt-export/mitkury-branch-example.json"
    [chat] = json.loads(path.read_text(encoding="utf-8"))
    texts: list[Any] = []
    name = chat["current_node"]
    while name:
        texts.insert(0, (chat["mapping"][name]["message"] or {}).get("content", {}).get("parts", [""])[0])
        name = chat["mapping"][name]["parent"]
    assert [message["content"] for message in read(path).transcripts[0].messages] == [text for text in texts if text]
