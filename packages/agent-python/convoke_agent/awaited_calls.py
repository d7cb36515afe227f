"""Notices calls of an `async def` that nothing has awaited."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Coroutine

from .failures import NotAwaited
from .json_values import dump

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T")

_SHOWN_MAX = 60


class AwaitedCalls:
    """The calls of `ctx` that nothing has awaited yet (D-478).

    Without this check, a function that forgets `await` would continue with a coroutine instead of an answer and
    complete normally.
    """

    def __init__(self) -> None:
        self._open: dict[Coroutine, tuple[str, object, str, int]] = {}

    def watch(self, method: str, about: object, begin: Callable[[], Awaitable[T]]) -> Coroutine[object, object, T]:
        """Returns a coroutine that begins the call and notices when it is awaited."""
        caller = sys._getframe(3)

        async def call() -> T:
            self._open.pop(watched, None)
            return await begin()

        watched = call()
        self._open[watched] = (method, about, caller.f_code.co_filename, caller.f_lineno)
        return watched

    def check(self) -> None:
        """Raises if a call was never awaited."""
        if not self._open:
            return
        method, about, path, line = next(iter(self._open.values()))
        self._drop()
        text = str(about)
        shown = text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}…"
        raise NotAwaited(f"ctx.{method}({dump(shown)})", path, line)

    def _drop(self) -> None:
        """Closes the coroutines, so that Python does not warn as well. Those of a task are closed with it."""
        import asyncio

        of_tasks = {task.get_coro() for task in asyncio.all_tasks()}
        for watched in self._open.keys() - of_tasks:
            watched.close()
        self._open.clear()
