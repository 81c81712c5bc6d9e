"""The command line of the engine: replay, verify, schema.

Exit codes: 0 all is well, 1 a golden call gave other bytes or could not be checked, 2 the input cannot be used, 3 the
output cannot be written.

Calls are counted from 1 where a person reads them, and from 0 in JSON, as the `call` of a golden call is.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from .command_input import file_path
from .command_line import command_parser, run
from .config import Configuration, load_config
from .conversion_losses import conversion_told
from .errors import PromptInspectorError
from .hint_notes import CallNotes
from .readers import read
from .replay import Replay, replay
from .rule_conflicts import rule_report
from .spans import SpanKind
from .transcript import Transcript
from .verification import first_difference, golden, verify
from .wording import counted


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    return run(_parser(), arguments)


def _parser() -> argparse.ArgumentParser:
    parser = command_parser(__package__, __doc__)  # installed, the package has another name
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    replays = commands.add_parser("replay", help="replay transcripts under a configuration, one line a call")
    replays.add_argument("config", type=file_path)
    replays.add_argument("transcripts", nargs="+", type=file_path)
    replays.add_argument("--json", action="store_true", help="one JSON object a call instead of a table")
    replays.set_defaults(run=_replay)
    proof = commands.add_parser("verify", help="replay the golden calls of an exported configuration")
    proof.add_argument("config", type=file_path)
    proof.add_argument("transcripts", nargs="+", type=file_path)
    proof.add_argument(
        "--against", type=file_path, metavar="FILE", help="another configuration, to show where bytes differ"
    )
    proof.set_defaults(run=_verify)
    schema = commands.add_parser("schema", help="print the JSON Schema of configurations")
    schema.set_defaults(run=_schema)
    return parser


def _transcripts(paths: Sequence[Path]) -> list[Transcript]:
    found = []
    for path in paths:
        result = read(path)
        for problem in result.problems:
            print(problem, file=sys.stderr)
        if not result.transcripts:
            raise PromptInspectorError(f"{path.name} holds no transcript that can be read.")
        found += result.transcripts
    return found


def _replay(options: argparse.Namespace) -> int:
    config = load_config(options.config)
    for transcript in _transcripts(options.transcripts):
        made = replay(transcript, config)
        print_rows = _json_rows if options.json else _table
        print_rows(made)
        # JSON on standard output stays one object a call.
        told = conversion_told(made)
        for sentence in (*([told] if told else ()), *rule_report(made).sentences, *_hint_sentences(made)):
            print(sentence, file=sys.stderr if options.json else sys.stdout)
    return 0


def _hint_sentences(made: Replay) -> list[str]:
    """Return what captured hints name and their requests do not have, each sentence once, with its calls."""
    notes, calls = CallNotes(made), range(len(made.transcript.calls))
    found: dict[str, list[int]] = {}
    for call in calls:
        for sentence in notes[call]:
            found.setdefault(sentence, []).append(call + 1)
    return [
        f"Call {numbers[0]}" + (f" and {len(numbers) - 1:,} more" if len(numbers) > 1 else "") + f": {sentence}"
        for sentence, numbers in found.items()
    ]


def _json_rows(made: Replay) -> None:
    columns = [
        name for name in made.calls if name.split(".")[0] in ("in_window", "entered", "status", "excess", "kind")
    ]
    for call in range(len(made.transcript.calls)):
        row = {name: made.calls[name][call] for name in columns}
        print(
            json.dumps({"transcript": made.transcript.title, "call": call} | {k: v for k, v in row.items() if v != 0})
        )


def _table(made: Replay) -> None:
    kinds = [kind for kind in SpanKind if any(made.calls[f"kind.{kind}"])]
    print(f"# {made.transcript.title}: {counted(len(made.transcript.calls), 'call')}, {made.config.strategy.kind}")
    print("  ".join(["call", f"{'status':14s}", "in_window", " entered", *(f"{kind:>15s}" for kind in kinds)]))
    for call in range(len(made.transcript.calls)):
        cells = [f"{made.calls[f'kind.{kind}'][call]:15,}" for kind in kinds]
        status, sent, entered = (made.calls[name][call] for name in ("status", "in_window", "entered"))
        print("  ".join([f"{call + 1:4d}", f"{status:14s}", f"{sent:9,}", f"{entered:8,}", *cells]))


def _verify(options: argparse.Namespace) -> int:
    config, transcripts = load_config(options.config), _transcripts(options.transcripts)
    if not golden(config):
        raise PromptInspectorError(
            f"{options.config.name} has no golden calls to verify; export it from the inspector."
        )
    failed = 0
    for checked in verify(config, transcripts):
        print(checked)
        failed += not checked.holds
    if options.against is not None:
        _compare(config, load_config(options.against), transcripts)
    return 1 if failed else 0


def _compare(config: Configuration, other: Configuration, transcripts: Sequence[Transcript]) -> None:
    for transcript in transcripts:
        ours, theirs = replay(transcript, config), replay(transcript, other)
        for call in range(len(transcript.calls)):
            difference = first_difference(ours.request(call), theirs.request(call))
            if difference is not None:
                print(f"{transcript.title}, call {call + 1}: {difference}")
                break
        else:
            print(f"{transcript.title}: {counted(len(transcript.calls), 'call')} compared, all send the same bytes.")


def _schema(options: argparse.Namespace) -> int:
    print(json.dumps(Configuration.model_json_schema(), indent=2, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
