# Generated from _async/feed.py by packages/python/scripts/write-wire.ts. Do not edit.
"""The feed: everything that happens in the workspace, as numbered notices."""

from __future__ import annotations

from collections.abc import Generator, Callable, Sequence
from typing import Literal

from .._core.calls import Call
from .._core.effects import Steps
from .._core.events import EventStream
from .._core.feed import FeedFollower, FeedOptions
from .._core.settings import USUAL_PATIENCE, USUAL_SILENCE
from .._generated import operations as op
from .._generated.records import NoticeRecord
from .._generated.values import NoticeType
from .resource import Resource


class FeedFollowing(Resource):
    """Everything that happens in the workspace, as numbered notices."""

    def follow(
        self,
        *,
        after: str | None = None,
        from_: Literal["oldest", "newest"] | None = None,
        types: Sequence[NoticeType] | None = None,
        on_cursor: Callable[[str], None] | None = None,
        silence: float = USUAL_SILENCE,
        patience: float = USUAL_PATIENCE,
    ) -> Generator[NoticeRecord, None, None]:
        """Yields notices exactly once and in order, without an end. Reconnects when a connection breaks.

        Without `after`, `from_` says where to start: at the oldest notice that is kept, or after the newest.
        `on_cursor` is called with the cursor, also when it moves over notices that `types` leaves out: store it to
        continue after it. Raises `cursor_expired` if notices after the cursor are no longer kept.
        """

        def connect(cursor: str | None) -> Steps[EventStream]:
            headers = {"accept": "text/event-stream", **({} if cursor is None else {"last-event-id": cursor})}
            query = {"types": None if types is None else list(types), "from": from_}
            # The follower retries on its own, and for longer.
            call = Call(op.FOLLOW_TENANT_EVENTS, {}, query, headers, attempts=1)
            return (yield from EventStream.open(self._calls, call))

        options = FeedOptions(after, silence, patience, on_cursor)
        return self._driver.stream(FeedFollower(self._calls.settings, connect, options).steps())
