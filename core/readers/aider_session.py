"""One session of an aider history: its text as blocks, its blocks as messages and calls."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ..transcript import Transcript, Usage
from .event_log import EventLog
from .formats import Reading
from .times import parse_time

ASKING = ("ask", "code", "architect", "help", "context")
"""Commands whose argument is a question to a model."""
CLEARING = ("clear", "reset")
USER, PROGRAM, MODEL = "user", "program", "model"
_MARKED = re.compile(
    r"^(?:(?P<user>####(?: .*)?  $(?:\n####(?: .*)?  $)*)|(?P<program>>.*  $(?:\n>.*  $)*)|(?P<open>> .*$))",
    re.MULTILINE,
)
"""Lines of the user and of the program, which end with two spaces; or a line that may begin a longer message."""
_PLAIN = re.compile(r"^(?:(?P<user>####(?: .*)?$(?:\n####(?: .*)?$)*)|(?P<program>>.*$(?:\n>.*$)*))", re.MULTILINE)
"""The same in a file whose lines were stripped."""
_STRICT = re.compile(r"^#### .*  $", re.MULTILINE)
_MODEL_NAME = re.compile(r"^> (?:Main model|Models?): ([\w./@:-]+)", re.MULTILINE)
_TOKENS = re.compile(r"^> Tokens: .*$", re.MULTILINE)
_FIGURE = re.compile(r"([\d.,]{1,20})([kM]?) (sent|received|cache write|cache hit|cached)\b")
_SAYS = re.compile(
    r"^> (?:Tokens|Applied|Commit|Added|Dropped|Cost|Use |Git |Repo|Did |Edit|Allow|Only|Skip|The LLM|\^C)",
    re.MULTILINE,
)
"""How the program begins what it says, where a line might be a quote in an answer."""
_SCALES = {"": 1, "k": 1_000, "M": 1_000_000}


class Block(NamedTuple):
    """Neighbouring lines of one speaker, and where they begin in the session."""

    who: str
    text: str
    start: int


def read_session(reading: Reading, started: str, text: str, line: int) -> Iterator[Transcript]:
    """Yield the session's transcript, if a model was asked in it, and count its lines, blank ones left out."""
    session = _Session(reading, started, text, line)
    for block in blocks(text):
        session.take(block)
    made = session.transcript()
    counts, filled = reading.report.counts, lines_in(text)
    used = session.used if made is not None else 0
    counts.read += filled
    counts.used += used
    counts.ignored += filled - used
    if made is not None:
        yield made


def blocks(text: str) -> Iterator[Block]:
    """Yield the blocks of a session."""
    pattern = _MARKED if _STRICT.search(text) or "####" not in text else _PLAIN
    outputs = _Outputs(text)
    place, at = 0, 0
    while found := pattern.search(text, at):
        start, end = found.span()
        who = found.lastgroup or ""
        if who == "open":
            who, end = PROGRAM, outputs.end_after(end)
            if not end:
                at = found.end()
                continue
        if text[place:start].strip():
            yield Block(MODEL, text[place:start], place)
        yield Block(who, text[start:end], start)
        place = at = end
    if text[place:].strip():
        yield Block(MODEL, text[place:], place)


class _Outputs:
    """Where messages of the program that take several lines end: at the next line that two spaces end."""

    def __init__(self, text: str) -> None:
        self._text = text + "\n"
        self._start, self._end, self._found = 0, 0, 0

    def end_after(self, start: int) -> int:
        """Return where a message ends whose first line ends at `start`; 0 where that line is a quote."""
        if not self._start <= start < self._end:
            self._start, (self._end, self._found) = start, self._search(start)
        return self._found

    def _search(self, start: int) -> tuple[int, int]:
        end = start
        while (end := self._text.find("  \n", end)) >= 0:
            begin = self._text.rfind("\n", 0, end) + 1
            line = self._text[begin:end]
            if line.strip():
                return begin, 0 if line.startswith((">", "#### ")) else end + 2
            end += 3
        return len(self._text), 0


def lines_in(text: str) -> int:
    """Return how many lines are not blank."""
    return sum(map(bool, map(str.strip, text.split("\n"))))


