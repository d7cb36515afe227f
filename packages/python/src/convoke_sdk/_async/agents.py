"""Starting a run and its session with one request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .._core.calls import Call
from .._core.events import EventStream
from .._core.requests import RunInput, input_of, new_key, present
from .._generated import operations as op
from ..errors import ServerError
from .resource import AsyncResource

if TYPE_CHECKING:
    from .._generated.async_resources import AsyncRunHandle
    from .._generated.requests import RunBudget


class AsyncInvoking(AsyncResource):
    """The agents that are enabled for the workspace."""

    async def invoke(
        self,
        agent_name: str,
        input: RunInput,
        *,
        labels: Mapping[str, str] | None = None,
        end_user: str | None = None,
        budget: RunBudget | None = None,
        idempotency_key: str | None = None,
    ) -> AsyncRunHandle:
        """Creates a session and starts a run in it with one request, which is also the first event stream.

        Consume it soon with `follow()`, `text()` or `wait()`.
        """
        from .._generated.async_resources import AsyncRunHandle

        fields = {
            "input": input_of(input),
            "labels": labels,
            "end_user": end_user,
            "budget": budget,
        }
        call = Call(
            op.INVOKE_AGENT,
            {"agent_name": agent_name},
            headers={"accept": "text/event-stream"},
            json=present({**fields, "idempotency_key": idempotency_key or new_key()}),
        )
        opened = await self._driver.run(EventStream.open(self._calls, call))
        run_id = opened.response.headers.get("x-run-id")
        session_id = opened.response.headers.get("x-session-id")
        if run_id is None or session_id is None:
            opened.response.close()
            raise ServerError("The response does not name the run.", code="invalid_response")
        return AsyncRunHandle(
            self._driver, self._calls, session_id=session_id, run_id=run_id, opened=opened
        )
