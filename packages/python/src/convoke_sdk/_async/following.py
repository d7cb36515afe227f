"""Follows a run and calls the handlers of the application."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import aclosing
from typing import Any

from .._core.effects import Steps
from .._core.interactions import InteractionResponder
from .._core.wait_limit import WaitLimit
from .._generated.events import RunEvent
from .driver import AsyncDriver


async def follow(
    driver: AsyncDriver,
    steps: Steps[None],
    responder: InteractionResponder | None,
    *,
    is_resumed: bool,
    limit: WaitLimit | None = None,
) -> AsyncGenerator[RunEvent, None]:
    """Yields events. Handlers run beside the loop; what one raises is raised by the loop."""
    async with aclosing(driver.stream(steps, limit)) as events:
        if responder is None:
            async for event in events:
                yield event
            return
        asking = _Asking(driver, responder)
        try:
            if is_resumed:
                asking.resume()
            while (event := await asking.beside(_next_of(events))) is not None:
                asking.take(event)
                yield event
        finally:
            await asking.close()


async def _next_of(events: AsyncGenerator[RunEvent, None]) -> RunEvent | None:
    async for event in events:
        return event
    return None


class _Asking:
    """The handlers that are at work."""

    def __init__(self, driver: AsyncDriver, responder: InteractionResponder) -> None:
        self._driver = driver
        self._responder = responder
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def take(self, event: RunEvent) -> None:
        key = self._responder.asked_by(event)
        if key is not None:
            self._begin(key, self._driver.run(self._responder.respond(key)))
        settled = self._responder.settled_by(event)
        if settled is not None and settled in self._tasks:
            # Answered, perhaps elsewhere: the handler need not think any longer.
            self._tasks[settled].cancel()

    def resume(self) -> None:
        self._begin("", self._ask_earlier())

    async def _ask_earlier(self) -> None:
        for record in await self._driver.run(self._responder.earlier()):
            self._begin(record["interaction_key"], self._driver.run(self._responder.ask(record)))

    def _begin(self, key: str, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks[key] = task
        task.add_done_callback(lambda done: self._note(key, done))

    def _note(self, key: str, task: asyncio.Task[None]) -> None:
        self._tasks.pop(key, None)
        if task.cancelled():
            return
        error = task.exception()
        if error is not None and not self._failed.done():
            self._failed.set_exception(error)

    async def beside(self, work: Coroutine[Any, Any, RunEvent | None]) -> RunEvent | None:
        """Awaits the work, or raises what a handler raised before it is done."""
        task = asyncio.ensure_future(work)
        try:
            both: set[asyncio.Future[Any]] = {task, self._failed}
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if self._failed.done():
                self._failed.result()
            return task.result()
        finally:
            await _end(task)

    async def close(self) -> None:
        for task in list(self._tasks.values()):
            await _end(task)
        if self._failed.done():
            self._failed.exception()


async def _end(task: asyncio.Task[Any]) -> None:
    """Cancels a task and waits until it has let go of what it holds. Its result no longer matters."""
    if task.done():
        return
    task.cancel()
    await asyncio.wait({task})
    if not task.cancelled():
        task.exception()
