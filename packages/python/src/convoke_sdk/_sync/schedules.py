# Generated from _async/schedules.py by packages/python/scripts/write-wire.ts. Do not edit.
"""Schedules, where a method is more than its request."""

from __future__ import annotations

from .._generated import operations as op
from .resource import Resource


class SchedulePreviewing(Resource):
    """The schedules of the workspace: each starts runs of an agent at the times of a cron pattern."""

    def preview(self, schedule_id: str, *, count: int | None = None) -> list[str]:
        """Returns the next times of the pattern."""
        path = {"schedule_id": schedule_id}
        answer = self._json(op.PREVIEW_SCHEDULE, path=path, query={"count": count})
        times: list[str] = answer["times"]
        return times
