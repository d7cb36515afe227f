"""Performs what the core asks for, by blocking the thread."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Generator
from contextlib import closing
from typing import Any, TypeVar

from .._core.effects import Effect, Emit, Exclusive, Invoke, Read, Send, Sleep, Steps
from .._core.wait_limit import WaitLimit
from .transport import Transport

T = TypeVar("T")


class Driver:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._guard = threading.Lock()
        self._locks: weakref.WeakKeyDictionary[Any, threading.Lock] = weakref.WeakKeyDictionary()

    def run(self, steps: Steps[T], limit: WaitLimit | None = None) -> T:
        """Performs steps and returns their result."""
        stream: Generator[Any, None, T] = self._drive(steps, limit)
        try:
            while True:
                next(stream)
        except StopIteration as end:
            result: T = end.value
            return result

    def stream(self, steps: Steps[None], limit: WaitLimit | None = None) -> Generator[Any, None, None]:
        """Performs steps and yields what they emit."""
        return self._drive(steps, limit)

    def close(self) -> None:
        self._transport.close()

    def _drive(self, steps: Steps[T], limit: WaitLimit | None) -> Generator[Any, None, T]:
        with closing(steps):
            try:
                effect = next(steps)
                while True:
                    if isinstance(effect, Emit):
                        yield effect.item
                        effect = next(steps)
                        continue
                    allowed = effect if limit is None else limit.allowed(effect)
                    try:
                        value = self._perform(allowed, limit)
                    except Exception as error:
                        effect = steps.throw(error)
                    else:
                        effect = steps.send(value)
            except StopIteration as end:
                result: T = end.value
                return result

    def _perform(self, effect: Effect, limit: WaitLimit | None) -> Any:
        if isinstance(effect, Read):
            return effect.response.read(effect.timeout)  # type: ignore[attr-defined]
        if isinstance(effect, Send):
            return self._transport.send(effect.request, effect.timeout)
        if isinstance(effect, Sleep):
            return time.sleep(effect.seconds)
        if isinstance(effect, Exclusive):
            return self._exclusive(effect, limit)
        if isinstance(effect, Invoke):
            return effect.function(*effect.arguments)
        raise AssertionError(f"a step asks for {effect}")

    def _exclusive(self, effect: Exclusive, limit: WaitLimit | None) -> Any:
        with self._guard:
            lock = self._locks.setdefault(effect.owner, threading.Lock())
        if not lock.acquire(blocking=effect.must_wait):
            effect.steps.close()
            return None
        try:
            return self.run(effect.steps, limit)
        finally:
            lock.release()
