"""Follows the notices of a tenant: like a run, but without an end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..errors import ConvokeError, is_temporary
from .effects import Emit, Sleep, Steps
from .events import EventStream, is_after, notice_in
from .retry import backoff, pause_after
from .settings import Settings


@dataclass(frozen=True)
class FeedOptions:
    after: str | None
    silence: float
    patience: float
    #: Called with the cursor, also when it moves over notices that were not asked for.
    on_cursor: Callable[[str], None] | None


class FeedFollower:
    def __init__(
        self,
        settings: Settings,
        connect: Callable[[str | None], Steps[EventStream]],
        options: FeedOptions,
    ) -> None:
        self._settings = settings
        self._connect = connect
        self._options = options
        self._cursor = options.after or None
        #: Number of consecutive connections without a notice.
        self._fruitless = 0
        #: Time of the first of consecutive failures.
        self._failing_since: float | None = None

    def steps(self) -> Steps[None]:
        while True:
            before = self._cursor
            failure: ConvokeError | None = None
            try:
                yield from self._one_stream()
            except ConvokeError as error:
                if not is_temporary(error):
                    raise
                failure = error
            if self._cursor != before:
                self._fruitless = 0
            yield Sleep(self._pause(failure))

    def _one_stream(self) -> Steps[None]:
        stream = yield from self._connect(self._cursor)
        try:
            while (messages := (yield from stream.messages(self._options.silence))) is not None:
                for message in messages:
                    notice = notice_in(message)
                    if self._move(notice["id"]):
                        yield Emit(notice)
                        self._tell(notice["id"])
            # A stream that ended may have moved the cursor over notices that were not asked for.
            if stream.last_id is not None and self._move(stream.last_id):
                self._tell(stream.last_id)
        finally:
            stream.response.close()

    def _move(self, notice_id: str) -> bool:
        if not is_after(notice_id, self._cursor):
            return False
        self._cursor = notice_id
        self._failing_since = None
        return True

    def _tell(self, notice_id: str) -> None:
        if self._options.on_cursor is not None:
            self._options.on_cursor(notice_id)

    def _pause(self, failure: ConvokeError | None) -> float:
        """How long to wait before the next connection. Raises when following has failed for too long."""
        self._fruitless += 1
        retry, random = self._settings.retry, self._settings.random
        if failure is None:
            self._failing_since = None
            return backoff(retry, self._fruitless - 1, random)
        now = self._settings.clock()
        if self._failing_since is None:
            self._failing_since = now
        pause = pause_after(failure, retry, self._fruitless - 1, random)
        if pause is None or now - self._failing_since >= self._options.patience:
            raise failure
        return pause
