"""A server's data of one run, in memory: ledger, answers, last recovery point and log."""

from __future__ import annotations

import json
import os
from collections.abc import Callable

from .json_values import dump
from .rehearsed_waits import RehearsedCall, RehearsedWait, RehearsedWaits
from .rules import decide

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .rehearsed_waits import CallReply


with open(os.path.join(os.path.dirname(__file__), "lost_calls.json"), encoding="utf-8") as _table:
    _LOST_CALLS: list[dict] = json.load(_table)


class RehearsedInteraction:
    """A question or a request for approval, as a person sees it."""

    def __init__(self, message: dict) -> None:
        self.kind = "permission" if message["type"] == "permission_request" else "question"
        self.question: str | None = message.get("question")
        self.options = [each if isinstance(each, str) else each["label"] for each in message.get("options", [])]
        self.tool: str | None = message.get("tool_name")
        self.input: object = message.get("tool_input")


class CalledStep:
    def __init__(self, name: str, input: object, is_repeatable: bool) -> None:
        self.name = name
        self.input = input
        self.is_repeatable = is_repeatable


class RehearsedRun:
    def __init__(
        self,
        prompt: str = "",
        input: dict | None = None,
        state: dict | None = None,
        answer: Callable[[RehearsedInteraction], object] | None = None,
        approval_required_tools: tuple[str, ...] | list[str] = (),
        rules: tuple[dict, ...] | list[dict] = (),
        folder: str = ".",
        output_schema: dict | None = None,
        signals: tuple[dict, ...] | list[dict] = (),
        message: Callable[[str], object] | None = None,
        called: Callable[[RehearsedCall], CallReply] | None = None,
        takes: dict[str, str] | None = None,
        is_edited: bool = False,
    ) -> None:
        self._prompt = prompt
        self._input = {"prompt": prompt} if input is None else input
        self._answer = answer or _default_reply
        self._approval_required_tools = list(approval_required_tools)
        #: The list is the last rule (D-504).
        listed = {"name": "approval_required_tools", "tools": self._approval_required_tools, "effect": "ask"}
        self._rules = [*rules, listed]
        #: The server's replies to calls that it has refused.
        self._refused: dict[str, dict] = {}
        self._folder = folder
        self._output_schema = output_schema
        self._is_edited = is_edited
        self._calls: dict[str, dict] = {}
        self._answers: dict[str, dict] = {}
        self._open: dict[str, RehearsedInteraction] = {}
        self._waits = RehearsedWaits(signals, message, called, takes)
        #: Whether the last leg has ended waiting.
        self._is_parked = False
        #: Calls that a person has allowed. `ref` is that of the request, `spent_on` that of the call.
        self._allowed: list[dict] = []
        self._checkpoint: dict | None = None if state is None else {"convoke": 1, "state": state}
        self._texts: list[str] = []
        self._covered_texts = 0
        self._usage: list[tuple[int, str | None, int]] = []
        #: Legs so far.
        self.legs = 0
        self.has_doubt = False
        self.asked: list[RehearsedInteraction] = []
        self.called: list[CalledStep] = []
        self.events: list[dict] = []
        self.end: dict | None = None

    @property
    def text(self) -> str:
        return "".join(self._texts)

    @property
    def waits(self) -> list[RehearsedWait]:
        """Its waits for times, messages and called runs, in the order in which they were settled."""
        return self._waits.over

    @property
    def started(self) -> list[RehearsedCall]:
        """The runs of other agents that it started, in order."""
        return self._waits.started

    @property
    def elapsed(self) -> float:
        """Seconds that it has waited for times, messages and called runs."""
        return self._waits.elapsed

    @property
    def has_waited(self) -> bool:
        return self._waits.is_used

    @property
    def tokens(self) -> int:
        """Tokens of all legs together. A report is the sum of its leg and replaces the previous one."""
        last = {(leg, model): tokens for leg, model, tokens in self._usage}
        return sum(last.values())

    @property
    def state(self) -> dict:
        checkpoint = self._checkpoint or {}
        return checkpoint.get("state") or checkpoint.get("before") or checkpoint.get("base") or {}

    def start(self) -> dict:
        self.legs += 1
        self._is_parked = False
        given: dict = {"kind": "prompt", "prompt": self._prompt}
        if self.legs > 1:
            calls = {ref: _known_call(call) for ref, call in self._calls.items()}
            given = {"kind": "continue", "prompt": self._prompt, "answers": self._answers, "calls": calls}
            if self._waits.is_used:
                given["waits"] = self._waits.known()
        start = {
            "type": "start",
            "protocol": 2,
            "run_id": "run_1",
            "session_id": "sess_1",
            "run_number": 1,
            "input": given,
            "run_input": self._input,
            "callbacks": {"url": "https://convoke.example/v1/callbacks/run_1", "key": "cmVoZWFyc2Fs"},
            "state": self._checkpoint,
            "agent_changed": self._is_edited and self.legs > 1,
            "workspace": self._folder,
            "agent_folder": self._folder,
            "agent": {
                "approval_required_tools": self._approval_required_tools,
                "output_schema": self._output_schema,
            },
        }
        return json.loads(dump(start))

    def record(self, message: dict) -> None:
        """Stores a message of the kit."""
        kind = message["type"]
        if kind == "message_delta":
            self._texts.append(message["text"])
        elif kind == "usage":
            tokens = message["input_tokens"] + message["output_tokens"]
            self._usage.append((self.legs, message.get("model"), tokens))
        elif kind == "custom":
            self.events.append({"name": message["name"], "data": message["data"]})
        elif kind in ("user_question", "permission_request"):
            self._ask(message)
        elif kind == "wait":
            if message["kind"] == "run":
                self._call(message)
            else:
                self._waits.raise_wait(message, self._next_number)
        elif kind == "call_begin":
            self._begin(message)
        elif kind == "call_end":
            call = self._calls.get(message["call_id"])
            if message["call_id"] in self._refused:
                # Its task was cancelled before it heard that.
                return
            if call is None or call["status"] != "begun":
                raise AssertionError(f"The call {message['call_id']} ended without being started.")
            call.update(status="ended", ok=message["ok"], output=message["output"])
        elif kind == "checkpoint":
            self._keep(message["state"])
        elif kind == "end":
            self._is_parked = message["outcome"] == "waiting"
            if message["outcome"] not in ("waiting", "yielded"):
                self.end = message
            if "state" in message:
                self._checkpoint = message["state"]
        if "point" in message:
            self._keep(message["point"])

    def tell(self, ref: str) -> dict:
        """The server's reply to a call. If the intent is stored, the step counts as run from then on."""
        if ref in self._refused:
            return self._refused[ref]
        call = self._calls[ref]
        call["is_done"] = True
        self.called.append(CalledStep(call["name"], call["input"], call["is_repeatable"]))
        return {"type": "call_begun", "call_id": ref, "idempotency_key": f"run_1.{ref}"}

    def lose(self) -> None:
        """The process is lost: text after the point is discarded, and a table decides about calls that had begun (D-710)."""
        del self._texts[self._covered_texts :]
        for ref, call in self._calls.items():
            if call["status"] != "begun":
                continue
            # A person who is asked knows whether it ran.
            if call["is_done"] and _lost_call(call["is_repeatable"], self._is_allowed(ref, call)) != "again":
                self.has_doubt = True
                call.update(status="left", output="Marked as completed.")
            else:
                call["status"] = "again"

    def reply(self, come: str = "one") -> None:
        """Replies to everything that is open.

        If there was nothing to reply to and the leg has ended waiting, time passes until what comes next settles a wait,
        or all of them.
        """
        if self.end is not None or self._answer_all() or not self._is_parked:
            return
        before = self._waits.settled_count
        has_come = self._waits.advance(self._next_number)
        while has_come and come == "all":
            has_come = self._waits.advance(self._next_number)
        if self._open and self._waits.settled_count == before:
            raise RuntimeError("The run waits for a person who answers later, and for nothing else.")

    def _answer_all(self) -> bool:
        """Whether anything was replied."""
        has_answered = False
        for ref, asked in list(self._open.items()):
            reply = self._answer(asked)
            if isinstance(reply, dict) and "later" in reply:
                continue
            answer = self._answers[ref] = _answer_of(asked, reply)
            del self._open[ref]
            has_answered = True
            if answer.get("allow"):
                self._allowed.append({"ref": ref, "tool": asked.tool, "input": answer["input"]})
        return has_answered

    @property
    def _next_number(self) -> int:
        """The place that the next settled answer or wait gets."""
        return len(self._answers) + self._waits.settled_count + 1

    def _is_allowed(self, ref: str, call: dict) -> bool:
        """Whether a person has allowed the call: one permission is for one execution (D-39, D-176)."""
        is_asked = self._answers.get(ref, {}).get("kind") == "permission"
        return is_asked or any(
            each["tool"] == call["name"] and each["input"] == call["input"] for each in self._allowed
        )

    def _ask(self, message: dict) -> None:
        ref = message["ref"]
        if ref in self._answers or ref in self._open:
            return
        if message["type"] == "permission_request":
            ruling = decide(self._rules, message["tool_name"], message["tool_input"])
            if ruling["effect"] == "deny":
                return self._deny(ref, ruling["reason"])
        self._open[ref] = RehearsedInteraction(message)
        self.asked.append(self._open[ref])

    def _call(self, message: dict) -> None:
        """Rules are about calls of agents under the name `call_<agent>`; the approved input is the one that is started."""
        ref, tool, input = message["ref"], f"call_{message['name']}", message["input"]
        if self._waits.has(ref):
            return
        ruling = decide(self._rules, tool, input)
        answer = self._answers.get(ref)
        reason = ruling["reason"] if ruling["effect"] == "deny" else _denial_in(answer)
        if reason is not None:
            return self._waits.refuse(message, reason, self._next_number)
        if ruling["effect"] == "ask" and answer is None:
            asked = {"type": "permission_request", "ref": ref, "tool_name": tool, "tool_input": input}
            return self._ask(asked)
        approved = input if answer is None else answer["input"]
        self._waits.raise_wait({**message, "input": approved}, self._next_number)

    def _begin(self, message: dict) -> None:
        ref = message["call_id"]
        if self._calls.get(ref, {"status": "again"})["status"] != "again":
            raise AssertionError(f"The call {ref} was started twice.")
        refused = self._refusal_of(ref, message["tool_name"], message["tool_input"])
        if refused is not None:
            self._refused[ref] = {"type": "call_refused", "call_id": ref, **refused}
            return
        self._refused.pop(ref, None)
        self._calls[ref] = {
            "name": message["tool_name"],
            "input": message["tool_input"],
            "is_repeatable": message.get("repeatable", False),
            "status": "begun",
            "is_done": False,
            "ok": True,
            "output": "",
        }

    def _refusal_of(self, ref: str, tool: str, input: object) -> dict | None:
        """A denial is stored as an answer, so that every later leg gets it (D-510). An allow is for one execution."""
        ruling = decide(self._rules, tool, input)
        if ruling["effect"] == "allow":
            return None
        if ruling["effect"] == "deny":
            self._deny(ref, ruling["reason"])
            return ruling
        free = [
            each
            for each in self._allowed
            if each.get("spent_on", ref) == ref and each["tool"] == tool and each["input"] == input
        ]
        if not free:
            return ruling
        allowed = next((each for each in free if each["ref"] == ref), free[0])
        allowed["spent_on"] = ref
        return None

    def _deny(self, ref: str, reason: str) -> None:
        self._answers[ref] = {"kind": "permission", "allow": False, "reason": reason}

    def _keep(self, point: dict) -> None:
        self._checkpoint = point
        self._covered_texts = len(self._texts)


