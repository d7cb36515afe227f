"""Runs an agent that is a plain `def`: each of its branches is a thread."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from contextvars import copy_context

from .failures import LegOver, Misuse
from .pending import Host, Pending

_BRANCHES_MAX = 64


class _Outside:
    """Asks the thread to run code of the agent. `is_step`: other branches may run at the same time."""

    def __init__(self, function: Callable[[], object], is_step: bool) -> None:
        self.function = function
        self.is_step = is_step

    def __await__(self) -> Generator[object, object, object]:
        return (yield self)


class _Branch:
    def __init__(self, lock: threading.Lock) -> None:
        self.wake = threading.Condition(lock)
        self.thread: threading.Thread | None = None


class Threads(Host):
    """Lets one branch run at a time, as an event loop does; only steps run in parallel (D-351).

    So branches continue in the order in which the kit delivers their results, in every leg. The kit holds the lock
    while it works on its own state, and releases it while the agent's code runs.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._own = threading.local()
        self._branches: list[_Branch] = []
        #: The branch that runs.
        self._holder: _Branch | None = None
        self._ready: deque[_Branch] = deque()
        self._later: deque[Callable[[], None]] = deque()
        self._outside: list[Callable[[], None]] = []
        self._is_over = False

    def run(self, program: Coroutine[object, object, None]) -> None:
        """Runs the leg in this thread until it is over."""
        branch = self._own.branch = self._new_branch()
        self._holder = branch
        try:
            self.drive(program)
        except LegOver:
            pass
        finally:
            self._own.branch = None

    def join(self) -> None:
        """Waits until all branches have unwound."""
        for branch in self._branches:
            if branch.thread is not None:
                branch.thread.join()

    def drive(self, coroutine: Coroutine[object, object, object]) -> object:
        """Runs a coroutine of the kit in the thread of the branch that called it."""
        branch = self._current(coroutine)
        value: object = None
        error: BaseException | None = None
        with self._lock:
            while True:
                try:
                    request = coroutine.send(value) if error is None else coroutine.throw(error)
                except StopIteration as stop:
                    return stop.value
                value = error = None
                try:
                    value = self._fulfil(branch, request)
                except BaseException as raised:
                    error = raised

    def enter(self, function: Callable[[], None]) -> None:
        """Calls the kit from the agent, for calls that do not wait."""
        self._current()
        with self._lock:
            function()

    def tell(self, function: Callable[[], None]) -> None:
        """Calls the kit from the thread that reads the server's lines."""
        with self._lock:
            function()
            self._advance()
            outside, self._outside = self._outside, []
        for callback in outside:
            callback()

    @property
    def is_program_running(self) -> bool:
        """Whether a branch runs between steps. Called within `tell`."""
        return self._holder is not None

    def start(self, function: Callable[[], object]) -> Pending:
        """Starts a branch. Settles with its return value and its exception."""
        if len(self._branches) > _BRANCHES_MAX:
            self._branches = [each for each in self._branches if each.thread is None or each.thread.is_alive()]
            if len(self._branches) > _BRANCHES_MAX:
                raise Misuse(f"More than {_BRANCHES_MAX} branches run at the same time.")
        ended, branch, context = Pending(self), self._new_branch(), copy_context()

        def run() -> None:
            self._own.branch = branch
            returned: object = None
            error: BaseException | None = None
            try:
                with self._lock:
                    self._wait_for_turn(branch)
                returned = context.run(function)
            except BaseException as raised:
                error = raised
            with self._lock:
                ended.settle((returned, error))
                self._give_up(branch)

        branch.thread = threading.Thread(target=run, daemon=True)
        self._ready.append(branch)
        branch.thread.start()
        return ended

    def wait(self, pending: Pending) -> Generator[object, object, None]:
        yield pending

    def later(self, callback: Callable[[], None]) -> None:
        self._later.append(callback)

    def outside(self, callback: Callable[[], None]) -> None:
        self._outside.append(callback)

    async def call(self, function: Callable[[], object]) -> object:
        return await _Outside(function, is_step=False)

    async def perform(self, work: Callable[[], object]) -> object:
        return await _Outside(work, is_step=True)

    def stop(self) -> None:
        self._is_over = True
        for branch in self._branches:
            branch.wake.notify()

    def _current(self, coroutine: Coroutine[object, object, object] | None = None) -> _Branch:
        branch = getattr(self._own, "branch", None)
        if branch is not None:
            return branch
        if coroutine is not None:
            coroutine.close()
        raise Misuse(
            "ctx was used in a thread that the kit did not start. "
            "Run branches with ctx.parallel(), or write the agent as async def."
        )

    def _new_branch(self) -> _Branch:
        branch = _Branch(self._lock)
        self._branches.append(branch)
        return branch

    def _fulfil(self, branch: _Branch, request: object) -> object:
        if isinstance(request, Pending):
            request.on_settled = lambda: self._ready.append(branch)
            self._give_up(branch)
            self._wait_for_turn(branch)
            return None
        assert isinstance(request, _Outside)
        if request.is_step:
            self._give_up(branch)
        self._lock.release()
        try:
            return request.function()
        finally:
            self._lock.acquire()
            if request.is_step:
                self._ready.append(branch)
                self._advance()
                self._wait_for_turn(branch)

    def _give_up(self, branch: _Branch) -> None:
        """The branch waits, or has ended: another one may run."""
        if self._holder is branch:
            self._holder = None
        self._advance()

    def _wait_for_turn(self, branch: _Branch) -> None:
        while self._holder is not branch:
            if self._is_over:
                raise LegOver()
            branch.wake.wait()
        if self._is_over:
            raise LegOver()

    def _advance(self) -> None:
        """Lets the next branch run. If none is ready, runs the next callback of the kit."""
        while self._holder is None and not self._is_over:
            if self._ready:
                self._holder = self._ready.popleft()
                self._holder.wake.notify()
            elif self._later:
                self._later.popleft()()
            else:
                return
