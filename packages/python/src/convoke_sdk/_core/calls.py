"""Sends requests: adds credentials, applies timeouts and retries, and turns error responses into errors."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeVar
from urllib.parse import quote, urlencode

from .. import _version
from ..errors import AuthenticationError, ConnectionFailedError, ConvokeError, ServerError, error_from
from .effects import Content, Read, Request, Response, Send, Sleep, Steps
from .retry import Repeatable, pause_before_retry
from .settings import Settings

T = TypeVar("T")

#: Who calls an operation: `tenant` needs a token and a workspace, `person` a token, `anonymous` neither.
Access = Literal["tenant", "person", "anonymous"]

#: A record or a page is smaller: prompts, answers and events are limited by the service.
_JSON_MAX_BYTES = 64 * 1024 * 1024
_ERROR_MAX_BYTES = 1024 * 1024
#: Seconds for one piece of a file: there is no limit on the whole.
_PIECE_TIMEOUT = 120.0


@dataclass(frozen=True)
class Operation:
    """An operation of the contract, as `_generated/operations.py` lists them."""

    method: str
    path: str
    access: Access
    repeatable: Repeatable


@dataclass(frozen=True)
class Call:
    operation: Operation
    #: Values of the placeholders in the path.
    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    #: Sent as JSON.
    json: object = None
    #: Sent as a form.
    form: Mapping[str, str] | None = None
    #: Sent unchanged.
    content: Content | None = None
    #: Default: the setting of the client.
    attempts: int | None = None


class Authority(Protocol):
    """Adds the headers that identify the caller."""

    @property
    def can_renew(self) -> bool:
        """Whether a second call can return other headers."""
        ...

    def headers(self, access: Access, rejected: Mapping[str, str] | None) -> Steps[Mapping[str, str]]: ...


class Calls:
    def __init__(self, settings: Settings, authority: Authority) -> None:
        self.settings = settings
        self._authority = authority

    def json(self, call: Call) -> Steps[Any]:
        """Returns the body as JSON; None if it is empty."""
        return (yield from self._send(call, self._json))

    def text(self, call: Call) -> Steps[str]:
        body = yield from self._send(call, self._whole)
        return body.decode("utf-8", "replace")

    def open(self, call: Call) -> Steps[Response]:
        """Returns the response with an unread body."""
        return (yield from self._send(call, _unread))

    def _send(self, call: Call, read: Callable[[Response, float], Steps[T]]) -> Steps[T]:
        policy = self.settings.retry
        if call.attempts is not None:
            policy = dataclasses.replace(policy, attempts=call.attempts)
        repeatable = _repeatable(call)
        rejected: Mapping[str, str] | None = None
        unsure = False
        attempt = 1
        while True:
            # Outside the try: the token request has its own retries.
            headers = yield from self._authority.headers(call.operation.access, rejected)
            try:
                return (yield from self._attempt(call, headers, read))
            except ConvokeError as error:
                error.attempts = attempt
                error.unsure = unsure
                can_renew = rejected is None and repeatable != "never" and self._authority.can_renew
                if isinstance(error, AuthenticationError) and can_renew:
                    rejected = headers
                    continue
                pause = pause_before_retry(error, repeatable, policy, self.settings.random)
                if pause is None:
                    raise
                unsure = unsure or error.status != 429
            attempt += 1
            yield Sleep(pause)

    def _attempt(
        self, call: Call, authorization: Mapping[str, str], read: Callable[[Response, float], Steps[T]]
    ) -> Steps[T]:
        what = f"{call.operation.method} {call.operation.path}"
        timeout = _PIECE_TIMEOUT if call.content is not None else self.settings.timeout
        deadline = self.settings.clock() + timeout
        response: Response | None = None
        is_kept = False
        try:
            opened: Response = yield Send(self._request(call, authorization), timeout)
            response = opened
            if not 200 <= opened.status < 300:
                body = yield from self._some(opened, deadline, _ERROR_MAX_BYTES)
                raise error_from(opened.status, opened.headers, body, what)
            result = yield from read(opened, deadline)
            is_kept = result is opened
            return result
        except TimeoutError as error:
            raise ConnectionFailedError(f"{what} timed out.", code="timeout") from error
        except OSError as error:
            message = f"{what} got no response: {error}"
            raise ConnectionFailedError(message, code="connection_failed") from error
        finally:
            if response is not None and not is_kept:
                response.close()

    def _request(self, call: Call, authorization: Mapping[str, str]) -> Request:
        operation = call.operation
        headers = {"accept": "application/json", "user-agent": _version.USER_AGENT, **authorization}
        body: bytes | Content | None = call.content
        if call.json is not None:
            body = json.dumps(call.json, ensure_ascii=False, allow_nan=False).encode("utf-8", "surrogatepass")
            headers["content-type"] = "application/json"
        elif call.form is not None:
            body = urlencode(call.form).encode()
            headers["content-type"] = "application/x-www-form-urlencoded"
        url = self.settings.base_url + _path_of(operation.path, call.path) + _query_of(call.query)
        is_repeatable = _repeatable(call) == "always"
        return Request(operation.method, url, {**headers, **call.headers}, body, is_repeatable)

    def _json(self, response: Response, deadline: float) -> Steps[Any]:
        body = yield from self._whole(response, deadline)
        # 204 has no body.
        if not body:
            return None
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            raise _unusable(response, "is not JSON. Is base_url the address of Convoke?") from error

    def _whole(self, response: Response, deadline: float) -> Steps[bytes]:
        body = yield from self._some(response, deadline, _JSON_MAX_BYTES + 1)
        if len(body) > _JSON_MAX_BYTES:
            raise _unusable(response, "is too long.")
        return body

    def _some(self, response: Response, deadline: float, max_bytes: int) -> Steps[bytes]:
        """Reads at most so many bytes, give or take a piece."""
        body = bytearray()
        while len(body) < max_bytes:
            left = deadline - self.settings.clock()
            if left <= 0:
                raise TimeoutError("the response takes too long")
            piece = yield Read(response, left)
            if not piece:
                break
            body += piece
        return bytes(body)


def _unread(response: Response, _deadline: float) -> Steps[Response]:
    return response
    yield


def _repeatable(call: Call) -> Repeatable:
    if call.content is not None and not call.content.is_repeatable:
        return "never"
    return call.operation.repeatable


def _path_of(template: str, values: Mapping[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda match: _segment(values[match[1]]), template)


def _segment(value: str) -> str:
    """Rejects an empty segment and dots, which would address another resource."""
    if isinstance(value, str) and value.strip("."):
        return quote(value, safe="")
    raise ValueError(f'"{value}" is not an id')


def _query_of(query: Mapping[str, Any]) -> str:
    pairs = []
    for name, value in query.items():
        # A list is sent as one parameter for each of its items.
        for item in value if isinstance(value, (list, tuple, set, frozenset)) else [value]:
            if item is not None:
                pairs.append((name, _text_of(item)))
    return f"?{urlencode(pairs)}" if pairs else ""


def _text_of(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _unusable(response: Response, why: str) -> ServerError:
    return ServerError(
        f"The response {why}",
        code="invalid_response",
        status=response.status,
        request_id=response.headers.get("x-request-id"),
    )
