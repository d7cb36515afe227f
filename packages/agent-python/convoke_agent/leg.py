"""One leg of a run."""

from __future__ import annotations

import math
from collections.abc import Callable

from .awaited_calls import AwaitedCalls
from .deliveries import Deliveries
from .failures import Denied, InDoubt, LegOver, Misuse, NotJson, RunCancelled, StepFailed
from .json_values import a_kind
from .pending import Host, Pending
from .progress import Progress
from .replay import Replay, is_foreign
from .results import shortened, text_of
from .signal_of_run import Signal

_ENDED_EARLY = "The process ended before the agent function returned."


class Leg:
    """Calls the program's function from its first line, with all answers and results that the run has.

    A step that has ended returns its stored result; one that has not, runs (D-161).
    """

    def __init__(
        self,
        start: dict,
        send: Callable[[dict], None],
        host: Host,
        locate: Callable[[BaseException], str] = lambda error: "",
    ) -> None:
        self.start = start
        self.host = host
        self._send = send
        #: Says where in the program an error came from.
        self._locate = locate
        self.replay = Replay(start)
        self.progress = Progress(start, self.replay, self.send)
        self.signal = Signal()
        self.calls = AwaitedCalls()
        self._deliveries = Deliveries(host)
        self._begins: dict[str, Pending] = {}
        self._questions: list[Pending] = []
        self._stuck: list[Pending] = []
        self._on_idle: list[Pending] = []
        self._running = 0
        self.is_over = False
        self._is_yielding = False
        #: The function has returned or raised: no step begins any more.
        self._is_ending = False

    @property
    def is_working(self) -> bool:
        """Whether a step runs, or is about to."""
        return self._running > 0

    @property
    def may_begin(self) -> bool:
        return not self._is_yielding and not self._is_ending and not self.is_over

    async def perform(self, body: Callable[[], object]) -> None:
        """Runs the function, and ends the leg with it."""
        self.host.when_empty(self._end_empty)
        if is_foreign(self.start) and self.start["input"]["kind"] == "prompt":
            self.send({"type": "custom", "name": "state_ignored", "data": {}})
        try:
            returned = await self.host.call(body)
            self.calls.check()
            if isinstance(returned, str):
                self.progress.say({"type": "message_delta", "text": returned})
            elif returned is not None:
                raise Misuse(f"The agent function returned {a_kind(returned)}; return a string or nothing.")
            await self._idle()
            state = {"convoke": 1, "state": self.progress.state_now()}
            self._end({"type": "end", "outcome": "completed", "state": state})
        except LegOver:
            raise
        except BaseException as error:
            await self._idle()
            self.fail(error)

    def receive(self, message: dict) -> None:
        """Takes a message of the server. A newer one may say more."""
        if message["type"] == "call_begun":
            begin = self._begins.pop(message["call_id"], None)
            if begin is not None:
                begin.settle(message["idempotency_key"])
        elif message["type"] == "yield":
            self._is_yielding = True
            self._end_if_idle()
        elif message["type"] == "cancel":
            self._cancel()

    def hand_over_now(self) -> None:
        """Ends the leg while the function runs: outside of steps every moment is safe (D-169)."""
        self._is_yielding = True
        self._leave()

    def fail(self, error: BaseException) -> None:
        self._end(self._failure(error))

    def lose(self) -> None:
        """Drops the leg without a word, as if its process were killed."""
        self.is_over = True
        self.host.stop()

    def guard(self) -> None:
        """Called by everything that the program wants of the leg."""
        if self.is_over:
            raise LegOver()
        if self.signal.aborted:
            raise RunCancelled()

    def step_started(self) -> None:
        self._running += 1

    def step_ended(self) -> None:
        self._running -= 1
        if self._running > 0:
            return
        idle, self._on_idle = self._on_idle, []
        for pending in idle:
            pending.settle(None)
        self._end_if_idle()

    def begin(self, call: dict) -> Pending:
        """Settles with the key of the call when the server has written it down."""
        begin = self._begins[call["call_id"]] = Pending(self.host)
        self.send(call)
        return begin

    def ask(self, request: dict) -> Pending:
        """Asks a person. The value never arrives in this leg: the run waits as a row, and the next leg has the answer (D-167)."""
        question = Pending(self.host)
        self._questions.append(question)
        self.send(request)
        self._end_if_idle()
        return question

    def never(self) -> Pending:
        """A value that does not arrive in this leg."""
        stuck = Pending(self.host)
        self._stuck.append(stuck)
        return stuck

    def deliver(self, result: dict) -> Pending:
        """Settles when it is the turn of this result."""

        def say_all() -> None:
            for emission in result.get("said", ()):
                self.progress.say(emission)

        return self._in_turn(result["order"], say_all)

    def deliver_last(self, ref: str) -> Pending:
        """As `delivered`, for what has no place in the order until it is delivered for the first time: it comes last."""
        order = self.progress.order_of(ref)

        def assign() -> None:
            if order is None:
                self.progress.assign_order(ref)

        return self._in_turn(math.inf if order is None else order, assign)

    def quiet(self) -> Pending:
        """Settles when everything that is known has reached the program."""
        pending = Pending(self.host)
        self._deliveries.when_quiet(lambda: pending.settle(None))
        return pending

    def send(self, message: dict) -> None:
        if not self.is_over:
            self._send(message)

    def _in_turn(self, order: float, before: Callable[[], None]) -> Pending:
        pending = Pending(self.host)

        def go() -> None:
            if self.is_over:
                return
            before()
            if self.signal.aborted:
                pending.fail(RunCancelled())
            else:
                pending.settle(None)
            self._end_if_idle()

        self._deliveries.add(order, go)
        return pending

    def _end_if_idle(self) -> None:
        """Ends the leg where nothing moves any more: it waits for a person, or is handed over (D-169)."""
        if not self.is_over and (self._is_yielding or self._questions):
            self._deliveries.when_quiet(self._leave)

    def _leave(self) -> None:
        if self._running > 0 or self._is_ending or self.is_over or self.signal.aborted:
            return
        self.send({"type": "checkpoint", "state": self.progress.point(), "recovery": True})
        self._end({"type": "end", "outcome": "waiting" if self._questions else "yielded"})

    def _cancel(self) -> None:
        self.signal.abort()
        waiting = [*self._begins.values(), *self._questions, *self._stuck]
        for each in (self._begins, self._questions, self._stuck):
            each.clear()  # type: ignore[attr-defined]
        for pending in waiting:
            pending.fail(RunCancelled())
        self.host.outside(self.signal.notify)
        self.host.cancel()

    def _end_empty(self) -> bool:
        """Nothing can continue the function any more: it waits for what never comes."""
        if self._begins or self.is_over:
            return False
        self.fail(Misuse(_ENDED_EARLY))
        return True

    async def _idle(self) -> None:
        """Steps that the function did not wait for end before the run does."""
        self._is_ending = True
        if self._running > 0 and not self.is_over:
            idle = Pending(self.host)
            self._on_idle.append(idle)
            await idle

    def _failure(self, error: BaseException) -> dict:
        state = self.progress.state_before
        if self.signal.aborted:
            return {"type": "end", "outcome": "cancelled", "state": state}
        if isinstance(error, (StepFailed, InDoubt, Denied)):
            code, message = "tool_error", f'step "{error.step}": {text_of(error)}'
        else:
            code, message = "agent_error", self._described(error)
        end = {"type": "end", "outcome": "error", "code": code}
        return {**end, "message": shortened(message), "state": state}

    def _described(self, error: BaseException) -> str:
        if isinstance(error, SystemExit):
            return _ENDED_EARLY
        is_ours = isinstance(error, (Misuse, NotJson))
        name = "" if is_ours else f"{type(error).__name__}: "
        message = f"{name}{text_of(error)}"
        where = self._locate(error)
        return f"{message[:-1]}{where}." if message.endswith(".") else f"{message}{where}"

    def _end(self, end: dict) -> None:
        if self.is_over:
            return
        self.send(end)
        self.is_over = True
        self.host.stop()
