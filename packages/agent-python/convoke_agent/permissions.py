"""Requests for permission and their answers."""

from __future__ import annotations

from .leg import Leg
from .names import ref_of_request
from .pending import Pending


class Permissions:
    """A request has the ref of its step.

    One permission is for one execution (D-361), and another call of this tool and input may have used it up: the step
    is asked about once more then, under a ref of its own (D-766).
    """

    def __init__(self, leg: Leg) -> None:
        self._leg = leg

    def answer_for(self, step: str) -> dict | None:
        """The last answer about a step."""
        count = self._count_of(step)
        return None if count == 0 else self._answer_to(ref_of_request(step, count))

    def ask(self, step: str, tool: str, input: object) -> Pending:
        """Asks a person. The value never arrives in this leg (L9)."""
        ref = ref_of_request(step, self._count_of(step) + 1)
        return self._leg.raise_request({"type": "permission_request", "ref": ref, "tool_name": tool, "tool_input": input})

    def _answer_to(self, ref: str) -> dict | None:
        answer = self._leg.replay.answers.get(ref)
        return answer if answer is not None and answer["kind"] == "permission" else None

    def _count_of(self, step: str) -> int:
        count = 0
        while self._answer_to(ref_of_request(step, count + 1)) is not None:
            count += 1
        return count