def _lost_call(is_repeatable: bool, is_allowed: bool) -> str:
    for row in _LOST_CALLS:
        if row["isRepeatable"] is is_repeatable and row["isAllowed"] is is_allowed:
            return row["becomes"]
    return "in doubt"


def _known_call(call: dict) -> dict:
    if call["status"] == "ended":
        return {"state": "ended", "ok": call["ok"], "output": call["output"]}
    if call["status"] == "left":
        return {"state": "left", "note": call["output"]}
    return {"state": "again", "input": call["input"]}


def _default_reply(asked: RehearsedInteraction) -> object:
    if asked.kind == "permission":
        return True
    return asked.options[0] if asked.options else "yes"


def _answer_of(asked: RehearsedInteraction, reply: object) -> dict:
    if asked.kind == "question":
        if reply is None:
            return {"kind": "question", "declined": True, "reason": None}
        values = reply if isinstance(reply, (list, tuple)) else [reply if isinstance(reply, str) else dump(reply)]
        return {"kind": "question", "values": list(values)}
    if isinstance(reply, dict):
        if reply["allow"]:
            return {"kind": "permission", "allow": True, "input": reply["input"]}
        return {"kind": "permission", "allow": False, "reason": reply.get("reason")}
    if reply is True:
        return {"kind": "permission", "allow": True, "input": asked.input}
    return {"kind": "permission", "allow": False, "reason": None}


def _denial_in(answer: dict | None) -> str | None:
    """Why a person does not allow it; None without such an answer."""
    if answer is None or answer["allow"]:
        return None
    return answer["reason"] or "The person did not allow this."
