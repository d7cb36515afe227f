"""What earlier legs have left: results, answers, and the last recovery point."""

from __future__ import annotations

import math

from .results import read_result


class Replay:
    def __init__(self, start: dict) -> None:
        self.point = _point_of(start)
        given = start["input"]
        self.answers: dict[str, dict] = given.get("answers") or {}
        self._calls: dict[str, dict] = given.get("calls") or {}
        path = root_path(saves_of(self.point))
        results = {
            ref: read_result(call["output"])
            for ref, call in self._calls.items()
            if call["state"] == "ended" and ref.startswith(path)
        }
        self._left_over = dict.fromkeys(results)
        self._is_effect = {ref for ref, result in results.items() if not result.get("isRepeatable")}
        orders = [result["order"] for result in results.values() if result["order"] != math.inf]
        #: The highest number in the order of results.
        self.last_order = max([0, *orders, *((self.point or {}).get("order") or {}).values()])

    def take(self, ref: str) -> dict | None:
        """Returns the stored call that the function asks for."""
        self._left_over.pop(ref, None)
        return self._calls.get(ref)

    @property
    def left_over(self) -> list[str]:
        """Results that the function has not asked for yet."""
        return list(self._left_over)

    @property
    def has_effect_left(self) -> bool:
        """Whether one of them is the result of a step that must not run twice."""
        return any(ref in self._is_effect for ref in self._left_over)

    def forget_left_over(self) -> None:
        self._left_over.clear()


def root_path(saves: int) -> str:
    """Prefix of step refs after this many saves. Step names cannot start with it."""
    return "" if saves == 0 else f">{saves} "


def saves_of(point: dict | None) -> int:
    return ((point or {}).get("saved") or {}).get("number", 0)


def state_before(start: dict) -> dict | None:
    """The session's state before the run. The run before may have left only a recovery point."""
    state = start["state"]
    if not _is_ours(state):
        return None
    for name in ("state", "before", "base"):
        if state.get(name) is not None:
            return state[name]
    return None


def is_foreign(start: dict) -> bool:
    """Whether the session has a checkpoint that another framework made."""
    return start["state"] is not None and not _is_ours(start["state"])


def _point_of(start: dict) -> dict | None:
    """The recovery point of this run, if the session's checkpoint is one."""
    state = start["state"]
    return state if _is_ours(state) and state.get("run") == start["run_id"] else None


def _is_ours(state: object) -> bool:
    return isinstance(state, dict) and state.get("convoke") == 1
