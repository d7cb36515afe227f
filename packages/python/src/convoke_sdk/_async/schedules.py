"""Schedules, where a method is more than its request."""

from __future__ import annotations

from .._generated import operations as op
from .resource import AsyncResource


class AsyncSchedulePreviewing(AsyncResource):
    """The schedules of the workspace: each starts runs of an agent at the times of a cron pattern."""

    async def preview(self, schedule_id: str, *, count: int | None = None) -> list[str]:
        """Returns the next times of the pattern."""
        path = {"schedule_id": schedule_id}
        answer = await self._json(op.PREVIEW_SCHEDULE, path=path, query={"count": count})
        times: list[str] = answer["times"]
        return times
