"""The guide to adding a format holds a reader that works as it stands."""

import re
import sys
import types
from pathlib import Path
from typing import Any

from core.readers import Report
from core.readers.choosing import Reader

GUIDE = Path(__file__).parents[1] / "core" / "readers" / "README.md"
LINES = """{"acme": 1, "role": "system", "text": "s"}
{"acme": 1, "role": "user", "text": "q"}
{"acme": 1, "role": "assistant", "text": "a", "model": "m", "usage": {"prompt_tokens": 7}}
{"acme": 1}"""


def example() -> Any:
    """Return the guide's reader as a module of the package."""
    [code] = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    module = types.ModuleType("core.readers.acme")
    module.__package__ = "core.readers"
    exec(compile(code, "README.md", "exec"), module.__dict__)
    return module


def test_the_example_reads() -> None:
    acme = example().FORMAT
    report = Report()
    [made] = Reader({"acme": acme}).stream(LINES, None, report)
    assert made.captured(0) == {
        "model": "m",
        "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "q"}],
    }
    assert (made.calls[0].usage.input, made.models) == (7, ("m",))
    assert (report.counts.read, report.counts.used, report.counts.broken) == (4, 3, 1)
    assert str(report.problems[0]) == "the text, line 4: this is no record of Acme. A text was expected."


def test_the_guide_is_short_and_names_files_that_exist() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 80
    for name in re.findall(r"`(\w+\.py)`", text):
        assert (GUIDE.parent / name).exists(), name
    assert "core.readers.acme" not in sys.modules
