"""What a leg has emitted and saved so far, and the recovery point that covers it."""

from __future__ import annotations

import math
from collections.abc import Callable

from .failures import NotJson
from .output_order import Emission, OutputOrder, Speaker
from .json_values import dump, json_copy, size_of
from .replay import Replay, root_path, saves_of, state_before
from .usage_sums import UsageSums

_STATE_BYTES_MAX = 4 * 1024 * 1024


class Progress:
    """The recovery point is the session's checkpoint (D-177)."""

    def __init__(self, start: dict, replay: Replay, send: Callable[[dict], None]) -> None:
        self._send = send
        self._usage = UsageSums()
        fresh = {"convoke": 1, "run": start["run_id"], "base": state_before(start) or {}}
        known = replay.point or {**fresh, "said": 0, "order": {}}
        self._point = {name: known[name] for name in known if name not in ("said", "order")}
        self._order: dict[str, int] = dict(known["order"])
        self._last_order = replay.last_order
        self.output = self._new_output(known["said"])
        #: `ctx.state`, which the function changes.
        self.state: dict = json_copy(self._point["base"], "ctx.state")  # type: ignore[assignment]

    @property
    def saved(self) -> object:
        return (self._point.get("saved") or {}).get("value")

    @property
    def path(self) -> str:
        """The prefix of step refs."""
        return root_path(saves_of(self._point))

    def say(self, emission: Emission, speaker: Speaker | None = None) -> None:
        self.output.say(emission, speaker)

    def next_order(self) -> int:
        """The next number in the order of results."""
        self._last_order += 1
        return self._last_order

    def order_of(self, ref: str) -> int | None:
        """The number of an answer, or of a call that was left; None if it has none yet."""
        return self._order.get(ref)

    def assign_order(self, ref: str) -> None:
        self._order[ref] = self.next_order()

    def save(self, progress: object) -> None:
        value = json_copy(progress, "progress")
        before = self._point.get("before", self._point["base"])
        saved = {"number": saves_of(self._point) + 1, "value": value}
        self._point = {**self._point, "base": self.state_now(), "before": before, "saved": saved}
        self._order = {}
        self.output = self._new_output(0)
        self._send({"type": "checkpoint", "state": self.point(), "recovery": True})

    def point(self) -> dict:
        return {**self._point, "said": self.output.said, "order": dict(self._order)}

    @property
    def state_before(self) -> dict:
        """The state of the session after a run that did not complete: as it was before the run (L12, D-170)."""
        return {"convoke": 1, "state": self._point.get("before", self._point["base"])}

    def state_now(self) -> dict:
        copy: dict = json_copy(self.state, "ctx.state")  # type: ignore[assignment]
        size = size_of(dump(copy))
        if size <= _STATE_BYTES_MAX:
            return copy
        kib = f"{math.ceil(size / 1024)} KiB; the limit is {_STATE_BYTES_MAX // 1024} KiB"
        raise NotJson(f"ctx.state has {kib}. Write a file and keep its name.")

    def _new_output(self, covered: int) -> OutputOrder:
        def send(emission: Emission, is_between_steps: bool) -> None:
            message = self._usage.add(emission) if emission["type"] == "usage" else emission
            # Text is discarded after a loss. Usage is not, so it is sent with its point: nothing is charged twice.
            has_point = is_between_steps and emission["type"] != "message_delta"
            self._send({**message, "point": self.point()} if has_point else message)

        return OutputOrder(covered, send)
