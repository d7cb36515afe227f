"""A value that arrives later, and the two ways to wait for it: threads and asyncio."""

from __future__ import annotations

from collections.abc import Callable, Generator

#: The name of the thread that reads the server's lines.
READER = "convoke reader"


class Host:
    """Runs an agent function: `threads.Threads` for `def`, `tasks.Tasks` for `async def`."""

    def wait(self, pending: Pending) -> Generator[object, object, None]:
        """Suspends the coroutine of the kit until the value has arrived."""
        raise NotImplementedError

    def later(self, callback: Callable[[], None]) -> None:
        """Calls back in its own turn, when the function has come to rest."""
        raise NotImplementedError

    def outside(self, callback: Callable[[], None]) -> None:
        """Calls code of the agent from the kit, which may call the kit in turn."""
        raise NotImplementedError

    async def call(self, function: Callable[[], object]) -> object:
        """Runs code of the agent that is not a step."""
        raise NotImplementedError

    async def perform(self, work: Callable[[], object]) -> object:
        """Runs the function of a step while other branches continue."""
        raise NotImplementedError

    def when_empty(self, end: Callable[[], bool]) -> None:
        """Calls back when nothing can continue the function any more. `end` returns whether that ended the leg."""

    def cancel(self) -> None:
        """The run was cancelled."""

    def stop(self) -> None:
        """The leg is over: unwinds what still waits."""
        raise NotImplementedError


class Pending:
    """A value that arrives later. One coroutine waits for it."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._value: object = None
        self._error: BaseException | None = None
        self.is_settled = False
        self.on_settled: Callable[[], None] | None = None

    def settle(self, value: object) -> None:
        self._end(value, None)

    def fail(self, error: BaseException) -> None:
        self._end(None, error)

    def _end(self, value: object, error: BaseException | None) -> None:
        if self.is_settled:
            return
        self.is_settled = True
        self._value, self._error = value, error
        if self.on_settled is not None:
            self.on_settled()

    def __await__(self) -> Generator[object, object, object]:
        if not self.is_settled:
            yield from self._host.wait(self)
        if self._error is not None:
            raise self._error
        return self._value
