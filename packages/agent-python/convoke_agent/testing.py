"""Runs an agent in the process of a test, as a server would."""

from __future__ import annotations

import json
import os
from collections.abc import Callable

from .agent import Agent
from .context import AsyncContext, Context
from .failures import NotAwaited
from .json_values import dump
from .leg import Leg
from .rehearsal import RehearsedInteraction, CalledStep, RehearsedRun
from .rehearsed_waits import RehearsedCall, RehearsedWait
from .threads import Threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .rehearsed_waits import CallReply
    from .tasks import Tasks

__all__ = ["RehearsedCall", "RehearsedInteraction", "RehearsedWait", "CalledStep", "Rehearsal", "every_kill", "rehearse"]

_LEGS_MAX = 1000
#: The process is lost before or after a message is stored, or asked to yield after it.
_kinds = ("lost before", "lost after", "yield after")


class Rehearsal:
    """How a run went."""

    def __init__(self, run: RehearsedRun, messages: list[list[dict]]) -> None:
        end = run.end or {}
        self.text = run.text
        #: The output of the agent, as the run stores it; None without one.
        self.output: object = end.get("output")
        self.asked = run.asked
        #: The steps that ran, in order.
        self.calls = run.called
        self.events = run.events
        #: "completed", "cancelled" or "error".
        self.outcome: str = end.get("outcome", "")
        #: Why it failed.
        self.message: str | None = end.get("message")
        #: The value of `ctx.state` in the next run of the session.
        self.state = run.state
        self.tokens = run.tokens
        #: The times, messages and called runs that it waited for, in the order in which they came.
        self.waits = run.waits
        #: The runs of other agents that it started, in order.
        self.started = run.started
        #: Seconds that the run waited for them. No real time passes.
        self.elapsed = run.elapsed
        self.has_waited = run.has_waited
        #: The messages of the kit in each leg.
        self.messages = messages
        self.has_doubt = run.has_doubt


def rehearse(
    agent: Agent,
    *,
    prompt: str = "",
    input: dict | None = None,
    state: dict | None = None,
    answer: Callable[[RehearsedInteraction], object] | None = None,
    approval_required_tools: tuple[str, ...] | list[str] = (),
    rules: tuple[dict, ...] | list[dict] = (),
    folder: str = ".",
    output_schema: dict | None = None,
    signals: tuple[dict, ...] | list[dict] = (),
    message: Callable[[str], object] | None = None,
    called: Callable[[RehearsedCall], CallReply] | None = None,
    takes: dict[str, str] | None = None,
    edited: Agent | None = None,
) -> Rehearsal:
    """Runs an agent in this process.

    `answer` returns the reply of a person: a string or a list for a question, None to decline; True, False or
    `{"allow": True, "input": …}`, `{"allow": False, "reason": …}` for a permission. By default the first option or
    "yes", and every permission is given; `{"later": True}` leaves a request open. `rules` are those of agent.yaml. `edited` is the agent as its author edited it
    after the first leg, while the run waited for an answer (D-174). With the `output_schema` of agent.yaml, a text that
    the agent returns is its output; the value is not checked here. `signals` are messages to the run:
    `{"name": …, "data": …, "after": "1h"}`, at once without `after`. `message` returns the data of the message that comes
    when the run asks for one of this name, or None for no message. `called` returns what a called run brings: a text
    (`"done"` by default), `{"ok": True, "text": …, "output": …}` or `{"ok": False, "code": …, "message": …}`. `takes` says how
    long runs of an agent take, such as `{"researcher": "2h"}`; others end at once.
    """
    given = dict(prompt=prompt, input=input, state=state, answer=answer, folder=folder)
    given.update(approval_required_tools=approval_required_tools, rules=rules, output_schema=output_schema)
    given.update(signals=signals, message=message, called=called, takes=takes)
    return _play(agent, given, edited=edited)


def every_kill(
    make_agent: Callable[[], Agent],
    *,
    comparable: Callable[[str], str] = lambda text: text,
    observe: Callable[[str, int, Rehearsal], None] | None = None,
    **options: object,
) -> Rehearsal:
    """Runs an agent undisturbed, then with a loss before and after each message, and a yield after each (D-188).

    Raises AssertionError if an effect ran twice, if an agent was called or a person asked twice, if text, state or outcome differ, or if a
    replay did not ask for a stored result. A run with a call in doubt may have a different answer. `comparable` maps the
    text to the part that must not change, for a function whose branches emit in any order. The other options are those
    of `rehearse`.
    """
    first = _play(make_agent(), options)
    # Waits may be settled one by one, or several of them before a worker is free.
    for come in ("one", "all") if first.has_waited else ("one",):
        expected = first if come == "one" else _play(make_agent(), options, come=come)
        together = "" if come == "one" else ", with everything that it waits for come at once"
        for message in range(sum(len(leg) for leg in expected.messages)):
            for kind in _kinds:
                result = _play(make_agent(), options, come=come, kill_point=(message, kind))
                if observe is not None and come == "one":
                    observe(kind, message, result)
                problem = _difference(expected, result, comparable)
                if problem is not None:
                    raise AssertionError(f"{kind} message {message + 1}{together}: {problem}")
    return first


