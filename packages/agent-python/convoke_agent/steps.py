"""Steps, questions and approvals of one leg.

A step is found by its name, a question by a digest of its content.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from contextvars import ContextVar

from .edits import continue_after_edit
from .failures import Denied, InDoubt, LegOver, Misuse
from .output_order import Emission, Speaker
from .json_values import dump, json_copy
from .leg import Leg
from .names import Scope, digest_of, path_below
from .pending import Pending
from .permissions import Permissions
from .results import outcome_of, outcome_of_error, read_result, value_of
from .work import bound_work

#: Text that a step could not emit while another one had the floor is stored with its result, up to this many
#: characters.
_SAID_CHARACTERS_MAX = 256 * 1024
_waits = ("ctx.sleep", "ctx.receive", "ctx.call")
_touches = ("workspace", "outside", "both")


class Call:
    def __init__(self, ref: str, name: str, input: object, work: Callable) -> None:
        self.ref = ref
        self.name = name
        self.input = input
        self.work = work
        self.touches = "both"
        self.is_repeatable = False


class Position:
    """The scope and the step that the current code belongs to."""

    def __init__(self, steps: Steps, scope: Scope | None, step: Speaker | None = None) -> None:
        self.steps = steps
        self.scope = scope
        self.step = step


_position: ContextVar[Position | None] = ContextVar("convoke_position", default=None)


class Approval:
    """Whether a person allowed the call, and the result of the function."""

    def __init__(self, allowed: bool, value: object = None, reason: str | None = None) -> None:
        self.allowed = allowed
        self.value = value
        self.reason = reason


class Steps:
    def __init__(self, leg: Leg) -> None:
        self._leg = leg
        self._permissions = Permissions(leg)
        self._root = Scope(leg.progress.path)

    def emit(self, emission: Emission) -> None:
        self._leg.guard()
        self._leg.progress.say(emission, self._step)

    async def step(
        self,
        name: str,
        work: Callable,
        repeatable: bool = False,
        input: object = None,
        touches: str = "both",
    ) -> object:
        self._guard_outside(f'step "{name}" was started', ", or group steps with ctx.scope()")
        if touches not in _touches:
            raise Misuse(f'step "{name}": touches must be one of {", ".join(_touches)}.')
        bound = bound_work(f'step "{name}"', work)
        given = json_copy({} if input is None else input, "input")
        scope = self._scope
        call = Call(scope.take(name, "step"), name, given, bound)
        call.touches, call.is_repeatable = touches, repeatable
        try:
            return await self._take_step(call)
        finally:
            scope.running.discard(name)

    def ref_of(self, method: str, name: str) -> str:
        """Numbers waits and calls by their name in their scope, so every leg finds them again."""
        self._guard_outside(f"ctx.{method}() was called")
        return self._scope.count(name)

    async def ask(self, question: dict) -> dict:
        ref = self.ref_of("ask", f"ask {digest_of(question)}")
        answer = self._leg.replay.answers.get(ref)
        if answer is None:
            await self._leg.raise_request({"type": "user_question", "ref": ref, **question})
        await self._leg.deliver_last(ref)
        return answer  # type: ignore[return-value]

    async def wait(self, method: str, request: dict) -> dict:
        """Waits for a time or a message.

        It is known by its kind and name in its scope, so an edit of the time moves no old one.
        """
        ref = self.ref_of(method, f"{method} {request['name']}")
        known = self._leg.replay.waits.get(ref)
        if known is None or known["state"] != "settled":
            await self._leg.raise_request({"type": "wait", "ref": ref, **request})
        await self._leg.deliver_wait(ref, known["number"])  # type: ignore[index]
        return known  # type: ignore[return-value]

    async def approve(self, tool: str, input: object, work: Callable) -> Approval:
        self._guard_outside("ctx.approve() was called")
        bound = bound_work(f'approve "{tool}"', work)
        given = json_copy(input, "input")
        scope, name = self._scope, f"{tool} {digest_of(tool, given)}"
        call = Call(scope.take(name, "request"), tool, given, bound)
        try:
            return await self._take_approval(call)
        finally:
            scope.running.discard(name)

    async def use_tool(self, tool: str, input: object, work: Callable, approval: bool) -> Approval:
        """A tool call of a model. It is found by its input, because a model may call one tool several times at once."""
        self._guard_outside(f'tool "{tool}" was called')
        given = json_copy(input, "input")
        ref = self._scope.count(f"{tool} {digest_of(tool, given)}")
        call = Call(ref, tool, given, bound_work(f'tool "{tool}"', work))
        try:
            return await self._take_approval(call) if approval else Approval(True, await self._take_step(call))
        except Denied as denied:
            return Approval(False, reason=denied.reason)

    async def or_end(self, wait: Callable[[], Awaitable[str]]) -> str:
        """Waits for a tool of a model. What the author did wrong ends the run: a framework would tell it to its model."""
        try:
            return await wait()
        except Misuse as mistake:
            self._leg.fail(mistake)
            raise LegOver() from mistake

    async def scope(self, name: str, body: Callable[[], object]) -> object:
        self._guard_outside(f'scope "{name}" was started')
        scope = self._scope
        below = Scope(path_below(scope.take(name, "scope")))
        token = _position.set(Position(self, below))
        try:
            return await self._leg.host.call(body)
        finally:
            _position.reset(token)
            scope.running.discard(name)

    def save(self, progress: object) -> None:
        """Makes a recovery point with a value of the author. The next leg replays nothing before it (L13, D-171)."""
        self._leg.guard()
        if self._leg.is_working or self._scope is not self._root:
            raise Misuse("ctx.save() was called inside a step or scope. Call it at the top level, between steps.")
        self._leg.progress.save(progress)
        self._root = Scope(self._leg.progress.path)

    def guard_parallel(self) -> None:
        self._guard_outside("ctx.parallel() was called")

    @property
    def _here(self) -> Position:
        position = _position.get()
        return position if position is not None and position.steps is self else Position(self, None)

    @property
    def _step(self) -> Speaker | None:
        step = self._here.step
        return None if step is None or step.is_over else step

    @property
    def _scope(self) -> Scope:
        return self._here.scope or self._root

    def _guard_outside(self, event: str, alternative: str = "") -> None:
        self._leg.guard()
        step = self._step
        if step is None:
            return
        remedy = _remedy_of(event) or f'Await "{step.name}" first{alternative}.'
        raise Misuse(f'{event} inside step "{step.name}". {remedy}')

    async def _take_step(self, call: Call) -> object:
        known = self._leg.replay.take(call.ref)
        if known is not None and known["state"] != "again":
            return await self._result_of(call, known)
        answer = self._permissions.answer_for(call.ref)
        if answer is not None and not answer["allow"]:
            await self._leg.deliver_last(call.ref)
            raise Denied(call.name, answer.get("reason"))
        given = answer or known
        if given is not None:
            # A person may have changed it (L16).
            call.input = given["input"]
        return await self._carry_out(call)

    async def _take_approval(self, call: Call) -> Approval:
        is_new = self._leg.replay.take(call.ref) is None
        if is_new and self._permissions.answer_for(call.ref) is None:
            await self._permissions.ask(call.ref, call.name, call.input)
        try:
            return Approval(True, await self._take_step(call))
        except Denied as denied:
            return Approval(False, reason=denied.reason)

    async def _result_of(self, call: Call, known: dict) -> object:
        if known["state"] == "left":
            await self._leg.deliver_last(call.ref)
            raise InDoubt(call.name, known["note"])
        result = read_result(known["output"])
        await self._leg.deliver(result)
        return value_of(call.name, result)

    async def _carry_out(self, call: Call) -> object:
        step = Speaker(call.name)
        self._leg.step_started()
        try:
            await self._may_begin(call)
            begin = self._leg.begin(_call_begin(call))
        except BaseException:
            self._leg.step_ended()
            raise
        try:
            begun: dict = await begin  # type: ignore[assignment]
        except BaseException as error:
            # Such as a task that is cancelled. The server may have stored the intent.
            step.is_over = True
            return await self._end_step(call, step, outcome_of_error(error), error)
        if begun["type"] == "call_refused":
            return await self._refuse(call, begun)
        outcome, escaped = await self._do(call, step, begun["idempotency_key"])
        return await self._end_step(call, step, outcome, escaped)

    async def _refuse(self, call: Call, refused: dict) -> None:
        """Ends a step that the server did not let begin (D-507).

        A replay gets the same denial, which the server has stored (D-510).
        """
        try:
            if refused["effect"] == "ask":
                waiting = self._permissions.ask(call.ref, call.name, call.input)
            else:
                waiting = self._leg.deliver_last(call.ref)
        finally:
            # After the request: without a step that runs, the leg ends.
            self._leg.step_ended()
        await waiting
        raise Denied(call.name, refused.get("reason"))

    async def _do(self, call: Call, step: Speaker, key: str) -> tuple[dict, BaseException | None]:
        """Returns the outcome of the step, and the exception that also unwinds the function, such as a cancelled task."""
        token = _position.set(Position(self, self._here.scope, step))
        try:
            given = {"key": key, "input": call.input, "signal": self._leg.signal}
            return outcome_of(call.name, await self._leg.host.perform(lambda: call.work(given))), None
        except Exception as error:
            return outcome_of_error(error), None
        except BaseException as error:
            return outcome_of_error(error), error
        finally:
            _position.reset(token)
            step.is_over = True

    async def _end_step(self, call: Call, step: Speaker, outcome: dict, escaped: BaseException | None) -> object:
        output = self._leg.progress.output
        if escaped is None and _size_of(step.unsaid) > _SAID_CHARACTERS_MAX:
            await output.wait_for_turn(step, self._leg.host)
        unsaid = output.release(step)
        result = {**outcome, "order": self._leg.progress.next_order()}
        if call.is_repeatable:
            result["isRepeatable"] = True
        if unsaid:
            result["said"] = unsaid
        end = {"type": "call_end", "call_id": call.ref, "ok": "error" not in outcome, "output": dump(result)}
        # The result and the point that covers its text are one transaction (L8, D-175).
        self._leg.send({**end, "point": self._leg.progress.point()} if output.is_free else end)
        output.let_next_speak()
        self._leg.step_ended()
        if escaped is not None:
            raise escaped
        await self._leg.deliver(result)
        # A copy of the stored result, so that the function gets the same value in every leg (L3).
        return value_of(call.name, json.loads(end["output"]))  # type: ignore[arg-type]

    async def _may_begin(self, call: Call) -> None:
        """Waits until every stored result that the function asks for has reached it (L6)."""
        if self._leg.replay.left_over:
            await self._leg.quiet()
            self._leg.guard()
            left = self._leg.replay.left_over
            if left:
                await continue_after_edit(self._leg, left, call.name, call.is_repeatable)
        if not self._leg.may_begin:
            await self._leg.outside_step(self._leg.hold_back())


def _remedy_of(event: str) -> str | None:
    """The order in which a step, and what must not be inside it, are written."""
    if event.startswith(("ctx.ask", "ctx.approve")):
        return "Ask first, then start the step."
    if event.startswith("ctx.callback_url"):
        return "Make the URL first, then start the step."
    return "Wait first, then start the step." if event.startswith(_waits) else None


def _call_begin(call: Call) -> dict:
    message = {"type": "call_begin", "call_id": call.ref, "tool_name": call.name}
    message = {**message, "tool_input": call.input, "touches": call.touches}
    return {**message, "repeatable": True} if call.is_repeatable else message


def _size_of(emissions: list[Emission]) -> int:
    return sum(len(dump(each)) for each in emissions)
