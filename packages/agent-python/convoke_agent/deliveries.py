"""The order in which results reach a program."""

from __future__ import annotations

from collections.abc import Callable

from .pending import Host


class Deliveries:
    """Hands results to the program one at a time, each in a turn of its own, the lowest order first.

    A replay thus continues the branches of a program in the order in which they went on the first time, so that what
    they say between steps comes in the same order.
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
        """Calls back when nothing waits to be delivered, and the program had a turn since."""
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
