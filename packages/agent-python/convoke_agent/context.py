"""The `ctx` of an agent function."""

from __future__ import annotations

import os
from collections.abc import AsyncIterable, Awaitable, Callable, Coroutine, Iterable

from .calls import Called, call
from .failures import InDoubt
from .output_order import Emission
from .json_values import json_copy
from .leg import Leg
from .names import check_event_name
from .questions import joined, question_of
from .steps import Approval, Steps
from .tool import agent_tool, inputs_of, named_like, sleep_of_model, sleep_tool, text_of, waiting, words_of
from .waits import Received, callback_url, receive, sleep
from .work import bound_work

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import TypeVar, Union

    from .questions import Option
    from .signal_of_run import Signal
    from .tasks import Tasks
    from .threads import Threads

    T = TypeVar("T")
    Duration = Union[str, datetime]


class _Context:
    """The part that both kinds of functions share. Everything that has an effect or takes long belongs in a step."""

    #: Whether its calls are awaited.
    is_async = False

    def __init__(self, leg: Leg, host: Threads | Tasks) -> None:
        self._leg = leg
        self._host = host
        self._steps = Steps(leg)

    @property
    def prompt(self) -> str:
        return self._leg.start["input"]["prompt"]

    @property
    def input(self) -> dict:
        """The input of the run as it was sent."""
        return self._leg.start["run_input"]

    @property
    def folder(self) -> str:
        """The session folder: `files/` has the session's files, and files in `outputs/` are added to them."""
        return self._leg.start["workspace"]

    @property
    def files(self) -> list[str]:
        """Names in `files/`."""
        try:
            return sorted(os.listdir(os.path.join(self.folder, "files")))
        except OSError:
            return []

    @property
    def signal(self) -> Signal:
        """Aborts when the run is cancelled."""
        return self._leg.signal

    @property
    def run_id(self) -> str:
        return self._leg.start["run_id"]

    @property
    def session_id(self) -> str:
        return self._leg.start["session_id"]

    @property
    def run_number(self) -> int:
        """Counts the runs of the session from 1."""
        return self._leg.start["run_number"]

    @property
    def traceparent(self) -> str | None:
        """The span of this leg, while the server exports traces: the parent of spans that the agent makes. Each leg has its own."""
        return self._leg.start.get("traceparent")

    @property
    def state(self) -> dict:
        """JSON that the session keeps from one run to the next, stored when a run completes."""
        return self._leg.progress.state

    @property
    def saved(self) -> object:
        """The value of the last `save` of this run; None before the first."""
        return self._leg.progress.saved

    def say(self, text: object) -> None:
        """Appends text to the answer, which readers of the run see at once."""
        self._emit({"type": "message_delta", "text": str(text)})

    def usage(
        self,
        *,
        input_tokens: int,
        output_tokens: int,
        model: str | None = None,
        cached_input_tokens: int = 0,
        reasoning_tokens: int = 0,
        cost: int | None = None,
        currency: str | None = None,
    ) -> None:
        """Adds to the usage of the run.

        Cached tokens are part of the input, reasoning tokens part of the output. `cost` is in millionths of
        `currency`, for an agent that knows the price.
        """
        tokens = {"input_tokens": input_tokens, "output_tokens": output_tokens}
        parts = {"cached_input_tokens": cached_input_tokens, "reasoning_tokens": reasoning_tokens}
        given = {"model": model, **tokens, **parts, "cost": cost, "currency": currency}
        self._emit({"type": "usage", **{name: value for name, value in given.items() if value is not None}})

    def event(self, name: str, data: dict | None = None) -> None:
        """Emits the event `code.<name>`."""
        check_event_name(name)
        copy = json_copy({} if data is None else data, "data")
        self._emit({"type": "custom", "name": name, "data": copy})

    def save(self, progress: object) -> None:
        """Stores progress: the next leg finds it as `saved`, and replays no step before it."""
        self._host.enter(lambda: self._steps.save(progress))

    def callback_url(self, name: str) -> str:
        """A URL at which anyone who has it can send the run one message of this name, without a login.

        Every call is another URL, and the same one in every leg. Pass it on as you pass on a password.
        """
        made: list[str] = []
        self._host.enter(lambda: made.append(callback_url(self._steps, self._leg, name)))
        return made[0]

    def agent_tool(
        self,
        agent: str,
        *,
        description: str,
        timeout: Duration | None = None,
        budget: dict[str, int] | None = None,
    ) -> Callable[[str], object]:
        """A function to pass to a framework as a tool: with it a model calls another agent, and gets its answer.

        `timeout` and `budget` are those of `call`. What it returns is awaited in an `async def`.
        """

        async def ask(prompt: str) -> str:
            return text_of(await call(self._steps, self._leg, agent, {"prompt": prompt}, timeout, budget))

        return agent_tool(agent, description, waiting(self._host, self._steps, self.is_async, ask))

    def sleep_tool(self) -> Callable[[str, str], object]:
        """As `agent_tool`: with it a model sleeps, for 30 days at most. It says how long, and what for."""

        steps = self._steps
        return sleep_tool(waiting(self._host, steps, self.is_async, lambda *given: sleep_of_model(steps, *given)))

    def _emit(self, emission: Emission) -> None:
        self._host.enter(lambda: self._steps.emit(emission))


