"""Limits how long an application waits for a run. The run continues."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from contextlib import closing
from typing import Any, TypeVar

from ..errors import WaitTimeoutError
from .effects import Effect, Emit, Exclusive, Invoke, Sleep, Steps

T = TypeVar("T")


class WaitLimit:
    def __init__(self, clock: Callable[[], float], run_id: str, timeout: float | None) -> None:
        self._clock = clock
        self._run_id = run_id
        self._timeout = timeout
        self._begun_at = clock()

    def over(self, steps: Steps[T]) -> Steps[T]:
        """Performs the steps, each for at most the time that is left, and raises `WaitTimeoutError` when none is."""
        if self._timeout is None:
            return (yield from steps)
        with closing(steps):
            try:
                effect = next(steps)
                while True:
                    allowed = self._shortened(effect)
                    try:
                        value: Any = yield allowed
                    except Exception as error:
                        effect = steps.throw(error)
                    else:
                        effect = steps.send(value)
            except StopIteration as end:
                result: T = end.value
                return result

    def _shortened(self, effect: Effect) -> Effect:
        # An event that has arrived is not withheld, and a handler is the application's.
        if isinstance(effect, (Emit, Invoke)):
            return effect
        timeout = self._timeout or 0.0
        left = self._begun_at + timeout - self._clock()
        if left <= 0:
            raise WaitTimeoutError(self._run_id, timeout)
        if isinstance(effect, Exclusive):
            return dataclasses.replace(effect, steps=self.over(effect.steps))
        if isinstance(effect, Sleep):
            return Sleep(min(effect.seconds, left))
        return dataclasses.replace(effect, timeout=min(effect.timeout, left))
