"""What earlier legs have left: results, answers, settled waits, and the last recovery point."""

from __future__ import annotations

import math

from .results import read_result

#: New results follow all stored ones.
_FIRST_TIME = 2**52


class Replay:
    def __init__(self, start: dict) -> None:
        self.point = _point_of(start)
        given = start["input"]
        self.answers: dict[str, dict] = given.get("answers") or {}
        #: What else the run has waited for; an older server sends none.
        self.waits: dict[str, dict] = given.get("waits") or {}
        #: The numbers of the settled waits, in their order.
        self._wait_numbers = sorted(wait["number"] for wait in self.waits.values() if wait["state"] == "settled")
        self._calls: dict[str, dict] = given.get("calls") or {}
        path = root_path(saves_of(self.point))
        results = {
            ref: read_result(call["output"])
            for ref, call in self._calls.items()
            if call["state"] == "ended" and ref.startswith(path)
        }
        self._left_over = dict.fromkeys(results)
        self._is_effect = {ref for ref, result in results.items() if not result.get("isRepeatable")}
        called = [ref for ref, wait in self.waits.items() if wait["kind"] == "run" and ref.startswith(path)]
        self._left_calls = dict.fromkeys(called)
        orders = [result["order"] for result in results.values() if result["order"] != math.inf]
        #: The highest number in the order of results.
        self.last_order = max([0, *orders, *((self.point or {}).get("order") or {}).values()])

    def take(self, ref: str) -> dict | None:
        """Returns the stored call that the function asks for."""
        self._left_over.pop(ref, None)
        return self._calls.get(ref)

    def take_call(self, ref: str) -> dict | None:
        """Returns the known result of a called run that the function asks for."""
        self._left_calls.pop(ref, None)
        return self.waits.get(ref)

    @property
    def left_calls(self) -> list[str]:
        """Calls of other agents that the function has not asked for yet."""
        return list(self._left_calls)

    def order_of_wait(self, number: int) -> float:
        """Where a settled wait comes the first time.

        In the order in which waits were settled, whatever the program asks first.
        """
        return _FIRST_TIME + self._wait_numbers.index(number) + 1

    def order_of_answer(self, ref: str) -> float:
        """Where an answer comes the first time: after the waits that were settled before it.

        Answers between two waits come in the order in which the program asks for them. A call that was left comes last.
        """
        refs = list(self.answers)
        index = refs.index(ref) if ref in self.answers else -1
        before = [
            number
            for place, number in enumerate(self._wait_numbers)
            if index == -1 or number - 1 - place <= index
        ]
        return _FIRST_TIME + len(before) + 0.5

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

    def forget_left_calls(self) -> None:
        self._left_calls.clear()


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