class _Session:
    def __init__(self, reading: Reading, started: str, text: str, line: int) -> None:
        self.log = EventLog("openai_chat", reading)
        self.log.may_have_tools = False
        self.log.started = parse_time(started)
        self.name = started
        self.used = 0
        self._text = text
        self._line = line
        self._counted = 0
        self._model = ""
        self._command = ""
        self._asked = False
        """A question of the user waits for its answer."""
        self._billed = True
        """The last call has its usage, or there is none yet."""
        self._rounded = False
        self._reply: list[Block] = []

    def take(self, block: Block) -> None:
        """Take in what one speaker said."""
        if block.who == USER:
            self._end_reply()
            self._user(block)
        elif block.who == PROGRAM:
            self._program(block)
        else:
            self._reply.append(block)

    def _place(self, block: Block) -> str:
        self._line += self._text.count("\n", self._counted, block.start)
        self._counted = max(block.start, self._counted)
        return f"line {self._line}"

    def _user(self, block: Block) -> None:
        said = "\n".join(line[4:].removeprefix(" ").rstrip() for line in block.text.split("\n")).strip()
        self._command = ""
        if said.startswith(("/", "!")) and "\n" not in said:
            self._command, self._asked = said, False
            name = said[1:].partition(" ")[0]
            if len(name) >= 3 and any(known.startswith(name) for known in CLEARING):
                self.log.rewrite([], "the chat was cleared")
                self.used += 1
        elif said and said != "<blank>":
            self.log.say({"role": "user", "content": said}, self._place(block))
            self._asked = True
            self.used += lines_in(block.text)

    def _program(self, block: Block) -> None:
        if named := _MODEL_NAME.findall(block.text):
            self._model = named[-1]
            self.used += len(named)
        if "> Tokens: " in block.text:
            self._end_reply(billed=True)
            for found in _TOKENS.finditer(block.text):
                self._bill(found.group(), block)
        elif self._reply:
            self._reply.append(block)

    def _bill(self, text: str, block: Block) -> None:
        """Give the last call what it cost; where the model said nothing, the call is this line alone."""
        if self._billed:
            self.log.reply([], self._place(block), model=self._model)
        self.log.with_usage(self.log.calls - 1, self._usage(text))
        self._asked, self._billed = False, True
        self.used += 1

    def _usage(self, text: str) -> Usage:
        found: dict[str, int] = {}
        for number, scale, what in _FIGURE.findall(text):
            try:
                found[what] = round(float(number.replace(",", "")) * _SCALES[scale])
            except (ValueError, OverflowError):
                continue
            self._rounded = self._rounded or bool(scale)
        sent, written = found.get("sent"), found.get("cache write")
        read = found.get("cache hit", found.get("cached"))
        cached = (read or 0) + (written or 0)
        apart = sent is not None and cached > sent  # early versions left cached tokens out of those sent
        total = sent + cached if sent is not None and apart else sent
        return Usage(input=total, cache_read=read, cache_write=written, output=found.get("received"))

    def _end_reply(self, billed: bool = False) -> None:
        """Add what the model said since the last question, with the quotes in it."""
        parts, self._reply = self._reply, []
        while parts and parts[-1].who == PROGRAM:
            parts.pop()
        kept = [part for part in parts if part.who == MODEL or not _SAYS.search(part.text)]
        said = "\n".join(part.text.strip("\n") for part in kept).strip("\n")
        if not said or not self._may_answer(billed):
            return
        self.log.reply([{"role": "assistant", "content": said}], self._place(kept[0]), model=self._model)
        self._asked, self._billed = False, False
        self.used += sum(lines_in(part.text) for part in kept)

    def _may_answer(self, billed: bool) -> bool:
        """Tell whether a model was asked. What a command asks is its argument; of others only the bill tells."""
        if not self._command:
            return billed or bool(self.log.builder.messages)
        name, _, rest = self._command[1:].partition(" ")
        asks = self._command.startswith("/") and len(name) >= 2 and any(known.startswith(name) for known in ASKING)
        asks = asks and bool(rest.strip())
        if asks or billed:
            self.log.say({"role": "user", "content": rest.strip() if asks else self._command})
            self.used += 1
            self._command = ""
        return asks or billed

    def transcript(self) -> Transcript | None:
        """Return the session; None if no model was asked. A question at its end was asked and has no answer."""
        self._end_reply()
        if not self.log.builder.messages and not self.log.calls:
            return None
        if self._asked:
            self.log.reply([], model=self._model)
        if self._rounded:
            self.log.notes.append("token figures are rounded, as aider prints them")
        self.log.notes.append("files in the chat and the map of the repository are not recorded")
        return self.log.transcript(session=self.name)
