"""What a replay did not ask for: a step or a call that is new while the run has others that its function left out."""

from __future__ import annotations

from .failures import LegOver, Misuse
from .leg import Leg
from .names import digest_of


async def continue_after_edit(leg: Leg, left: list[str], name: str, is_repeatable: bool) -> None:
    """Handles stored results that the replay did not ask for (L15, D-173).

    If the agent was edited, a person decides (D-174).
    """
    question = (
        f"The agent was edited during this run. It has not asked for the results of {_named(left)} and is about to "
        f'start "{name}". If that is the same step under a new name, it would run twice.'
    )
    is_doubtful = leg.replay.has_effect_left and not is_repeatable
    await _decide(leg, left, question, is_doubtful and bool(leg.start.get("agent_changed")))
    leg.replay.forget_left_over()
    leg.send({"type": "custom", "name": "replay_differs", "data": {"left_over": left}})


async def call_after_edit(leg: Leg, left: list[str], agent: str) -> None:
    """Handles a new call while the run has called agents that the replay did not ask for (D-924).

    An input that differs in every leg would start one run after the other.
    """
    if not leg.start.get("agent_changed"):
        raise Misuse(
            f"What a call is given must be the same in every leg: the run has called {_named(left)}, and now calls "
            f'"{agent}" with another input. Take what differs, such as a time, from a step.'
        )
    question = (
        f"The agent was edited during this run. It has not asked for {_named(left)} and is about to call "
        f'"{agent}". If that is the same call with another input, it would run twice.'
    )
    await _decide(leg, left, question, True)
    leg.replay.forget_left_calls()


async def _decide(leg: Leg, left: list[str], question: str, is_doubtful: bool) -> None:
    """Asks a person where it is doubtful, and ends the run if that person does not want it to continue."""
    ref = f"edited {digest_of(left)}"
    answer = leg.replay.answers.get(ref)
    if answer is None and is_doubtful:
        options = ["Continue", "End the run"]
        asked = {"type": "user_question", "ref": ref, "question": question, "options": options}
        await leg.outside_step(leg.raise_request(asked))
    if answer is not None and answer.get("values", [""])[0] != "Continue":
        leg.fail(Misuse("A person ended the run because the agent was edited during it."))
        raise LegOver()


def _named(refs: list[str]) -> str:
    return ", ".join(f'"{ref}"' for ref in refs)
