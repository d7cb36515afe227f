"""Limits how long an application waits for a run. The run continues."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from ..errors import WaitTimeoutError
from .effects import Effect, Emit, Exclusive, Invoke, Sleep


class WaitLimit:
    """The driver performs each effect of the wait for at most the time that is left."""

    def __init__(self, clock: Callable[[], float], run_id: str, timeout: float | None) -> None:
        self._clock = clock
        self._run_id = run_id
        self._timeout = timeout
        self._begun_at = clock()

    def allowed(self, effect: Effect) -> Effect:
        """Returns the effect, shortened. Raises `WaitTimeoutError` when no time is left."""
        # An event that has arrived is not withheld, and a handler is the application's.
        if self._timeout is None or isinstance(effect, (Emit, Invoke)):
            return effect
        left = self._begun_at + self._timeout - self._clock()
        if left <= 0:
            raise WaitTimeoutError(self._run_id, self._timeout)
        if isinstance(effect, Exclusive):
            # The driver performs its steps under the same limit.
            return effect
        if isinstance(effect, Sleep):
            return Sleep(min(effect.seconds, left))
        return dataclasses.replace(effect, timeout=min(effect.timeout, left))
