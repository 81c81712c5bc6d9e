"""What production does with a configuration: the lines that load it, and the packages that it needs."""

from __future__ import annotations

from core.config import Configuration
from core.deepseek_vocabulary import DEEPSEEK, EXTRA

NEEDED = ("tiktoken", "pydantic", "genai-prices", "google-re2")
"""The packages that come with the distribution."""
_CLIENTS = {
    "anthropic": "client.messages.create(**result.request)",
    "openai_responses": "client.responses.create(**result.request)",
    "gemini": "post(result.request)",
}
_OPENAI = "client.chat.completions.create(**result.request)"


def snippet(config: Configuration, file: str) -> str:
    """Return the lines that load a configuration from its file and assemble a request."""
    call = _CLIENTS.get(config.model.dialect or "", _OPENAI)
    return (
        "from prompt_inspector.runtime import ContextRuntime\n\n"
        f'runtime = ContextRuntime.load("{file}")\n\n'
        "result = runtime.assemble(request)   # the full history\n"
        f"response = {call}\n\n"
        "if result.excess:\n"
        '    print(f"{result.excess} tokens over:", result.blockers)'
    )


def needs(config: Configuration) -> str:
    """Return in sentences what must be installed where a configuration is loaded."""
    *first, last = NEEDED
    plain = f"`pip install .` brings `prompt_inspector` with {', '.join(first)} and {last}; no network is needed"
    if config.counter.encoding != DEEPSEEK:
        return f"{plain}."
    return (
        f"{plain}; this configuration also needs the extra `{EXTRA}` (`pip install '.[{EXTRA}]'`): it counts with"
        " DeepSeek's vocabulary, and is refused without it."
    )
