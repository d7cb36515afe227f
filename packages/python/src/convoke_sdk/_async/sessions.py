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
from .driver import AsyncDriver
from .listing import AsyncListing
from .resource import AsyncResource

if TYPE_CHECKING:
    from .._generated.async_resources import (
        AsyncFiles,
        AsyncInteractions,
        AsyncRun,
        AsyncRuns,
        AsyncSessionConnections,
        AsyncSessionHandle,
    )
    from .._generated.requests import RunBudget


class AsyncSessionParts(AsyncResource):
    """A session by its id. Creating it sends no request."""

    def __init__(self, driver: AsyncDriver, calls: Calls, *, session_id: str) -> None:
        super().__init__(driver, calls, session_id=session_id)
        self.id = session_id

    @cached_property
    def runs(self) -> AsyncRuns:
        from .._generated.async_resources import AsyncRuns

        return AsyncRuns(self._driver, self._calls, session_id=self.id)

    @cached_property
    def interactions(self) -> AsyncInteractions:
        from .._generated.async_resources import AsyncInteractions

        return AsyncInteractions(self._driver, self._calls, session_id=self.id)

    @cached_property
    def files(self) -> AsyncFiles:
        from .._generated.async_resources import AsyncFiles

        return AsyncFiles(self._driver, self._calls, session_id=self.id)

    @cached_property
    def connections(self) -> AsyncSessionConnections:
        from .._generated.async_resources import AsyncSessionConnections

        return AsyncSessionConnections(self._driver, self._calls, session_id=self.id)

    async def run(
        self,
        input: RunInput,
        *,
        files: Sequence[str] | None = None,
        labels: Mapping[str, str] | None = None,
        budget: RunBudget | None = None,
        idempotency_key: str | None = None,
    ) -> AsyncRun:
        """Starts a run. `files` are ids of files of the session."""
        return await self.runs.start(
            input, files=files, labels=labels, budget=budget, idempotency_key=idempotency_key
        )


class AsyncSessionFinding(AsyncResource):
    """The sessions of the workspace."""

    def at(self, session_id: str) -> AsyncSessionHandle:
        """Returns the session with this id without a request."""
        from .._generated.async_resources import AsyncSessionHandle

        return AsyncSessionHandle(self._driver, self._calls, session_id=session_id)


class AsyncSessionConnectionListing(AsyncResource):
    """The accounts that the agent of one session uses."""

    async def list(self) -> Sequence[SessionConnectionRecord]:
        """Lists the services that the agent uses, and whether their accounts are connected."""
        answer = await self._json(op.LIST_SESSION_CONNECTIONS)
        given: Sequence[SessionConnectionRecord] = answer["connections"]
        return given


class AsyncSessionAnswering(AsyncResource):
    """Questions and permission requests of one session."""

    def pending(self) -> AsyncListing[InteractionRecord]:
        """Lists the pending interactions, oldest first."""
        return self._list(op.LIST_INTERACTIONS, "interactions", query={"status": "pending", "order": "asc"})


class AsyncTenantAnswering(AsyncResource):
    """Pending requests in all sessions of the workspace."""

    async def answer(self, interaction: Mapping[str, Any], answer: Answer) -> InteractionRecord:
        """Answers an interaction of the list."""
        path = {name: interaction[name] for name in ("session_id", "interaction_key")}
        record: InteractionRecord = await self._json(op.ANSWER_INTERACTION, path=path, json=answer)
        return record