def _difference(expected: Rehearsal, result: Rehearsal, comparable: Callable[[str], str]) -> str | None:
    for name in sorted({call.name for call in result.calls}):
        once, now = _effects(expected, name), _effects(result, name)
        if now > once:
            return f'step "{name}" ran {now} times instead of {once}'
    for event in result.events:
        if event["name"] == "replay_differs":
            return (
                f"the replay did not ask for the results of {dump(event['data']['left_over'])}. "
                "The code between steps must do the same in every leg."
            )
    started = _started_again(expected, result)
    if started is not None:
        return started
    if result.has_doubt:
        return None
    asked = _asked_again(expected, result, comparable)
    if asked is not None:
        return asked
    waited, wanted = (dump([vars(wait) for wait in each.waits]) for each in (result, expected))
    if comparable(waited) != comparable(wanted):
        return f"it waited for {waited} instead of {wanted}"
    if result.outcome != expected.outcome:
        return f"it ended {result.outcome} ({result.message or ''}) instead of {expected.outcome}"
    if comparable(result.text) != comparable(expected.text):
        return f"its text was {dump(result.text)} instead of {dump(expected.text)}"
    if comparable(dump(result.output)) != comparable(dump(expected.output)):
        return f"it returned {dump(result.output)} instead of {dump(expected.output)}"
    if result.state != expected.state:
        return f"its state was {dump(result.state)} instead of {dump(expected.state)}"
    return None


def _started_again(expected: Rehearsal, result: Rehearsal) -> str | None:
    """A run that was called once is found again."""

    def count(rehearsal: Rehearsal, agent: str) -> int:
        return sum(1 for call in rehearsal.started if call.agent == agent)

    for call in result.started:
        once, now = count(expected, call.agent), count(result, call.agent)
        if now > once:
            return f'"{call.agent}" was called {now} times instead of {once}'
    return None


def _asked_again(expected: Rehearsal, result: Rehearsal, comparable: Callable[[str], str]) -> str | None:
    """A person who has answered is not asked again: the answer is stored."""

    def texts(rehearsal: Rehearsal) -> list[str]:
        return [comparable(dump(vars(asked))) for asked in rehearsal.asked]

    for text in texts(result):
        once, now = texts(expected).count(text), texts(result).count(text)
        if now > once:
            return f"a person was asked {now} times instead of {once}: {text}"
    return None


def _effects(rehearsal: Rehearsal, name: str) -> int:
    return sum(1 for call in rehearsal.calls if call.name == name and not call.is_repeatable)


def _play(
    agent: Agent,
    options: dict,
    *,
    edited: Agent | None = None,
    come: str = "one",
    kill_point: tuple[int, str] | None = None,
) -> Rehearsal:
    for each in (agent, edited):
        if each is not None and not isinstance(each, Agent):
            raise TypeError("This is not an agent. Pass a function with @agent.")
    run = RehearsedRun(**options, is_edited=edited is not None)
    messages: list[list[dict]] = []
    while run.end is None:
        if run.legs > _LEGS_MAX:
            raise AssertionError(f"The run has not ended after {_LEGS_MAX} legs.")
        now = agent if edited is None or run.legs == 0 else edited
        before = sum(len(leg) for leg in messages)
        at, kind = (-1, None) if kill_point is None else (kill_point[0] - before, kill_point[1])
        played = _PlayedLeg(run, lambda number: kind if number == at else None)
        messages.append(played.messages)
        is_lost = played.play(now)
        # A process that is lost after its last message has ended its run.
        if is_lost and run.end is None:
            run.lose()
        run.reply(come)
    return Rehearsal(run, messages)


def _position_of_call(error: BaseException) -> str:
    """The line that lacks an `await`. Other errors of an agent have a traceback in its test."""
    return f" ({os.path.basename(error.path)}:{error.line})" if isinstance(error, NotAwaited) else ""


class _PlayedLeg:
    def __init__(self, run: RehearsedRun, happening: Callable[[int], str | None]) -> None:
        self._run = run
        self._happening = happening
        self._is_dead = False
        self._fault: BaseException | None = None
        self.messages: list[dict] = []

    def play(self, agent: Agent) -> bool:
        """Returns whether the leg was lost."""
        if agent.is_async:
            from .tasks import Tasks

            tasks = Tasks()
            try:
                self._play_on(tasks, agent, AsyncContext)
            finally:
                tasks.close()
        else:
            threads = Threads()
            self._play_on(threads, agent, Context)
            threads.join()
        if self._fault is not None:
            raise self._fault
        return self._is_dead

    def _play_on(self, host: Threads | Tasks, agent: Agent, context: type) -> None:
        self._leg = leg = Leg(self._run.start(), self._send, host, _position_of_call)
        ctx = context(leg, host)
        host.run(leg.perform(lambda: agent.body(ctx)))

    def _send(self, message: dict) -> None:
        if self._is_dead:
            return
        kind = self._happening(len(self.messages))
        copy = json.loads(dump(message))
        self.messages.append(copy)
        if kind == "lost before":
            return self._die()
        try:
            self._run.record(copy)
        except AssertionError as fault:
            self._fault = fault
            return self._die()
        if kind == "lost after":
            return self._die()
        host = self._leg.host
        if kind == "yield after":
            host.later(lambda: self._leg.receive({"type": "yield"}))
        if message["type"] == "call_begin":
            host.later(lambda: self._begun(message["call_id"]))

    def _begun(self, ref: str) -> None:
        if self._is_dead:
            return
        self._leg.receive(self._run.tell(ref))

    def _die(self) -> None:
        self._is_dead = True
        self._leg.lose()
