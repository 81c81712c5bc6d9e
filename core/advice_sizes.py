"""How large a prompt is when it is compared with the budget: what was counted, and what is not recorded of it.

A system prompt or tools that a recording lacks are sent all the same, whatever a strategy does: they take from the
budget what recorded text may have. A count that was too high, as the provider reported fewer tokens, gives some of it
back. All that is advised on asks the same figure, `allowed`, so no two answers on one prompt contradict each other.
"""

from __future__ import annotations

from dataclasses import dataclass

from .calibration import LEAST_GROWTH, SAME, CalibratedCall
from .wording import agreeing, counted

__all__ = ["Sizes", "unrecorded_parts"]

_PARTS = {
    "system prompt not recorded": "the system prompt",
    "tool definitions not recorded": "the tool definitions",
    "prompt not recorded": "the prompt",
    "prompts not recorded": "the prompts",
}
"""What the notes of a recording say it lacks."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """The budget of one call, in tokens, beside what is not recorded of its prompt.

    `not_recorded` is beyond the `counted` tokens of the prompt as captured: negative where the count was too high,
    None where nothing was reported. `lacks` names the parts that the recording is known to lack.
    """

    budget: int
    not_recorded: int | None = None
    counted: int = 0
    lacks: tuple[str, ...] = ()

    @classmethod
    def of(cls, budget: int, call: CalibratedCall, lacks: tuple[str, ...] = ()) -> Sizes:
        """Return the sizes of a call as it was calibrated."""
        return cls(budget, call.not_recorded, call.counted, lacks)

    @property
    def hidden(self) -> int:
        """Tokens that are sent and not recorded; 0 where nothing is known of them, or the count was too high."""
        return max(0, self.not_recorded or 0)

    @property
    def allowed(self) -> int:
        """How many tokens, as counted here, a prompt within the budget has; 0 or less where nothing recorded fits."""
        beyond = self.not_recorded or 0
        if beyond >= 0 or not self.counted:
            return self.budget - max(0, beyond)
        return self.budget * self.counted // max(1, self.counted + beyond)

    @property
    def is_unknown(self) -> bool:
        """Whether the recording lacks parts of which nobody knows the size."""
        return self.not_recorded is None and bool(self.lacks)

    @property
    def is_hopeless(self) -> bool:
        """Whether what is not recorded takes the whole budget, so that no strategy can help."""
        return self.hidden > 0 and self.allowed <= 0

    def over(self, tokens: int) -> int:
        """Return by how many tokens a prompt of so many is over the budget; negative is free."""
        return tokens - self.allowed

    def fits(self, tokens: int) -> bool:
        """Return whether a prompt of so many counted tokens is within the budget."""
        return self.over(tokens) <= 0

    def free(self, tokens: int) -> float:
        """Return how much of the budget a prompt of so many counted tokens leaves free: 0.2 is a fifth.

        Nothing is free of a budget of 0.
        """
        whole = self.budget if self.hidden else self.allowed
        return -self.over(tokens) / whole if whole > 0 else 0.0

    def of_budget(self, tokens: int) -> str:
        """Return a number of counted tokens against the budget: "26,975 and about 35,098 not recorded of 30,000"."""
        if self.hidden:
            return f"{tokens:,} and about {self.hidden:,} not recorded of {counted(self.budget, 'token')}"
        if self.allowed != self.budget:
            return f"{tokens:,} of {counted(self.allowed, 'token')} as counted here, {self.budget:,} as reported"
        return f"{tokens:,} of {counted(self.budget, 'token')}"

    @property
    def beside(self) -> str:
        """What has to be said after a comparison with the budget; "" where all is recorded."""
        if self.hidden:
            return (
                f", with about {counted(self.hidden, 'token')} that {agreeing(self.hidden, 'is', 'are')} not recorded"
            )
        if self.allowed != self.budget:
            fewer = "the provider reported fewer tokens than are counted here"
            return f" ({fewer}, so {self.allowed:,} of these fit)"
        if self.is_unknown:
            return f", without {self.parts}, which {self._are} not recorded"
        return ""

    def unseen(self, total: int, has_fixed_part: bool) -> str:
        """Return what is not recorded of the fixed part of a prompt of `total` tokens, as a sentence; "" if nothing."""
        if self.lacks:
            return f"{self.parts} {self._are} not recorded"
        if has_fixed_part or not self.lacks_some(total):
            return ""
        return f"about {counted(self.hidden, 'token')} of the prompt are not recorded"

    def lacks_some(self, total: int) -> bool:
        """Whether a prompt of `total` recorded tokens lacks more than formulas may be off by."""
        return bool(self.lacks) or self.hidden > max(LEAST_GROWTH, SAME * total)

    @property
    def parts(self) -> str:
        """What the recording lacks, as part of a sentence; "" where that is not known."""
        return " and ".join(self.lacks)

    @property
    def _are(self) -> str:
        return "are" if len(self.lacks) > 1 or self.parts.endswith("s") else "is"


def unrecorded_parts(notes: tuple[str, ...]) -> tuple[str, ...]:
    """Return the parts of prompts that the notes of a recording say it lacks."""
    return tuple(_PARTS[note] for note in notes if note in _PARTS)
