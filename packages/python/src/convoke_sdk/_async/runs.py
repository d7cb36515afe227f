"""Runs: following one, and starting them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .._core.calls import Call, Calls
from .._core.effects import Steps
from .._core.events import EventStream
from .._core.follow import RunFollower, RunLog
from .._core.handlers import AsyncPermissionHandler, AsyncQuestionHandler
from .._core.interactions import Handlers, InteractionResponder
from .._core.requests import RunInput, input_of, new_key, present
from .._core.run_text import RunText
from .._core.settings import USUAL_PATIENCE, USUAL_SILENCE
from .._core.wait_limit import WaitLimit
from .._generated import operations as op
from .._generated.events import RunEvent
from .._generated.records import FeedbackRecord, RunRecord
from ..errors import NoOutput, RunError
from .driver import AsyncDriver
from .following import follow
from .resource import AsyncResource

if TYPE_CHECKING:
    from .._generated.async_resources import AsyncFeedback, AsyncRun, AsyncRunHandle
    from .._generated.requests import RunBudget


class AsyncFeedbackListing(AsyncResource):
    """The feedback on one run."""

    async def list(self) -> Sequence[FeedbackRecord]:
        """Lists what all authors say, by key and author; with a token for one session, what its own author says."""
        answer = await self._json(op.LIST_FEEDBACK)
        given: Sequence[FeedbackRecord] = answer["feedback"]
        return given


class AsyncRunFollowing(AsyncResource):
    """A run by its ids. Creating it sends no request."""

    def __init__(
        self,
        driver: AsyncDriver,
        calls: Calls,
        *,
        session_id: str,
        run_id: str,
        opened: EventStream | None = None,
    ) -> None:
        super().__init__(driver, calls, session_id=session_id, run_id=run_id)
        self.id = run_id
        self.session_id = session_id
        self._opened = opened

    @cached_property
    def feedback(self) -> AsyncFeedback:
        from .._generated.async_resources import AsyncFeedback

        return AsyncFeedback(
            self._driver, self._calls, session_id=self.session_id, run_id=self.id
        )

    def follow(
        self,
        *,
        after: str | None = None,
        on_question: AsyncQuestionHandler | None = None,
        on_permission: AsyncPermissionHandler | None = None,
        silence: float = USUAL_SILENCE,
        patience: float = USUAL_PATIENCE,
    ) -> AsyncGenerator[RunEvent, None]:
        """Yields the events of the run exactly once and in order, until the run has ended.

        Starts at the first event, or after the one with the id `after`. Reconnects when a connection breaks. Leaving
        the loop does not cancel the run. To continue in another process, store `event["id"]` after you have processed
        the event. A stream without data for `silence` seconds counts as broken; an error is raised only after the
        service was unreachable for `patience` seconds.

        With handlers, questions and permission requests are answered while the events stream.
        """
        log = RunLog(self.id, self._connect, self._read)
        follower = RunFollower(self._calls.settings, log, after=after, silence=silence, patience=patience)
        responder = self._responder(Handlers(on_permission, on_question), patience)
        return follow(self._driver, follower.steps(), responder, is_resumed=bool(after))

    def __aiter__(self) -> AsyncGenerator[RunEvent, None]:
        return self.follow()

    async def text(
        self,
        *,
        on_question: AsyncQuestionHandler | None = None,
        on_permission: AsyncPermissionHandler | None = None,
        silence: float = USUAL_SILENCE,
        patience: float = USUAL_PATIENCE,
        timeout: float | None = None,
    ) -> str:
        """Waits for the run and returns its complete answer. Raises `RunError` if it failed or was cancelled.

        After `timeout` seconds it raises `WaitTimeoutError`; the run continues. A handler of the blocking client is not
        interrupted.
        """
        joined = RunText()
        run = await self._followed(
            joined.take, Handlers(on_permission, on_question), silence, patience, timeout
        )
        if run["status"] != "completed":
            raise RunError(run)
        return joined.text

    async def output(
        self,
        *,
        on_question: AsyncQuestionHandler | None = None,
        on_permission: AsyncPermissionHandler | None = None,
        silence: float = USUAL_SILENCE,
        patience: float = USUAL_PATIENCE,
        timeout: float | None = None,
    ) -> Any:
        """Waits for the run and returns what its agent returned, which the server has checked.

        Raises `RunError` if the run failed or was cancelled, and `NoOutput` if it completed without an output. After
        `timeout` seconds it raises `WaitTimeoutError`; the run continues.
        """
        run = await self._followed(
            lambda _: None, Handlers(on_permission, on_question), silence, patience, timeout
        )
        if run["status"] != "completed":
            raise RunError(run)
        if "output" not in run:
            raise NoOutput(run)
        return run["output"]

    async def wait(
        self,
        *,
        on_question: AsyncQuestionHandler | None = None,
        on_permission: AsyncPermissionHandler | None = None,
        silence: float = USUAL_SILENCE,
        patience: float = USUAL_PATIENCE,
        timeout: float | None = None,
    ) -> RunRecord:
        """Waits until the run has ended, with any outcome, and returns its record.

        After `timeout` seconds it raises `WaitTimeoutError`; the run continues. A handler of the blocking client is not
        interrupted.
        """
        return await self._followed(
            lambda _: None, Handlers(on_permission, on_question), silence, patience, timeout
        )

    async def _followed(
        self,
        take: Callable[[RunEvent], object],
        handlers: Handlers,
        silence: float,
        patience: float,
        timeout: float | None,
    ) -> RunRecord:
        """Follows the run to its end, for at most `timeout` seconds, and reads its record."""
        limit = WaitLimit(self._calls.settings.clock, self.id, timeout)
        log = RunLog(self.id, self._connect, self._read)
        follower = RunFollower(self._calls.settings, log, after=None, silence=silence, patience=patience)
        responder = self._responder(handlers, patience)
        async for event in follow(
            self._driver, follower.steps(), responder, is_resumed=False, limit=limit
        ):
            take(event)
        run: RunRecord = await self._driver.run(self._read(), limit)
        return run

    def _read(self) -> Steps[Any]:
        return self._calls.json(Call(op.GET_RUN, self._bound))

    def _responder(self, handlers: Handlers, patience: float) -> InteractionResponder | None:
        if handlers.on_question is None and handlers.on_permission is None:
            return None
        return InteractionResponder(self._calls, self.session_id, self.id, handlers, patience=patience)

    def _connect(self, after: str | None) -> Steps[EventStream]:
        opened, self._opened = self._opened, None
        if opened is not None and after is None:
            return opened
        if opened is not None:
            opened.response.close()
        headers = {"accept": "text/event-stream", **({} if after is None else {"last-event-id": after})}
        # The follower retries on its own, and for longer.
        call = Call(op.FOLLOW_RUN_EVENTS, self._bound, headers=headers, attempts=1)
        return (yield from EventStream.open(self._calls, call))


class AsyncRunStarting(AsyncResource):
    """The runs of one session."""

    async def start(
        self,
        input: RunInput,
        *,
        files: Sequence[str] | None = None,
        labels: Mapping[str, str] | None = None,
        budget: RunBudget | None = None,
        idempotency_key: str | None = None,
    ) -> AsyncRun:
        """Starts a run. A session executes one run at a time; later runs are queued. Same as `session.run()`."""
        from .._generated.async_resources import AsyncRun

        fields = {"input": input_of(input, files), "labels": labels, "budget": budget}
        key = idempotency_key or new_key()
        record = await self._json(op.START_RUN, json=present({**fields, "idempotency_key": key}))
        return AsyncRun(self._driver, self._calls, record)

    def at(self, run_id: str) -> AsyncRunHandle:
        """Returns the run with this id without a request, for example to follow it in another process."""
        from .._generated.async_resources import AsyncRunHandle

        return AsyncRunHandle(
            self._driver, self._calls, session_id=self._bound["session_id"], run_id=run_id
        )
