"""Small chats as their services and savers export them."""

from __future__ import annotations

from typing import Any

Values = list[Any]
ROOT = "00000000-0000-4000-8000-000000000000"


def node(id: str, parent: str | None, role: str, content: Any, **more: Any) -> dict[str, Any]:
    """Return a node of a ChatGPT export; `content` is a text or a whole content."""
    if isinstance(content, str):
        content = {"content_type": "text", "parts": [content]}
    message = {"author": {"role": role, "name": more.pop("name", None)}, "content": content, "recipient": "all", **more}
    return {"id": id, "parent": parent, "children": [], "message": message}


def chatgpt(*nodes: dict[str, Any], current: str | None = None, **more: Any) -> dict[str, Any]:
    root = {"id": "root", "parent": None, "children": [], "message": None}
    mapping = {one["id"]: one for one in (root, *nodes)}
    for one in nodes:
        if one["parent"] in mapping:
            mapping[one["parent"]]["children"].append(one["id"])
    return {"title": "T", "create_time": 1693743118.6, "mapping": mapping, "current_node": current, "id": "c", **more}


def chatgpt_branched() -> dict[str, Any]:
    slug = {"metadata": {"model_slug": "gpt-4"}, "create_time": 1693743144.9}
    return chatgpt(
        node("s", "root", "system", ""),
        node("u1", "s", "user", "q1"),
        node("a1", "u1", "assistant", "first answer", **slug),
        node("a1b", "u1", "assistant", "second answer", **slug),
        node("u2", "a1b", "user", "q2"),
        node("a2", "u2", "assistant", "end", **slug),
        node("u2b", "a1b", "user", "q2 edited"),
        node("a2b", "u2b", "assistant", "other end", **slug),
        current="a2",
    )


def chatgpt_tools() -> dict[str, Any]:
    thoughts = {"content_type": "thoughts", "thoughts": [{"summary": "S", "content": "I think"}]}
    recap = {"content_type": "reasoning_recap", "content": "Thought for 5 s"}
    code = {"content_type": "code", "language": "python", "text": "print(1)"}
    output = {"content_type": "execution_output", "text": "1"}
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x", "width": 4}
    profile = {"content_type": "user_editable_context", "user_profile": "P", "user_instructions": "I"}
    return chatgpt(
        node("p", "root", "user", profile),
        node("hid", "p", "system", "not sent", weight=0),
        node("u1", "hid", "user", {"content_type": "multimodal_text", "parts": [picture, "what is it?"]}),
        node("t1", "u1", "assistant", thoughts),
        node("r1", "t1", "assistant", recap),
        node("c1", "r1", "assistant", code, recipient="python"),
        node("o1", "c1", "tool", output, name="python"),
        node("o2", "o1", "tool", "and more", name="python"),
        node("a1", "o2", "assistant", "It is one."),
        current="a1",
        default_model_slug="gpt-5",
    )


def claude_message(name: str, parent: str, sender: str, content: Any, **more: Any) -> dict[str, Any]:
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    told = {"uuid": name, "parent_message_uuid": parent, "sender": sender, "text": "", "content": blocks}
    return {**told, "created_at": "2024-10-29T15:59:38Z", "attachments": [], "files": [], **more}


def claude_ai(*messages: dict[str, Any], leaf: str | None = None) -> dict[str, Any]:
    return {
        "uuid": "chat",
        "name": "T",
        "model": "claude-x",
        "created_at": "2024-10-29T15:59:18Z",
        "current_leaf_message_uuid": leaf,
        "chat_messages": list(messages),
    }


def claude_ai_tools() -> dict[str, Any]:
    attachment = {"file_name": "a.txt", "extracted_content": "inside"}
    file = {"file_kind": "image", "file_uuid": "f1", "file_name": "p.png"}
    blocks = [
        {"type": "thinking", "thinking": "hm", "start_timestamp": "x"},
        {"type": "text", "text": "I search.", "citations": []},
        {"type": "tool_use", "id": None, "name": "web", "input": {"q": 1}},
        {"type": "tool_result", "name": "web", "content": [{"type": "text", "text": "found", "uuid": "z"}]},
        {"type": "token_budget"},
        {"type": "text", "text": "Here."},
    ]
    return claude_ai(
        claude_message("u1", ROOT, "human", "q", attachments=[attachment], files=[file]),
        claude_message("a1", "u1", "assistant", blocks),
        leaf="a1",
    )


def claude_ai_branched() -> dict[str, Any]:
    return claude_ai(
        claude_message("u1", ROOT, "human", "q1"),
        claude_message("a1", "u1", "assistant", "one"),
        claude_message("a2", "u1", "assistant", "two"),
        claude_message("u2", "a2", "human", "q2"),
        claude_message("a3", "u2", "assistant", "three"),
        leaf="a3",
    )


MARKDOWN = """# My chat

saved by hand

## kai

How do I do it?

## ChatGPT

Like this:

```
## kai
```

## A heading of the answer

and done.

## kai

Thanks.

## ChatGPT

Welcome.
"""

AIDER = """
# aider chat started at 2024-08-05 19:33:02

> /bin/aider a.py  \n> Aider v0.47  \n> Main model: gpt-4o with diff edit format  \n
#### fix the bug  \n####   \n#### it is in a.py  \n
I fix it.

> a quote of the docs

#### A heading

done

> Tokens: 1.2k sent, 345 received. Cost: $0.03 message, $0.10 session.  \n> Applied edit to a.py  \n
#### /add b.py  \n> Added b.py to the chat.  \n
#### /ask why?  \n
####  why?  \n
Because.

> Tokens: 492 sent, 1,278 cached, 72 received. Cost: $0.0026 message, $0.0026 session.  \n
#### /clear  \n
#### again  \n> ===== test session starts
not a word of the model
1 passed  \n
# aider chat started at 2024-08-06 10:00:00

> Aider v0.47  \n
# aider chat started at 2024-08-07 10:00:00

> Model: x/deepseek-coder\u26a1 with whole edit format  \n
#### hello  \n
Hi.

> Tokens: 2,937 sent, 2,728 cache hit, 45 received. Cost: $0.00018 message, $0.00018 session.  \n"""
