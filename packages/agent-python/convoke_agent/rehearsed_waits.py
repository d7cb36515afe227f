"""What a rehearsed run waits for beside a person, with a clock that moves as soon as there is nothing else to do."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import datetime

from .durations import end_of_wait
from .failures import Misuse
from .json_values import dump

#: As long as a server waits where neither the program nor its agent.yaml says how long.
_DEFAULT_WAIT_MS = 72 * 3_600_000


class RehearsedWait:
    """A wait of a rehearsed run that is over."""

    def __init__(self, kind: str, name: str, outcome: str) -> None:
        #: "timer" or "signal".
        self.kind = kind
        self.name = name
        #: "fired", "received" or "timed_out".
        self.outcome = outcome


class RehearsedWaits:
    def __init__(
        self,
        signals: tuple[dict, ...] | list[dict] = (),
        message: Callable[[str], object] | None = None,
    ) -> None:
        self._message = message
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
        self._rows[ref] = {"kind": kind, "name": name, "due_ms": self._due_of(wait)}
        kept = [each for each in self._kept if each["name"] == name] if kind == "signal" else []
        if kept:
            self._kept.remove(kept[0])
            self._settle(ref, {"kind": "signal", "data": kept[0]["data"]}, number)

    def known(self) -> dict[str, dict]:
        return {
            ref: {**row["settled"], "state": "settled"} if "settled" in row else {"state": "open", "kind": row["kind"]}
            for ref, row in self._rows.items()
        }

    def advance(self, number: int) -> bool:
        """What comes next settles one wait; False if nothing is open. `number` is the place of the settled wait."""
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
            how = {"fired": True} if row["kind"] == "timer" else {"timed_out": True}
            self._settle(ref, {"kind": row["kind"], **how}, number)
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
        outcome = "received" if "data" in wait else "fired" if wait["kind"] == "timer" else "timed_out"
        self.over.append(RehearsedWait(row["kind"], row["name"], outcome))


def _delay_of(after: object) -> float:
    if after is None:
        return 0
    end = end_of_wait("signals: after", after)
    if "for_seconds" not in end:
        raise Misuse("signals: after is a time such as 1h")
    return end["for_seconds"] * 1000
