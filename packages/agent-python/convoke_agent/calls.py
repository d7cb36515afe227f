"""Runs of other agents that a function starts and waits for."""

from __future__ import annotations

import re

from .durations import end_of_wait
from .edits import call_after_edit
from .failures import Misuse
from .json_values import dump, json_copy
from .names import digest_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .leg import Leg
    from .steps import Steps

_BUDGET = ("max_tokens", "max_cost")


class Called:
    """The result of a called run.

    One that fails, is cancelled or is not allowed is a value, too: it does not end the caller.
    """

    def __init__(self, settled: dict) -> None:
        self.ok: bool = settled["ok"]
        #: Its answer; empty without one.
        self.text: str = settled.get("text", "")
        #: Whether the text is only the beginning of the answer.
        self.is_cut: bool = settled.get("is_cut", False)
        #: The output of the agent, if it is more than a text.
        self.output: object = settled.get("output")
        #: `cancelled`, `timed_out`, `refused`, `denied`, or why the called run failed. None if it is ok.
        self.code: str | None = settled.get("code")
        self.message: str | None = settled.get("message")
        #: None if no run was started.
        self.run_id: str | None = settled.get("run_id")
        self.session_id: str | None = settled.get("session_id")


async def call(steps: Steps, leg: Leg, agent: str, input: dict, timeout: object, budget: dict | None) -> Called:
    """Calls another agent.

    It is known by agent and input, as an approval is: an input that differs would be another run in every leg, so it is
    refused (D-924).
    """
    if not isinstance(agent, str) or not re.fullmatch(r"[a-z0-9-]{1,64}", agent):
        raise Misuse(
            'The name of an agent must be 1 to 64 characters of a-z, 0-9 and "-", '
            f"and {dump(agent) if isinstance(agent, str) else str(agent)} is not."
        )
    if not isinstance(input, dict):
        raise Misuse(f'call "{agent}": the input must be a dict, such as {{"prompt": "Go."}}')
    request: dict = {} if timeout is None else end_of_wait(f'call "{agent}"', timeout)
    given = json_copy(input, "the input of a call")
    if budget is not None:
        request["budget"] = _ceiling_of(agent, budget)
    ref = steps.ref_of("call", f"call {agent} {digest_of(given)}")
    known = leg.replay.take_call(ref)
    if known is None and leg.replay.left_calls:
        await _may_call(leg, agent)
    if known is None or known["state"] != "settled":
        await leg.raise_request({"type": "wait", "ref": ref, "kind": "run", "name": agent, "input": given, **request})
    await leg.deliver_wait(ref, known["number"])  # type: ignore[index]
    return Called(known)  # type: ignore[arg-type]


async def _may_call(leg: Leg, agent: str) -> None:
    """Waits until every stored result has reached the function: by then it has asked for the calls of earlier legs."""
    # The leg does not end while it waits.
    leg.step_started()
    try:
        await leg.quiet()
        leg.guard()
        left = leg.replay.left_calls
        if left:
            await call_after_edit(leg, left, agent)
    finally:
        leg.step_ended()


def _ceiling_of(agent: str, budget: dict) -> dict:
    unknown = [name for name in budget if name not in _BUDGET]
    if unknown:
        raise Misuse(f'call "{agent}": a budget has max_tokens and max_cost, and not {dump(unknown[0])}')
    given = {name: budget[name] for name in _BUDGET if budget.get(name) is not None}
    for name, amount in given.items():
        if type(amount) is not int or amount < 1:
            raise Misuse(f'call "{agent}": {name} must be a whole number, at least 1')
    return given
