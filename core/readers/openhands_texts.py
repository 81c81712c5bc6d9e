"""The texts in which OpenHands puts observations, recalled context and, before it called functions, actions."""

from __future__ import annotations

from ..wire import Wire, text_of
from .fields import inner, objects, text

FAILED = "[Error occurred in processing last action]"
REJECTED = "[Last action has been rejected by the user]"


def observation_text(kind: str, event: Wire) -> str:
    """Return what the agent is told of an observation."""
    extras, said = inner(event, "extras"), text_of(event.get("content"))
    if kind == "run":
        return _command(said, inner(extras, "metadata"))
    if kind == "edit":
        return text(extras, "formatted_output_and_error") or said
    if kind == "error":
        return f"{said}\n{FAILED}"
    if kind == "user_rejected":
        return f"{said}\n{REJECTED}"
    return said


def _command(said: str, metadata: Wire) -> str:
    lines = [f"{text(metadata, 'prefix')}{said}{text(metadata, 'suffix')}"]
    if text(metadata, "working_dir"):
        lines.append(f"[Current working directory: {metadata['working_dir']}]")
    if text(metadata, "py_interpreter_path"):
        lines.append(f"[Python interpreter: {metadata['py_interpreter_path']}]")
    code = metadata.get("exit_code")
    if isinstance(code, int) and code != -1:
        lines.append(f"[Command finished with exit code {code}]")
    return "\n".join(lines)


def recalled_text(event: Wire) -> str:
    """Return the context that was recalled, part by part; empty if there is none."""
    extras = inner(event, "extras")
    parts = [text(extras, key) for key in ("repo_instructions", "additional_agent_instructions", "date")]
    if text(extras, "repo_name"):
        parts.insert(0, f"{extras['repo_name']} {text(extras, 'repo_directory')}".strip())
    hosts = inner(extras, "runtime_hosts")
    parts += [f"{host} (port {port})" for host, port in hosts.items()]
    parts += [text(agent, "content") for agent in objects(extras, "microagent_knowledge")]
    return "\n\n".join(part for part in parts if part)


def action_text(kind: str, event: Wire) -> str:
    """Return an action as the agent wrote it before it called functions: its thought and the code in tags."""
    arguments = inner(event, "args") or event
    thought = text(arguments, "thought")
    command, code = text(arguments, "command"), text(arguments, "code")
    if kind == "run" and command:
        act = f"<execute_bash>\n{command}\n</execute_bash>"
    elif kind == "run_ipython" and code:
        act = f"<execute_ipython>\n{code}\n</execute_ipython>"
    elif kind in ("browse", "browse_interactive"):
        act = f"<execute_browse>\n{text(arguments, 'browser_actions', 'url')}\n</execute_browse>"
    elif kind == "message":
        act = text(arguments, "content") or text(event, "content", "message")
    elif kind in ("finish", "think"):
        act = text(arguments, "final_thought", "content")
    else:
        shown = ", ".join(text_of(arguments[key]) for key in ("path", "content") if arguments.get(key) is not None)
        act = f"[{kind}] {shown}".strip()
    return "\n".join(part for part in dict.fromkeys((thought, act)) if part)
