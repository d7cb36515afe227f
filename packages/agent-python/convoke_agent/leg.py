"""One leg of a run."""

from __future__ import annotations

from collections.abc import Callable

from .awaited_calls import AwaitedCalls
from .deliveries import Deliveries
from .failures import Denied, InDoubt, LegOver, Misuse, NotJson, RunCancelled, StepFailed
from .json_values import json_copy
from .pending import Host, Pending
from .progress import Progress
from .replay import Replay, is_foreign
from .results import shortened, text_of
from .signal_of_run import Signal

_ENDED_EARLY = "The process ended before the agent function returned."


#: Where a leg is. It only moves along this list:
#:
#: - `running`: the function runs, and steps may begin.
#: - `yielding`: the server has asked for the run. No further step begins; those that run end first.
#: - `ending`: the function has returned or raised. No step begins; steps that it did not await end first.
#: - `over`: the `end` was sent, and nothing follows it (L14).
#:
#: A cancel is no phase: it can come in all of them but the last. It aborts `signal`, and the leg ends `cancelled` when
#: the function has returned or raised.
_PHASES = ("running", "yielding", "ending", "over")


class Leg:
    """Calls the agent function from its first line, with all results and answers of the run (L1).

    A step that has ended returns its stored result, any other step runs (D-161). packages/agent/DESIGN.md has the
    invariants.
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
        #: Returns the line of the agent that an error came from, for the end of its message.
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
        self._phase = "running"
        #: Whether something did not continue because the server has asked for the run: the next leg has work to do at
        #: once.
        self._has_held_back = False

    @property
    def is_over(self) -> bool:
        return self._phase == "over"

    @property
    def is_working(self) -> bool:
        """Whether a step runs, or is about to."""
        return self._running > 0

    @property
    def may_begin(self) -> bool:
        return self._phase == "running"

    async def perform(self, body: Callable[[], object]) -> None:
        """Runs the function, and ends the leg with it."""
        self.host.when_empty(self._end_empty)
        if is_foreign(self.start) and self.start["input"]["kind"] == "prompt":
            self.send({"type": "custom", "name": "state_ignored", "data": {}})
        try:
            returned = await self.host.call(body)
            self.calls.check()
            output = self._output_of(returned)
            await self._idle()
            state = {"convoke": 1, "state": self.progress.state_now()}
            self._end({"type": "end", "outcome": "completed", **output, "state": state})
        except LegOver:
            raise
        except BaseException as error:
            await self._idle()
            self.fail(error)

    def receive(self, message: dict) -> None:
        """Takes a message of the server. A newer server may send other messages."""
        if message["type"] in ("call_begun", "call_refused"):
            begin = self._begins.pop(message["call_id"], None)
            if begin is not None:
                begin.settle(message)
        elif message["type"] == "yield":
            self._enter("yielding")
            self._end_if_idle()
        elif message["type"] == "cancel":
            self._cancel()

    def hand_over_now(self) -> None:
        """Ends the leg while the function runs: between steps every moment is safe (D-169)."""
        self._enter("yielding")
        self._has_held_back = True
        self._leave()

    def fail(self, error: BaseException) -> None:
        self._end(self._failure(error))

    def lose(self) -> None:
        """Drops the leg without an `end`, as if its process were killed."""
        self._enter("over")
        self.host.stop()

    def guard(self) -> None:
        """Raises if the leg is over or the run was cancelled. Every call of `ctx` begins with it."""
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
        """Settles with the server's reply when it has stored the intent (L2), or refused it: then nothing was begun."""
        begin = self._begins[call["call_id"]] = Pending(self.host)
        self.send(call)
        return begin

    def raise_request(self, request: dict) -> Pending:
        """Asks a person, or waits for something else. The value never arrives in this leg (L9).

        The run waits as a row, and a later leg has the answer (D-167).
        """
        question = Pending(self.host)
        self._questions.append(question)
        is_known = request["type"] == "wait" and request["ref"] in self.replay.waits
        if not is_known:
            self.send(request)
        self._end_if_idle()
        return question

    def hold_back(self) -> Pending:
        """A step does not begin, because the server has asked for the run: what never arrives in this leg."""
        self._has_held_back = True
        stuck = Pending(self.host)
        self._stuck.append(stuck)
        return stuck

    async def outside_step(self, pending: Pending) -> None:
        """Waits for a value that does not arrive in this leg, in a step that has not begun."""
        self.step_ended()
        try:
            await pending
        finally:
            self.step_started()

    def deliver(self, result: dict) -> Pending:
        """Settles when all results before this one have reached the function (L5)."""

        def say_all() -> None:
            for emission in result.get("said", ()):
                self.progress.say(emission)

        return self._in_turn(result["order"], say_all)

    def deliver_last(self, ref: str) -> Pending:
        """As `deliver`, for answers and calls that were left. The first time they come last, and get their order then."""
        return self._deliver_first(ref, self.replay.order_of_answer(ref))

    def deliver_wait(self, ref: str, number: int) -> Pending:
        """As `deliver_last`, for a time, a message or a called run that has come."""
        return self._deliver_first(f"{ref} wait", self.replay.order_of_wait(number))

    def _deliver_first(self, ref: str, first_order: float) -> Pending:
        order = self.progress.order_of(ref)

        def assign() -> None:
            if order is None:
                self.progress.assign_order(ref)

        return self._in_turn(first_order if order is None else order, assign)

    def quiet(self) -> Pending:
        """Settles when every stored result that the function has asked for has reached it."""
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
        """Ends the leg if it waits or was asked to yield, and nothing moves any more (L10, D-169)."""
        if self._may_leave:
            self._deliveries.when_quiet(self._leave)

    @property
    def _may_leave(self) -> bool:
        is_waiting = self._phase == "running" and len(self._questions) > 0
        return is_waiting or self._phase == "yielding"

    def _leave(self) -> None:
        if not self._may_leave or self._running > 0 or self.signal.aborted:
            return
        self.send({"type": "checkpoint", "state": self.progress.point(), "recovery": True})
        is_waiting = len(self._questions) > 0 and not self._has_held_back
        self._end({"type": "end", "outcome": "waiting" if is_waiting else "yielded"})

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

    def _output_of(self, returned: object) -> dict:
        """What the run returns (D-568). Without an `output_schema`, a text is said instead, and None is nothing."""
        if self.start["agent"].get("output_schema") is None:
            if returned is None:
                return {}
            if isinstance(returned, str):
                self.progress.say({"type": "message_delta", "text": returned})
                return {}
        return {"output": json_copy(returned, "result")}

    async def _idle(self) -> None:
        """Waits for the steps that the function did not await: they end before the run does."""
        self._enter("ending")
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
        self._enter("over")
        self.host.stop()

    def _enter(self, phase: str) -> None:
        self._phase = max(self._phase, phase, key=_PHASES.index)
