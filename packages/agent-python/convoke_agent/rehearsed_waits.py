"""Times, messages and called runs that a rehearsed run waits for. Its clock moves as soon as the run is idle."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from datetime import datetime

from .durations import end_of_wait
from .failures import Misuse
from .json_values import dump

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Union

    CallReply = Union[str, dict]

#: As long as a server waits where neither the program nor its agent.yaml says how long.
_DEFAULT_WAIT_MS = 72 * 3_600_000


class RehearsedWait:
    """A wait of a rehearsed run that is over."""

    def __init__(self, kind: str, name: str, outcome: str) -> None:
        #: "timer", "signal" or "run".
        self.kind = kind
        self.name = name
        #: "fired", "received", "timed_out", "completed", "failed" or "refused".
        self.outcome = outcome


class RehearsedCall:
    """A run that the rehearsed one calls."""

    def __init__(self, agent: str, input: dict) -> None:
        self.agent = agent
        self.input = input


class RehearsedWaits:
    def __init__(
        self,
        signals: tuple[dict, ...] | list[dict] = (),
        message: Callable[[str], object] | None = None,
        called: Callable[[RehearsedCall], CallReply] | None = None,
        takes: dict[str, str] | None = None,
    ) -> None:
        self._message = message
        self._called = called or (lambda call: "done")
        self._takes = takes or {}
        self._rows: dict[str, dict] = {}
        self._coming = sorted(
            ({**signal, "at_ms": _delay_of(signal.get("after"))} for signal in signals),
            key=lambda signal: signal["at_ms"],
        )
        self._kept: list[dict] = []
        #: Receives for which `message` was asked.
        self._asked: set[str] = set()
        self._began_ms = time.time() * 1000
        self._now_ms: float = 0
        self.over: list[RehearsedWait] = []
        #: The runs that were started.
        self.started: list[RehearsedCall] = []
        # Those that are sent at once come before the run asks for them.
        while self._coming and self._coming[0]["at_ms"] == 0:
            self._kept.append(self._coming.pop(0))

    @property
    def elapsed(self) -> float:
        return self._now_ms / 1000

    @property
    def is_used(self) -> bool:
        """Whether the run has waited for anything."""
        return bool(self._rows)

    @property
    def settled_count(self) -> int:
        return len(self.over)

    def raise_wait(self, wait: dict, number: int) -> None:
        ref, kind, name = wait["ref"], wait["kind"], wait["name"]
        if ref in self._rows:
            return
        if kind == "run":
            return self._start(wait)
        self._rows[ref] = {"kind": kind, "name": name, "due_ms": self._due_of(wait)}
        kept = [each for each in self._kept if each["name"] == name] if kind == "signal" else []
        if kept:
            self._kept.remove(kept[0])
            self._settle(ref, {"kind": "signal", "data": kept[0]["data"]}, number)

    def has(self, ref: str) -> bool:
        return ref in self._rows

    def refuse(self, wait: dict, message: str, number: int) -> None:
        """Nothing is started: a person or a rule does not allow it."""
        self._rows[wait["ref"]] = {"kind": "run", "name": wait["name"], "due_ms": self._now_ms}
        self._settle(wait["ref"], {"kind": "run", "ok": False, "code": "denied", "message": message}, number)

    def _start(self, wait: dict) -> None:
        name, call = wait["name"], RehearsedCall(wait["name"], wait["input"])
        self.started.append(call)
        number = len(self.started)
        ids = {"run_id": f"run_called_{number}", "session_id": f"sess_called_{number}"}
        ends_ms = self._now_ms + _delay_of(self._takes.get(name))
        is_timed = "until" in wait or "for_seconds" in wait
        due_ms = self._due_of(wait) if is_timed else math.inf
        if due_ms < ends_ms:
            message = "The called run did not end in time, and is cancelled."
            reply = {"ok": False, "code": "timed_out", "message": message}
        else:
            given = self._called(call)
            reply = {"ok": True, "text": given} if isinstance(given, str) else given
        settled = {"kind": "run", **reply, **ids}
        self._rows[wait["ref"]] = {"kind": "run", "name": name, "due_ms": min(due_ms, ends_ms), "reply": settled}

    def known(self) -> dict[str, dict]:
        return {
            ref: {**row["settled"], "state": "settled"} if "settled" in row else {"state": "open", "kind": row["kind"]}
            for ref, row in self._rows.items()
        }

    def advance(self, number: int) -> bool:
        """Settles the next wait; False if none is open. `number` is the place of the settled wait."""
        while self._open:
            if self._answer_receive(number):
                return True
            ref, row = min(self._open, key=lambda each: each[1]["due_ms"])
            if self._coming and self._coming[0]["at_ms"] <= row["due_ms"]:
                signal = self._coming.pop(0)
                self._now_ms = max(self._now_ms, signal["at_ms"])
                if self._deliver(signal, number):
                    return True
                continue
            self._now_ms = max(self._now_ms, row["due_ms"])
            self._settle(ref, _end_of(row), number)
            return True
        return False

    @property
    def _open(self) -> list[tuple[str, dict]]:
        return [(ref, row) for ref, row in self._rows.items() if "settled" not in row]

    def _answer_receive(self, number: int) -> bool:
        for ref, row in self._open:
            if self._message is None or row["kind"] != "signal" or ref in self._asked:
                continue
            self._asked.add(ref)
            data = self._message(row["name"])
            if data is None:
                continue
            self._settle(ref, {"kind": "signal", "data": data}, number)
            return True
        return False

    def _deliver(self, signal: dict, number: int) -> bool:
        """A message goes to the oldest open receive of its name, else it is kept."""
        for ref, row in self._open:
            if row["kind"] == "signal" and row["name"] == signal["name"]:
                self._settle(ref, {"kind": "signal", "data": signal["data"]}, number)
                return True
        self._kept.append(signal)
        return False

    def _due_of(self, wait: dict) -> float:
        if "until" in wait:
            until = datetime.fromisoformat(wait["until"].replace("Z", "+00:00"))
            return max(self._now_ms, until.timestamp() * 1000 - self._began_ms)
        seconds = wait.get("for_seconds")
        return self._now_ms + (_DEFAULT_WAIT_MS if seconds is None else seconds * 1000)

    def _settle(self, ref: str, wait: dict, number: int) -> None:
        row = self._rows[ref]
        row["settled"] = {**json.loads(dump(wait)), "number": number}
        self.over.append(RehearsedWait(row["kind"], row["name"], _outcome_of(wait)))


def _end_of(row: dict) -> dict:
    """What settles a wait when its time has come."""
    if "reply" in row:
        return row["reply"]
    return {"kind": "timer", "fired": True} if row["kind"] == "timer" else {"kind": "signal", "timed_out": True}


def _outcome_of(wait: dict) -> str:
    if wait["kind"] == "timer":
        return "fired"
    if wait["kind"] == "signal":
        return "received" if "data" in wait else "timed_out"
    if wait["ok"]:
        return "completed"
    if wait["code"] == "timed_out":
        return "timed_out"
    return "failed" if "run_id" in wait else "refused"


def _delay_of(after: object) -> float:
    if after is None:
        return 0
    end = end_of_wait("after, or takes", after)
    if "for_seconds" not in end:
        raise Misuse("after, or takes, is a time such as 1h")
    return end["for_seconds"] * 1000
