"""Follows a run over as many connections as necessary (spec §6 rules 1 to 5).

The state between connections is the cursor: the id of the last event that was emitted.

- Connect with the cursor as `Last-Event-ID`. An error that a retry cannot fix (wrong token, unknown run or event) is
  raised. Any other error counts as a failure.
- Stream: drop events at or before the cursor, which were already emitted. Emit a terminal event and return. Otherwise
  the stream is closed, breaks, is silent, or contains something that is not an event; the last case is a failure.
- A 204 means that the cursor is the last event of an ended run: return.
- Check: a closed stream does not mean that the run has ended, so read the run. If it has not ended, connect again. If
  it has, return once the cursor is at its last event or a stream closes without more events.
- Wait before each connection, longer after each connection without new events.

Failures without new events in between are tolerated for `patience`; then the last one is raised. A run that waits for
hours while every connection breaks after a minute is not a failure: the run was read.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..errors import ConnectionFailedError, ConvokeError, is_temporary
from .effects import Emit, Sleep, Steps
from .events import EventStream, is_after, is_terminal_event, run_event_in
from .retry import backoff, pause_after
from .settings import Settings

#: Number of attempts to get a last event that the record names but the stream does not deliver.
_FINAL_EMPTY_MAX = 3


@dataclass(frozen=True)
class RunLog:
    """Access to the log of a run."""

    run_id: str
    connect: Callable[[str | None], Steps[EventStream]]
    read: Callable[[], Steps[Any]]


class RunFollower:
    def __init__(
        self, settings: Settings, log: RunLog, *, after: str | None, silence: float, patience: float
    ) -> None:
        self._settings = settings
        self._log = log
        self._silence = silence
        self._patience = patience
        self._cursor = after or None
        #: Number of consecutive short connections without new events.
        self._fruitless = 0
        #: Of these, the ones that the server closed after the run had ended.
        self._final_empty = 0
        #: Time of the first of consecutive failures.
        self._failing_since: float | None = None
        self._opened_at = 0.0
        #: Whether the server closed the last stream.
        self._was_clean = False
        #: Whether the server answered that nothing comes after the cursor.
        self._is_at_end = False
        self._has_ended = False
        self._retry = 0.0

    def steps(self) -> Steps[None]:
        """Emits every event exactly once and in order, and returns when the run has ended."""
        while True:
            failure: ConvokeError | None = None
            before = self._cursor
            try:
                if (yield from self._one_stream()) or self._is_at_end:
                    return
                run = yield from self._log.read()
                if self._is_over(run):
                    return
            except ConvokeError as error:
                if not is_temporary(error):
                    raise
                failure = error
            self._note(failure)
            yield Sleep(self._pause(failure, has_new=self._cursor != before))

    def _one_stream(self) -> Steps[bool]:
        """Returns whether a terminal event was emitted."""
        self._was_clean = False
        self._opened_at = self._settings.clock()
        stream = yield from self._log.connect(self._cursor)
        try:
            self._is_at_end = stream.is_at_end and self._cursor is not None
            if self._is_at_end:
                return False
            while (messages := (yield from stream.messages(self._silence))) is not None:
                for message in messages:
                    event = run_event_in(message, self._log.run_id)
                    if not is_after(event["id"], self._cursor):
                        continue
                    self._cursor = event["id"]
                    self._failing_since = None
                    yield Emit(event)
                    if is_terminal_event(event):
                        return True
            self._was_clean = stream.is_clean
            return False
        finally:
            self._retry = stream.retry
            stream.response.close()

    def _is_over(self, run: Any) -> bool:
        """Whether the run has ended and all its events were emitted."""
        if run["status"] not in ("completed", "failed", "cancelled"):
            self._failing_since = None
            return False
        last = run.get("last_event_id")
        if last is not None and last == self._cursor:
            return True
        # The previous stream may have been opened before the run ended: only the next one is final.
        if self._has_ended and self._was_clean:
            self._final_empty += 1
        self._has_ended = True
        return self._final_empty >= (1 if last is None else _FINAL_EMPTY_MAX)

    def _note(self, failure: ConvokeError | None) -> None:
        """Raises when following has failed for too long."""
        # After the run has ended, a stream that keeps breaking is a failure.
        if failure is None and (not self._has_ended or self._was_clean):
            return
        now = self._settings.clock()
        if self._failing_since is None:
            self._failing_since = now
        if now - self._failing_since >= self._patience:
            message = f"The event stream of {self._log.run_id} keeps breaking."
            raise failure or ConnectionFailedError(message, code="stream_broken")

    def _pause(self, failure: ConvokeError | None, *, has_new: bool) -> float:
        retry = self._settings.retry
        has_lasted = self._settings.clock() - self._opened_at > retry.max
        self._fruitless = 0 if has_new or has_lasted else self._fruitless + 1
        if has_new:
            self._final_empty = 0
        if self._fruitless > 1:
            retry = dataclasses.replace(retry, base=max(retry.base, self._retry))
        rounds = max(0, self._fruitless - 1)
        if failure is None:
            return backoff(retry, rounds, self._settings.random)
        pause = pause_after(failure, retry, rounds, self._settings.random)
        if pause is None:
            raise failure
        return pause
