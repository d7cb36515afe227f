"""Answers questions and permission requests of a run while it is followed.

An event only names an interaction; the handler gets the durable record, and the answer refers to it (spec §6 rule 6).
A handler is called once per interaction, even if several events name it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from .._generated.operations import ANSWER_INTERACTION, LIST_INTERACTIONS
from ..errors import ConflictError, ConvokeError, is_temporary
from .calls import Call, Calls
from .effects import Invoke, Sleep, Steps
from .listing import next_cursor_of
from .retry import pause_after

T = TypeVar("T")


@dataclass(frozen=True)
class Handlers:
    on_permission: Callable[[Any], Any] | None
    on_question: Callable[[Any], Any] | None


class InteractionResponder:
    def __init__(
        self, calls: Calls, session_id: str, run_id: str, handlers: Handlers, *, patience: float
    ) -> None:
        self._calls = calls
        #: How long a service may be unreachable, as for the events.
        self._patience = patience
        self._path = {"session_id": session_id}
        self._run_id = run_id
        self._handlers = handlers
        self._asked: set[str] = set()

    def asked_by(self, event: Mapping[str, Any]) -> str | None:
        """Returns the key of an interaction that the event opens, the first time."""
        if event["type"] not in ("permission_request", "user_question"):
            return None
        return self._first(event["data"].get("interaction_key"))

    @staticmethod
    def settled_by(event: Mapping[str, Any]) -> str | None:
        """Returns the key of an interaction that was answered."""
        if event["type"] not in ("permission_resolved", "user_answered"):
            return None
        key = event["data"].get("interaction_key")
        return key if isinstance(key, str) else None

    def respond(self, key: str) -> Steps[None]:
        """Asks the handler and sends its answer, if the interaction is still pending."""
        for record in (yield from self._pending()):
            if record["interaction_key"] == key:
                yield from self.ask(record)

    def earlier(self) -> Steps[list[Any]]:
        """Returns pending interactions that events before the cursor announced."""
        pending = yield from self._pending()
        return [one for one in pending if self._first(one["interaction_key"]) is not None]

    def ask(self, record: Any) -> Steps[None]:
        is_permission = record["kind"] == "permission"
        handler = self._handlers.on_permission if is_permission else self._handlers.on_question
        if handler is None:
            return
        # It waits for other people, who may allow it.
        if is_permission and record.get("can_allow") is False:
            return
        said = yield Invoke(handler, (record,))
        if said is None:
            return
        try:
            path = {**self._path, "interaction_key": record["interaction_key"]}
            call = Call(ANSWER_INTERACTION, path, json=_answer(said, is_permission))
            yield from self._patiently(lambda: self._calls.json(call))
        except ConflictError:
            # No longer pending: answered elsewhere, or the run has ended.
            return

    def _first(self, key: object) -> str | None:
        if not isinstance(key, str) or key in self._asked:
            return None
        self._asked.add(key)
        return key

    def _patiently(self, steps: Callable[[], Steps[T]]) -> Steps[T]:
        """Repeats a call for as long as following waits for a service that is restarted.

        Both calls may be repeated: the same answer again changes nothing (D-38).
        """
        settings = self._calls.settings
        since = settings.clock()
        failures = 0
        while True:
            try:
                return (yield from steps())
            except ConvokeError as error:
                if not is_temporary(error) or settings.clock() - since >= self._patience:
                    raise
                pause = pause_after(error, settings.retry, failures, settings.random)
                if pause is None:
                    raise
            failures += 1
            yield Sleep(pause)

    def _pending(self) -> Steps[list[Any]]:
        """Returns the pending interactions of the run, oldest first."""
        return (yield from self._patiently(self._read_pending))

    def _read_pending(self) -> Steps[list[Any]]:
        found: list[Any] = []
        cursor: str | None = None
        while True:
            query = {"status": "pending", "order": "asc", "cursor": cursor}
            page = yield from self._calls.json(Call(LIST_INTERACTIONS, self._path, query))
            found += [one for one in page["interactions"] if one["run_id"] == self._run_id]
            cursor = next_cursor_of(page, cursor)
            if cursor is None:
                return found


def _answer(said: Any, is_permission: bool) -> Any:
    if isinstance(said, Mapping):
        return said
    if is_permission:
        return {"decision": said}
    return {"answer": said if isinstance(said, str) else list(said)}