class Context(_Context):
    """The `ctx` of a `def`."""

    _host: Threads

    def step(
        self,
        name: str,
        work: Callable[..., T],
        *,
        repeatable: bool = False,
        input: object = None,
        touches: str = "both",
    ) -> T:
        """Runs the function, at most once; later legs of the run get the stored result.

        The function gets `key`, `input` and `signal` if it has parameters of these names. `repeatable`: run again if its
        process was lost while it ran, without asking a person. `input`: shown to a person who has to allow the step.
        `touches`: what the step can change: "workspace", "outside" or "both".
        """
        return self._host.drive(self._steps.step(name, work, repeatable, input, touches))  # type: ignore[return-value]

    def stream(self, name: str, source: Iterable[str] | Callable[..., Iterable[str]]) -> str:
        """A repeatable step that appends each string of the source to the answer, and returns all of them joined."""
        texts_of = bound_work(f'stream "{name}"', source) if callable(source) else lambda given: source

        def say_all(key: str, input: object, signal: Signal) -> str:
            whole = []
            for text in texts_of({"key": key, "input": input, "signal": signal}):  # type: ignore[attr-defined]
                self.say(text)
                whole.append(text)
            return "".join(whole)

        return self.step(name, say_all, repeatable=True)

    def ask(self, question: str, *, options: Iterable[Option] | None = None) -> str | None:
        """Asks a person; None if the person declines."""
        answer = self._host.drive(self._steps.ask(question_of(question, options)))
        return joined(answer)

    def ask_many(self, question: str, *, options: Iterable[Option]) -> list[str] | None:
        """As `ask`, but the person can choose several options."""
        asked = {**question_of(question, options), "multiple": True}
        return self._host.drive(self._steps.ask(asked)).get("values")  # type: ignore[attr-defined]

    def approve(self, tool: str, input: object, work: Callable[..., object]) -> Approval:
        """Asks a person, and runs the function once with the approved input."""
        return self._host.drive(self._steps.approve(tool, input, work))  # type: ignore[return-value]

    def sleep(self, name: str, duration: Duration) -> None:
        """Waits for a time such as `90s`, `15m`, `2h`, `3d` or `2w`, or until an aware `datetime`. Nothing executes until then."""
        self._host.drive(sleep(self._steps, name, duration))

    def receive(self, name: str, *, timeout: Duration | None = None) -> Received:
        """Waits for a message of this name to the run. One that came before is kept, and taken first.

        Without a `timeout` the run waits as long as for a person: `limits.wait_hours` of agent.yaml.
        """
        return self._host.drive(receive(self._steps, name, timeout))  # type: ignore[return-value]

    def call(
        self,
        agent: str,
        input: dict,
        *,
        timeout: Duration | None = None,
        budget: dict[str, int] | None = None,
    ) -> Called:
        """Starts a run of another agent, which `agents` of agent.yaml names, and waits for its end.

        Nothing executes until then. With a `timeout` the called run is cancelled at its end; without one it may take any
        time. `budget` lowers what the called run, and all that it calls, may use: `max_tokens`, and `max_cost` in
        millionths of the currency.
        """
        return self._host.drive(call(self._steps, self._leg, agent, input, timeout, budget))  # type: ignore[return-value]

    def scope(self, name: str, body: Callable[[], T]) -> T:
        """Step names inside the scope are numbered separately."""
        return self._host.drive(self._steps.scope(name, body))  # type: ignore[return-value]

    def parallel(self, *functions: Callable[[], object]) -> list:
        """Runs the functions at the same time, each in a thread, and returns their results.

        Only one of them runs at a time, but their steps run in parallel. If one raises, this raises the error when all
        have ended.
        """
        return self._host.drive(self._parallel(functions))  # type: ignore[return-value]

    def tool(self, function: Callable[..., object], *, approval: bool = False) -> Callable[..., object]:
        """Wraps a function that a framework calls as a tool: each call is a step, or needs an approval.

        If a call is not allowed or in doubt, it returns why, for the model to read.
        """
        inputs = inputs_of(function, is_async=False)

        def call(*arguments: object, **named: object) -> object:
            used = self._steps.use_tool(
                function.__name__, inputs(arguments, named), lambda input: function(**input), approval
            )
            try:
                return words_of(self._host.drive(used))  # type: ignore[arg-type]
            except InDoubt as doubt:
                return str(doubt)

        return named_like(call, function)

    async def _parallel(self, functions: tuple[Callable[[], object], ...]) -> list:
        self._steps.guard_parallel()
        branches = [self._host.start(function) for function in functions]
        ended: list = [await branch for branch in branches]
        for _, error in ended:
            if error is not None:
                raise error
        return [returned for returned, _ in ended]


