"""Data sets, benchmark runs, logs and chats damaged in seeded ways: reading never raises, and ends soon."""

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from core.readers import format_names, read
from tests import small_agent_runs as agents
from tests import small_chats as chats
from tests import small_runs as small
from tests.test_readers_bundles import zipped
from tests.test_readers_inspect_ai import archive
from tests.test_readers_mutations import MUTATIONS, flipped, shuffled, swapped, truncated, use
from tests.work import read_in_bounds

VALUES: dict[str, list[Any]] = {
    "sharegpt": small.SHAREGPT,
    "openai_finetune": [*small.FINE_TUNING, *small.PREFERENCE],
    "lmsys_arena": [*small.ARENA, *small.MT_BENCH_ANSWER],
    "tau_bench": small.TAU,
    "tau2_bench": [*small.TAU2, *small.VOICE],
    "agentbench": [*small.AGENTBENCH, *small.EPISODES],
    "toolbench": small.toolbench(),
    "toolbench_eval": small.tooleval(),
    "swe_agent": [agents.swe_agent(), agents.swe_agent("query"), *agents.SWE_AGENT_0, *agents.NEBIUS],
    "mini_swe_agent": [agents.mini_swe_agent()],
    "openhands": [agents.openhands_row(), agents.openhands(), agents.openhands_old(), agents.openhands_sdk()],
    "inspect_ai": [agents.inspect_log(), agents.inspect_log(with_requests=False)],
    "harbor_atif": agents.ATIF,
    "muse_code": agents.muse_code(),
    "chatgpt_export": [chats.chatgpt_branched(), [chats.chatgpt_tools()]],
    "claude_ai_export": [chats.claude_ai_branched(), [chats.claude_ai_tools()]],
    "prompt_map": [{f"Write a poem about number {n} in four lines, please. " * 3: "rhyme" for n in range(3)}],
}
TEXTS = {"aider": chats.AIDER, "chatgpt_markdown": chats.MARKDOWN}


def looked_at(content: bytes, name: str | None = None) -> None:
    use(read_in_bounds(content, name))


def lines(name: str) -> bytes:
    return "\n".join(map(json.dumps, VALUES[name])).encode()


@pytest.mark.parametrize("name", VALUES)
def test_undamaged_values_are_read_in_full(name: str) -> None:
    for value in VALUES[name]:
        found = read(json.dumps(value), name)
        assert found.counts.broken == (name == "lmsys_arena" and value in small.MT_BENCH_ANSWER)
        use(found)


@pytest.mark.parametrize("mutate", MUTATIONS, ids=lambda mutate: mutate.__name__)
@pytest.mark.parametrize("name", VALUES)
def test_damaged_values_are_read_as_far_as_they_go(name: str, mutate: Callable[..., bytes]) -> None:
    text = lines(name)
    for seed in range(60 if mutate is swapped else 12):
        damaged = mutate(text, random.Random(seed))
        looked_at(damaged)
        looked_at(damaged, name)


@pytest.mark.parametrize("mutate", (truncated, flipped, shuffled), ids=lambda mutate: mutate.__name__)
@pytest.mark.parametrize("name", TEXTS)
def test_damaged_texts_are_read_as_far_as_they_go(name: str, mutate: Callable[..., bytes]) -> None:
    for seed in range(40):
        damaged = mutate(TEXTS[name].encode(), random.Random(seed))
        looked_at(damaged)
        looked_at(damaged, name)


@pytest.mark.parametrize("mutate", (truncated, flipped), ids=lambda mutate: mutate.__name__)
def test_damaged_archives_are_read_as_far_as_they_go(mutate: Callable[..., bytes]) -> None:
    content = zipped({**archive(), "more/a.json": lines("sharegpt"), "b.md": chats.AIDER})
    log = zipped(archive())
    for seed in range(150):
        looked_at(mutate(content, random.Random(seed)))
        looked_at(mutate(log, random.Random(seed)))


@pytest.mark.parametrize("name", format_names())
def test_any_value_can_be_read_as_any_format(name: str) -> None:
    for other in VALUES:
        looked_at(lines(other), name)
    for text in TEXTS.values():
        looked_at(text.encode(), name)
    for odd in (b"", b"null", b"[]", b"{}", b"[[]]", b"[null, 1]", b'"x"', b"\x00", zipped({"a.json": b"[]"})):
        looked_at(odd, name)
