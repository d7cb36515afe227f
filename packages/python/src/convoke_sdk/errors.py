"""Errors of the client. The class is the category, `code` the exact reason."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._generated.records import RunRecord


class ConvokeError(Exception):
    """Base class of all errors of the client::

        try:
            session.run("Continue")
        except ConvokeError as error:
            if error.code != "session_stopped":
                raise
            session.resume()
    """

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status: int | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        #: A code of the service (docs/reference/errors.md), or one of the client for a failure without a response.
        self.code = code
        #: The HTTP status; None if there was no response.
        self.status = status
        #: Identifies the request in the log of the service; include it in a report to the operator.
        self.request_id = request_id
        #: Seconds to wait before another attempt, from the service.
        self.retry_after = retry_after
        #: The complete response body, for codes with more fields (`secret_already_issued`).
        self.body = body
        #: Number of times that the request was sent.
        self.attempts = 1
        #: Whether an earlier attempt got no response and may have taken effect.
        self.unsure = False


class AuthenticationError(ConvokeError):
    """401: the credentials are wrong, expired or revoked. A new token was already tried."""


class PermissionDeniedError(ConvokeError):
    """403: no access to this organization, tenant or operation."""


class NotFoundError(ConvokeError):
    """404: the resource does not exist in the selected tenant, or a capability is disabled."""


class ConflictError(ConvokeError):
    """409 and 412: the request conflicts with the state of the resource. Read it before you retry."""


class InvalidRequestError(ConvokeError):
    """400 and other 4xx: the request is invalid; do not retry it unchanged."""


class RateLimitError(ConvokeError):
    """429, after the retries: see `retry_after`."""


class ServerError(ConvokeError):
    """5xx, after the retries; also a response that does not match the API."""


class ConnectionFailedError(ConvokeError):
    """No response: the service could not be reached, or the connection broke."""


class RunError(ConvokeError):
    """Raised by `run.text()` and `run.output()` if the run failed or was cancelled. `run` is its record."""

    def __init__(self, run: RunRecord) -> None:
        status = run["status"]
        usual = "run_cancelled" if status == "cancelled" else "run_failed"
        message = run.get("error_message") or f"The run {run['id']} was {status}."
        super().__init__(message, code=run.get("error_code") or usual)
        self.run = run


class NoOutput(ConvokeError):
    """Raised by `run.output()` if the run completed and returned nothing. `run` is its record."""

    def __init__(self, run: RunRecord) -> None:
        super().__init__(f"The run {run['id']} has completed without an output.", code="no_output")
        self.run = run


class WaitTimeoutError(ConvokeError, TimeoutError):
    """Raised by `run.text(timeout=…)` and `run.wait(timeout=…)` if the run has not ended by then. The run continues."""

    def __init__(self, run_id: str, timeout: float) -> None:
        message = f"The run {run_id} has not ended after {timeout:g} s. It continues: wait again, or cancel it."
        super().__init__(message, code="wait_timeout")
        self.run_id = run_id


def is_temporary(error: BaseException) -> bool:
    """Whether a retry may succeed: rate limit, server error or no response."""
    return isinstance(error, (RateLimitError, ServerError, ConnectionFailedError))


_FAMILIES: Mapping[int, type[ConvokeError]] = {
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    412: ConflictError,
    429: RateLimitError,
}


def error_from(status: int, headers: Mapping[str, str], body: bytes, what: str) -> ConvokeError:
    """Creates the error of a response; accepts any body."""
    fields = _object_in(body)
    code = fields.get("error")
    message = fields.get("message", fields.get("error_description"))
    request_id = fields.get("request_id", headers.get("x-request-id"))
    family: type[ConvokeError] = _FAMILIES.get(status, InvalidRequestError)
    if status >= 500:
        family = ServerError
    return family(
        message if isinstance(message, str) else f"{what} returned {status}.",
        code=code if isinstance(code, str) else _code_of(status),
        status=status,
        request_id=request_id if isinstance(request_id, str) else None,
        retry_after=_retry_after(headers.get("retry-after", "")),
        body=fields or None,
    )


def _code_of(status: int) -> str:
    """For responses that do not come from the service, but from a proxy in front of it."""
    return "unexpected_redirect" if status < 400 else f"http_{status}"


def _object_in(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _retry_after(value: str) -> float | None:
    """Parses Retry-After (RFC 9110): seconds or a date."""
    if value.isascii() and value.isdigit() and len(value) <= 9:
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
