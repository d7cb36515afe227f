"""Starts an agent: launch ENTRY FOLDER [--serve | --check LABEL].

Lines to the server go to descriptor 3, so that nothing that the agent and its children print becomes part of the answer.
With --serve it sends `ready` before it loads the agent, and runs one leg after the other until its input ends (D-185).
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from queue import SimpleQueue
from types import ModuleType

from .agent import Agent
from .context import AsyncContext, Context
from .failures import Misuse
from .json_values import dump
from .leg import Leg
from .pending import READER
from .problems import Program, agent_in, load_problem, where_of
from .threads import Threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .tasks import Tasks

_OUTPUT = 3
#: The answer to a ping: the agent's event loop runs (D-479).
_ALIVE = {"type": "alive"}


def launch(arguments: list[str]) -> None:
    entry, folder, *more = arguments
    program = Program(entry, folder, more[1] if len(more) > 1 else "the agent's folder")
    lines = _take_standard_streams()
    # The server also sends a `cancel`, and the function may clean up (D-172).
    signal.signal(signal.SIGTERM, lambda number, frame: None)
    if more[:1] == ["--check"]:
        loaded = _load(program)
        _write({"type": "checked", "problem": loaded if isinstance(loaded, str) else None})
    else:
        _run_legs(program, lines, is_serving=more[:1] == ["--serve"])
    _exit()


def _take_standard_streams() -> int:
    """Hides the server's lines from children of the agent, which inherit standard input. Returns its descriptor."""
    lines = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.set_inheritable(_OUTPUT, False)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    return lines


def _load(program: Program) -> Agent | str:
    """Returns the agent, or a description of the problem. Files beside it can be imported."""
    sys.path.insert(0, program.folder)
    name = os.path.splitext(os.path.basename(program.entry))[0]
    module = ModuleType(name)
    module.__file__ = program.entry
    try:
        with open(program.entry, "rb") as file:
            code = compile(file.read(), program.entry, "exec")
        sys.modules.setdefault(name, module)
        exec(code, module.__dict__)
    except BaseException as error:
        return load_problem(error, program)
    loaded = agent_in(module.__dict__, program)
    if isinstance(loaded, Agent) and loaded.is_async:
        from . import tasks  # noqa: F401
    # The server's cache has the modules that were imported so far. Later ones are compiled beside their source.
    sys.pycache_prefix = None
    return loaded


def _run_legs(program: Program, lines: int, is_serving: bool) -> None:
    server = _Server(lines)
    folder_at_start = os.getcwd()
    if is_serving:
        _write({"type": "ready"})
    loaded = None if is_serving else _load(program)
    tasks: Tasks | None = None
    while True:
        start = server.starts.get()
        if start is None:
            return
        _follow_trace(start)
        if loaded is None:
            loaded = _load(program)
        os.chdir(folder_at_start)
        if isinstance(loaded, str):
            Leg(start, _write, Threads()).fail(Misuse(loaded))
            continue
        if loaded.is_async and tasks is None:
            from .tasks import Tasks

            tasks = Tasks()
        _run_leg(loaded, Leg(start, _write, tasks or Threads(), lambda error: where_of(error, program)), server)


def _run_leg(loaded: Agent, leg: Leg, server: _Server) -> None:
    host: Threads | Tasks = leg.host  # type: ignore[assignment]
    ctx = (AsyncContext if loaded.is_async else Context)(leg, host)  # type: ignore[arg-type]
    server.attach(leg)
    # From now on the server expects answers to pings.
    _write(_ALIVE)
    try:
        host.run(leg.perform(lambda: loaded.body(ctx)))
    except BaseException as error:
        leg.fail(error)
    server.detach()


class _Server:
    """Reads the server's lines in a thread of its own."""

    def __init__(self, lines: int) -> None:
        self.starts: SimpleQueue[dict | None] = SimpleQueue()
        self._leg: Leg | None = None
        self._early: list[dict] = []
        self._lock = threading.Lock()
        threading.Thread(target=self._read, args=(lines,), name=READER, daemon=True).start()

    def attach(self, leg: Leg) -> None:
        with self._lock:
            self._leg = leg
            early, self._early = self._early, []
            for message in early:
                _tell(leg, message)

    def detach(self) -> None:
        with self._lock:
            self._leg = None

    def _read(self, lines: int) -> None:
        with open(lines, "rb") as stream:
            for line in stream:
                message = json.loads(line)
                if message["type"] == "start":
                    self.starts.put(message)
                else:
                    self._take(message)
        self.starts.put(None)
        if self._leg is not None and self._leg.is_over:
            # The function still runs although its leg has ended.
            _exit()

    def _take(self, message: dict) -> None:
        with self._lock:
            if self._leg is None:
                self._early.append(message)
            else:
                _tell(self._leg, message)


def _tell(leg: Leg, message: dict) -> None:
    host: Threads | Tasks = leg.host  # type: ignore[assignment]

    def receive() -> None:
        if message["type"] == "ping":
            # A `def` may block: only the loop of an `async def` keeps this from being called (D-479).
            leg.send(_ALIVE)
            return
        leg.receive(message)
        if message["type"] == "yield" and isinstance(host, Threads) and host.is_program_running:
            leg.hand_over_now()

    host.tell(receive)


def _follow_trace(start: dict) -> None:
    """Names the span of this leg: a kept process still has the variable of an earlier one (D-588)."""
    if "traceparent" in start:
        os.environ["TRACEPARENT"] = start["traceparent"]


def _write(message: dict) -> None:
    """Writes one line, and blocks while the server does not read: an agent cannot be faster than its log."""
    rest = memoryview(f"{dump(message)}\n".encode())
    while rest:
        try:
            rest = rest[os.write(_OUTPUT, rest) :]
        except BlockingIOError:
            time.sleep(0.001)


def _exit() -> None:
    """Ends the process without waiting for threads that the agent has left running."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            pass
    os._exit(0)
