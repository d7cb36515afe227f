# Generated from _async/sessions.py by packages/python/scripts/write-wire.ts. Do not edit.
"""Sessions: their parts, and requests in all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .._core.calls import Calls
from .._core.handlers import Answer
from .._core.requests import RunInput
from .._generated import operations as op
from .._generated.records import InteractionRecord, SessionConnectionRecord
from .driver import Driver
from .listing import Listing
from .resource import Resource

if TYPE_CHECKING:
    from .._generated.resources import (
        Files,
        Interactions,
        Run,
        Runs,
        SessionConnections,
        SessionHandle,
    )
    from .._generated.requests import RunBudget


class SessionParts(Resource):
    """A session by its id. Creating it sends no request."""

    def __init__(self, driver: Driver, calls: Calls, *, session_id: str) -> None:
        super().__init__(driver, calls, session_id=session_id)
        self.id = session_id

    @cached_property
    def runs(self) -> Runs:
        from .._generated.resources import Runs

        return Runs(self._driver, self._calls, session_id=self.id)

    @cached_property
    def interactions(self) -> Interactions:
        from .._generated.resources import Interactions

        return Interactions(self._driver, self._calls, session_id=self.id)

    @cached_property
    def files(self) -> Files:
        from .._generated.resources import Files

        return Files(self._driver, self._calls, session_id=self.id)

    @cached_property
    def connections(self) -> SessionConnections:
        from .._generated.resources import SessionConnections

        return SessionConnections(self._driver, self._calls, session_id=self.id)

    def run(
        self,
        input: RunInput,
        *,
        files: Sequence[str] | None = None,
        labels: Mapping[str, str] | None = None,
        budget: RunBudget | None = None,
        idempotency_key: str | None = None,
    ) -> Run:
        """Starts a run. `files` are ids of files of the session."""
        return self.runs.start(
            input, files=files, labels=labels, budget=budget, idempotency_key=idempotency_key
        )


class SessionFinding(Resource):
    """The sessions of the workspace."""

    def at(self, session_id: str) -> SessionHandle:
        """Returns the session with this id without a request."""
        from .._generated.resources import SessionHandle

        return SessionHandle(self._driver, self._calls, session_id=session_id)


class SessionConnectionListing(Resource):
    """The accounts that the agent of one session uses."""

    def list(self) -> Sequence[SessionConnectionRecord]:
        """Lists the services that the agent uses, and whether their accounts are connected."""
        answer = self._json(op.LIST_SESSION_CONNECTIONS)
        given: Sequence[SessionConnectionRecord] = answer["connections"]
        return given


class SessionAnswering(Resource):
    """Questions and permission requests of one session."""

    def pending(self) -> Listing[InteractionRecord]:
        """Lists the pending interactions, oldest first."""
        return self._list(op.LIST_INTERACTIONS, "interactions", query={"status": "pending", "order": "asc"})


class TenantAnswering(Resource):
    """Pending requests in all sessions of the workspace."""

    def answer(self, interaction: Mapping[str, Any], answer: Answer) -> InteractionRecord:
        """Answers an interaction of the list."""
        path = {name: interaction[name] for name in ("session_id", "interaction_key")}
        record: InteractionRecord = self._json(op.ANSWER_INTERACTION, path=path, json=answer)
        return record
