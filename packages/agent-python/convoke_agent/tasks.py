"""Runs an agent that is `async def`, with asyncio. Only such agents import this module."""

from __future__ import annotations

import asyncio
import selectors
import threading
from collections import deque
from collections.abc import Callable, Coroutine, Generator

from .failures import LegOver, Misuse, RunCancelled
from .pending import READER, Host, Pending

#: A function that never comes to rest gets its next result after this many turns of the loop.
_RESTLESS_TURNS_MAX = 100
_UNWIND_SECONDS = 1


def _report(loop: asyncio.AbstractEventLoop, context: dict) -> None:
    """Says nothing about tasks that the end of the leg has unwound, such as the losers of a race."""
    if not isinstance(context.get("exception"), (LegOver, RunCancelled)):
        loop.default_exception_handler(context)


class _RestingSelector(selectors.DefaultSelector):
    """Notices when the loop has nothing to do: the loop then asks the selector to wait."""

    def __init__(self) -> None:
        super().__init__()
        self.later: deque[Callable[[], None]] = deque()
        self.loop: _Loop | None = None
        #: Called when nothing can wake the loop any more; returns whether it had something to do then.
        self.on_empty: Callable[[], bool] = lambda: False
        self._turns = 0

    def select(self, timeout: float | None = None) -> list:
        if self.later and self.loop is not None:
            self._turns += 1
            if timeout is None or timeout > 0 or self._turns > _RESTLESS_TURNS_MAX:
                self._turns = 0
                self.loop.call_soon(self.later.popleft())
            timeout = 0
        elif timeout is None and self._is_empty():
            # A thread that has ended may have woken the loop just before.
            events = super().select(0)
            if events or self.on_empty():
                return events
        return super().select(timeout)

    def _is_empty(self) -> bool:
        """Whether the loop waits for no timer, no descriptor but its own, and no thread of the agent."""
        return len(self.get_map()) <= 1 and self.loop is not None and not self.loop.has_threads


class _Loop(asyncio.SelectorEventLoop):
    """Knows whether a thread of the agent may still wake it."""

    def __init__(self, selector: _RestingSelector) -> None:
        super().__init__(selector)
        self._in_threads = 0

    def run_in_executor(self, executor, func, *args):  # type: ignore[no-untyped-def]
        future = super().run_in_executor(executor, func, *args)
        self._in_threads += 1
        future.add_done_callback(self._left_thread)
        return future

    def _left_thread(self, future: object) -> None:
        self._in_threads -= 1

    @property
    def has_threads(self) -> bool:
        """Threads of the loop's own executor are idle when it waits for none of them."""
        if self._in_threads > 0:
            return True
        ours = (threading.main_thread(), threading.current_thread())
        return any(
            each not in ours and each.name != READER and not each.name.startswith("asyncio_")
            for each in threading.enumerate()
        )


class Tasks(Host):
    """One loop for all legs of a process, because connections of the agent's clients belong to it."""

    def __init__(self) -> None:
        self._selector = _RestingSelector()
        self.loop = _Loop(self._selector)
        self._selector.loop = self.loop
        self.loop.set_exception_handler(_report)
        self._over: asyncio.Future[None] = self.loop.create_future()
        self._main: asyncio.Task[None] | None = None
        self._thread = threading.get_ident()

    def run(self, program: Coroutine[object, object, None]) -> None:
        """Runs the leg until it is over."""
        self._thread = threading.get_ident()
        self._over = self.loop.create_future()
        self._selector.later.clear()
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_until_complete(self._until_over(program))
        finally:
            self._selector.on_empty = lambda: False
            self._main = None
            asyncio.set_event_loop(None)

    async def _until_over(self, program: Coroutine[object, object, None]) -> None:
        self._main = asyncio.ensure_future(program)
        await asyncio.wait({self._main, self._over}, return_when=asyncio.FIRST_COMPLETED)
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        if others:
            await asyncio.wait(others, timeout=_UNWIND_SECONDS)
        if self._main.done() and not self._main.cancelled():
            error = self._main.exception()
            if error is not None and not isinstance(error, LegOver):
                raise error

    def close(self) -> None:
        self.loop.close()

    def tell(self, function: Callable[[], None]) -> None:
        """Calls the kit from the thread that reads the server's lines."""
        self.loop.call_soon_threadsafe(function)

    def enter(self, function: Callable[[], None]) -> None:
        """Calls the kit from the agent, for calls that do not wait."""
        self.check_thread()
        function()

    def check_thread(self) -> None:
        if threading.get_ident() != self._thread:
            raise Misuse("ctx was used in another thread. Call it with loop.call_soon_threadsafe().")

    def wait(self, pending: Pending) -> Generator[object, object, None]:
        arrived: asyncio.Future[None] = self.loop.create_future()
        pending.on_settled = lambda: None if arrived.done() else arrived.set_result(None)
        yield from arrived.__await__()

    def later(self, callback: Callable[[], None]) -> None:
        self._selector.later.append(callback)

    def outside(self, callback: Callable[[], None]) -> None:
        self.loop.call_soon(callback)

    def when_empty(self, end: Callable[[], bool]) -> None:
        self._selector.on_empty = end

    async def call(self, function: Callable[[], object]) -> object:
        returned = function()
        return await returned if hasattr(returned, "__await__") else returned  # type: ignore[misc]

    async def perform(self, work: Callable[[], object]) -> object:
        return await self.call(work)

    def cancel(self) -> None:
        if self._main is not None:
            self._main.cancel()

    def stop(self) -> None:
        if not self._over.done():
            self._over.set_result(None)
