"""Events of a run and notices of the feed, as streams deliver them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from .._generated.events import RunEvent
from .._generated.records import NoticeRecord
from ..errors import ServerError
from .calls import Call, Calls
from .effects import Read, Response, Steps
from .sse import MessageParser, MessageTooLong

_TERMINAL = ("run_completed", "run_cancelled", "error")


class EventStream:
    """One connection to the events of a run or of a tenant. Followers open as many as they need."""

    def __init__(self, response: Response) -> None:
        self.response = response
        #: Whether the server closed the stream. If not, the connection broke or was silent.
        self.is_clean = False
        self._parser = MessageParser()

    @staticmethod
    def open(calls: Calls, call: Call) -> Steps[EventStream]:
        response = yield from calls.open(call)
        return EventStream(response)

    @property
    def is_at_end(self) -> bool:
        """Whether the run has ended and the cursor is its last event: the server answers 204 instead of a stream."""
        return self.response.status == 204

    @property
    def retry(self) -> float:
        return self._parser.retry or 0.0

    @property
    def last_id(self) -> str | None:
        """The last id that the server sent, with or without an event."""
        return self._parser.last_id

    def messages(self, silence: float) -> Steps[list[str] | None]:
        """Returns the messages that arrived; None once the stream was closed, broke, or was silent for too long.

        The server sends something every 15 s (D-30), so a silent connection is dead.
        """
        if not self.response.headers.get("content-type", "").startswith("text/event-stream"):
            raise broken("The answer is not a stream of events.")
        try:
            piece = yield Read(self.response, silence)
        except OSError:
            return None
        if not piece:
            self.is_clean = True
            return None
        try:
            return self._parser.push(piece)
        except MessageTooLong as error:
            raise broken("A message is too long.") from error


def broken(why: str) -> ServerError:
    return ServerError(f"The stream is broken. {why}", code="stream_broken")


def is_terminal_event(event: Mapping[str, Any]) -> bool:
    """Whether this event ends its run: exactly three types do (spec §6 rule 4)."""
    return event["type"] in _TERMINAL


def is_after(event_id: str, cursor: str | None) -> bool:
    """D-02: ids have a fixed width, so they sort as text. A longer id is later."""
    return cursor is None or (len(event_id), event_id) > (len(cursor), cursor)


def run_event_in(message: str, run_id: str) -> RunEvent:
    value = _object_in(message)
    is_event = isinstance(value.get("data"), dict) and value.get("run_id") == run_id
    if not is_event:
        raise broken("It holds something else than events of the run.")
    return cast(RunEvent, value)


def notice_in(message: str) -> NoticeRecord:
    return cast(NoticeRecord, _object_in(message))


def _object_in(message: str) -> dict[str, Any]:
    try:
        value = json.loads(message)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict) and isinstance(value.get("id"), str) and isinstance(value.get("type"), str):
        return value
    raise broken("It holds something else than events.")
