# Generated from _async/runs.py by packages/python/scripts/write-wire.ts. Do not edit.
"""Runs: following one, and starting them."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import TYPE_CHECKING

from .._core.calls import Call, Calls
from .._core.effects import Steps
from .._core.events import EventStream
from .._core.follow import RunFollower, RunLog
from .._core.handlers import PermissionHandler, QuestionHandler
from .._core.interactions import Handlers, InteractionResponder
from .._core.requests import RunInput, input_of, new_key, present
from .._core.run_text import RunText
from .._core.settings import USUAL_PATIENCE, USUAL_SILENCE
from .._generated import operations as op
from .._generated.events import RunEvent
from .._generated.records import RunRecord
from ..errors import RunError
from .driver import Driver
from .following import follow
from .resource import Resource

if TYPE_CHECKING:
    from .._generated.resources import Run, RunHandle
    from .._generated.requests import RunBudget


class RunFollowing(Resource):
    """A run by its ids. Creating it sends no request."""

    def __init__(
        self,
        driver: Driver,
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

    def follow(
        self,
        *,
        after: str | None = None,
        on_question: QuestionHandler | None = None,
        on_permission: PermissionHandler | None = None,
        silence: float = USUAL_SILENCE,
        patience: float = USUAL_PATIENCE,
    ) -> Generator[RunEvent, None, None]:
        """Yields the events of the run exactly once and in order, until the run has ended.

        Starts at the first event, or after the one with the id `after`. Reconnects when a connection breaks. Leaving
        the loop does not cancel the run. To continue in another process, store `event["id"]` after you have processed
        the event. A stream without data for `silence` seconds counts as broken; an error is raised only after the
        service was unreachable for `patience` seconds.

        With handlers, questions and permission requests are answered while the events stream.
        """
        log = RunLog(self.id, self._connect, lambda: self._calls.json(Call(op.GET_RUN, self._bound)))
        follower = RunFollower(self._calls.settings, log, after=after, silence=silence, patience=patience)
        responder: InteractionResponder | None = None
        if on_question is not None or on_permission is not None:
            handlers = Handlers(on_permission, on_question)
            responder = InteractionResponder(self._calls, self.session_id, self.id, handlers)
        return follow(self._driver, follower.steps(), responder, is_resumed=bool(after))

    def __iter__(self) -> Generator[RunEvent, None, None]:
        return self.follow()

    def text(
        self,
        *,
        on_question: QuestionHandler | None = None,
        on_permission: PermissionHandler | None = None,
        silence: float = USUAL_SILENCE,
        patience: float = USUAL_PATIENCE,
    ) -> str:
        """Waits for the run and returns its complete answer. Raises `RunError` if it failed or was cancelled."""
        joined = RunText()
        for event in self.follow(
            on_question=on_question, on_permission=on_permission, silence=silence, patience=patience
        ):
            joined.take(event)
        run: RunRecord = self._json(op.GET_RUN)
        if run["status"] != "completed":
            raise RunError(run)
        return joined.text

    def wait(
        self,
        *,
        on_question: QuestionHandler | None = None,
        on_permission: PermissionHandler | None = None,
        silence: float = USUAL_SILENCE,
        patience: float = USUAL_PATIENCE,
    ) -> RunRecord:
        """Waits until the run has ended, with any outcome, and returns its record."""
        for _ in self.follow(
            on_question=on_question, on_permission=on_permission, silence=silence, patience=patience
        ):
            pass
        run: RunRecord = self._json(op.GET_RUN)
        return run

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


class RunStarting(Resource):
    """The runs of one session."""

    def start(
        self,
        input: RunInput,
        *,
        files: Sequence[str] | None = None,
        labels: Mapping[str, str] | None = None,
        budget: RunBudget | None = None,
        idempotency_key: str | None = None,
    ) -> Run:
        """Starts a run. A session executes one run at a time; later runs are queued. Same as `session.run()`."""
        from .._generated.resources import Run

        fields = {"input": input_of(input, files), "labels": labels, "budget": budget}
        key = idempotency_key or new_key()
        record = self._json(op.START_RUN, json=present({**fields, "idempotency_key": key}))
        return Run(self._driver, self._calls, record)

    def at(self, run_id: str) -> RunHandle:
        """Returns the run with this id without a request, for example to follow it in another process."""
        from .._generated.resources import RunHandle

        return RunHandle(
            self._driver, self._calls, session_id=self._bound["session_id"], run_id=run_id
        )