class AsyncContext(_Context):
    """The `ctx` of an `async def`: the same calls, awaited."""

    is_async = True
    _host: Tasks

    def step(
        self,
        name: str,
        work: Callable[..., Awaitable[T] | T],
        *,
        repeatable: bool = False,
        input: object = None,
        touches: str = "both",
    ) -> Coroutine[object, object, T]:
        """As `Context.step`."""
        return self._watch("step", name, lambda: self._steps.step(name, work, repeatable, input, touches))  # type: ignore[return-value,arg-type]

    def stream(
        self, name: str, source: AsyncIterable[str] | Iterable[str] | Callable[..., object]
    ) -> Coroutine[object, object, str]:
        """A repeatable step that appends each string of the source to the answer, and returns all of them joined."""
        texts_of = bound_work(f'stream "{name}"', source) if callable(source) else lambda given: source

        async def say_all(key: str, input: object, signal: Signal) -> str:
            whole = []
            texts = await self._host.call(lambda: texts_of({"key": key, "input": input, "signal": signal}))
            if hasattr(texts, "__aiter__"):
                async for text in texts:  # type: ignore[attr-defined]
                    self.say(text)
                    whole.append(text)
            else:
                for text in texts:  # type: ignore[attr-defined]
                    self.say(text)
                    whole.append(text)
            return "".join(whole)

        return self._watch("stream", name, lambda: self._steps.step(name, say_all, True))  # type: ignore[return-value,arg-type]

    def ask(
        self, question: str, *, options: Iterable[Option] | None = None
    ) -> Coroutine[object, object, str | None]:
        """Asks a person; None if the person declines."""

        async def asked() -> str | None:
            return joined(await self._steps.ask(question_of(question, options)))

        return self._watch("ask", question, asked)

    def ask_many(self, question: str, *, options: Iterable[Option]) -> Coroutine[object, object, list[str] | None]:
        """As `ask`, but the person can choose several options."""

        async def asked() -> list[str] | None:
            answer = await self._steps.ask({**question_of(question, options), "multiple": True})
            return answer.get("values")

        return self._watch("ask_many", question, asked)

    def approve(
        self, tool: str, input: object, work: Callable[..., object]
    ) -> Coroutine[object, object, Approval]:
        """Asks a person, and runs the function once with the approved input."""
        return self._watch("approve", tool, lambda: self._steps.approve(tool, input, work))

    def sleep(self, name: str, duration: Duration) -> Coroutine[object, object, None]:
        """Waits for a time such as `90s`, `15m`, `2h`, `3d` or `2w`, or until an aware `datetime`. Nothing executes until then."""
        return self._watch("sleep", name, lambda: sleep(self._steps, name, duration))

    def receive(self, name: str, *, timeout: Duration | None = None) -> Coroutine[object, object, Received]:
        """As `Context.receive`."""
        return self._watch("receive", name, lambda: receive(self._steps, name, timeout))

    def call(
        self,
        agent: str,
        input: dict,
        *,
        timeout: Duration | None = None,
        budget: dict[str, int] | None = None,
    ) -> Coroutine[object, object, Called]:
        """As `Context.call`."""
        return self._watch("call", agent, lambda: call(self._steps, self._leg, agent, input, timeout, budget))

    def scope(self, name: str, body: Callable[[], Awaitable[T]]) -> Coroutine[object, object, T]:
        """Step names inside the scope are numbered separately."""
        return self._watch("scope", name, lambda: self._steps.scope(name, body))  # type: ignore[return-value,arg-type]

    def tool(self, function: Callable[..., object], *, approval: bool = False) -> Callable[..., Awaitable[object]]:
        """As `Context.tool`; what it returns is awaited."""
        inputs = inputs_of(function, is_async=True)

        async def call(*arguments: object, **named: object) -> object:
            self._host.check_thread()
            input = inputs(arguments, named)
            try:
                return words_of(
                    await self._steps.use_tool(function.__name__, input, lambda input: function(**input), approval)
                )
            except InDoubt as doubt:
                return str(doubt)

        return named_like(call, function)

    def _watch(self, method: str, about: object, call: Callable[[], Awaitable[T]]) -> Coroutine[object, object, T]:
        """Notes the call until it begins, which happens when the program awaits it."""

        def begin() -> Awaitable[T]:
            self._host.check_thread()
            return call()

        return self._leg.calls.watch(method, about, begin)
