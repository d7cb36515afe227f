"""The order in which results reach the agent function."""

from __future__ import annotations

from collections.abc import Callable

from .pending import Host


class Deliveries:
    """Hands results to the agent function one at a time, each in its own turn, the lowest order first (L5).

    So a replay continues the branches of the function in the same order as the first time, and the text that they emit
    between steps is in the same order.
    """

    def __init__(self, host: Host) -> None:
        self._host = host
        self._waiting: list[tuple[float, Callable[[], None]]] = []
        self._is_scheduled = False
        self._on_quiet: list[Callable[[], None]] = []

    def add(self, order: float, go: Callable[[], None]) -> None:
        at = len(self._waiting)
        while at > 0 and self._waiting[at - 1][0] > order:
            at -= 1
        self._waiting.insert(at, (order, go))
        self._schedule()

    def when_quiet(self, callback: Callable[[], None]) -> None:
        """Calls back when no delivery is pending and the function had a turn since the last one."""
        self._on_quiet.append(callback)
        self._schedule()

    def _schedule(self) -> None:
        if self._is_scheduled:
            return
        self._is_scheduled = True
        self._host.later(self._turn)

    def _turn(self) -> None:
        self._is_scheduled = False
        if not self._waiting:
            callbacks, self._on_quiet = self._on_quiet, []
            for callback in callbacks:
                callback()
            return
        _, go = self._waiting.pop(0)
        go()
        if self._waiting or self._on_quiet:
            self._schedule()
