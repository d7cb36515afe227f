"""Performs what the core asks for, by awaiting it."""

from __future__ import annotations

import asyncio
import inspect
import weakref
from collections.abc import AsyncGenerator
from contextlib import closing
from typing import Any, TypeVar

from .._core.effects import Effect, Emit, Exclusive, Invoke, Read, Send, Sleep, Steps
from .._core.wait_limit import WaitLimit
from .transport import AsyncTransport

T = TypeVar("T")


class AsyncDriver:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport
        # A lock belongs to one event loop, and a client may be used by one `asyncio.run` after the other.
        self._locks: weakref.WeakKeyDictionary[Any, tuple[Any, asyncio.Lock]] = weakref.WeakKeyDictionary()

    async def run(self, steps: Steps[T], limit: WaitLimit | None = None) -> T:
        """Performs steps and returns their result."""
        with closing(steps):
            try:
                effect = next(steps)
                while True:
                    effect = await self._advance(steps, effect, limit)
            except _End as end:
                result: T = end.value
                return result
            except StopIteration as end:
                result = end.value
                return result

    async def stream(self, steps: Steps[None], limit: WaitLimit | None = None) -> AsyncGenerator[Any, None]:
        """Performs steps and yields what they emit."""
        with closing(steps):
            try:
                effect = next(steps)
                while True:
                    if isinstance(effect, Emit):
                        yield effect.item
                        effect = next(steps)
                    else:
                        effect = await self._advance(steps, effect, limit)
            except (_End, StopIteration):
                return

    async def close(self) -> None:
        await self._transport.close()

    async def _advance(self, steps: Steps[Any], effect: Effect, limit: WaitLimit | None) -> Effect:
        allowed = effect if limit is None else limit.allowed(effect)
        try:
            value = await self._perform(allowed, limit)
        except Exception as error:
            failure: Exception = error
        else:
            # A coroutine cannot raise StopIteration.
            try:
                return steps.send(value)
            except StopIteration as end:
                raise _End(end.value) from None
        try:
            return steps.throw(failure)
        except StopIteration as end:
            raise _End(end.value) from None

    async def _perform(self, effect: Effect, limit: WaitLimit | None) -> Any:
        if isinstance(effect, Read):
            return await effect.response.read(effect.timeout)  # type: ignore[attr-defined]
        if isinstance(effect, Send):
            return await self._transport.send(effect.request, effect.timeout)
        if isinstance(effect, Sleep):
            return await asyncio.sleep(effect.seconds)
        if isinstance(effect, Exclusive):
            return await self._exclusive(effect, limit)
        if isinstance(effect, Invoke):
            said = effect.function(*effect.arguments)
            return await said if inspect.isawaitable(said) else said
        raise AssertionError(f"a step asks for {effect}")

    async def _exclusive(self, effect: Exclusive, limit: WaitLimit | None) -> Any:
        loop = asyncio.get_running_loop()
        known = self._locks.get(effect.owner)
        if known is None or known[0] is not loop:
            known = self._locks[effect.owner] = (loop, asyncio.Lock())
        lock = known[1]
        if lock.locked() and not effect.must_wait:
            effect.steps.close()
            return None
        async with lock:
            return await self.run(effect.steps, limit)


class _End(Exception):
    """The steps are done."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value

