"""Tells a program that its run was cancelled."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable


class Signal:
    """Aborts when the run is cancelled."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._listeners: list[Callable[[], object]] = []

    @property
    def aborted(self) -> bool:
        return self._event.is_set()

    def wait(self, seconds: float | None = None) -> bool:
        """Waits until the run is cancelled, for at most this long. Returns whether it was."""
        return self._event.wait(seconds)

    def on_abort(self, listener: Callable[[], object]) -> None:
        """Calls the function when the run is cancelled; at once if it was."""
        self._listeners.append(listener)
        if self.aborted:
            self.notify()

    def abort(self) -> None:
        self._event.set()

    def notify(self) -> None:
        listeners, self._listeners = self._listeners, []
        for listener in listeners:
            try:
                listener()
            except Exception as error:
                print(f"on_abort: {type(error).__name__}: {error}", file=sys.stderr)
