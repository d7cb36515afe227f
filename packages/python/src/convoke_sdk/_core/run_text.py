"""Joins the answer of a run from its events (D-87)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from typing import Any

#: The last delta of text that an interruption discards: it is for readers that do not know `run_interrupted`.
INTERRUPTED_TEXT = "\n\n(interrupted, resuming)\n\n"


class RunText:
    """Appends each `message_delta`, and drops what a `run_interrupted` discards.

    Take every event once and in order::

        answer = RunText()
        for event in run.follow():
            if answer.take(event):
                show_instead(answer.text)
    """

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._ids: list[str] = []

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def take(self, event: Mapping[str, Any]) -> bool:
        """Returns True when text was dropped: what was shown of it is no longer part of the answer."""
        if event["type"] == "message_delta":
            self._ids.append(event["id"])
            self._pieces.append(event["data"]["text"])
            return False
        if event["type"] != "run_interrupted":
            return False
        discarded = event["data"].get("discard_from_event_id")
        return discarded is not None and self._cut(discarded)

    def _cut(self, first_id: str) -> bool:
        # Ids have a fixed width, so they compare as text.
        first = bisect_left(self._ids, first_id)
        if first == len(self._ids):
            return False
        del self._ids[first:]
        del self._pieces[first:]
        return True
