"""What the core asks for instead of doing it.

A step of the core is a generator: it yields effects, and the driver of the blocking or of the asyncio client performs
them and sends back their results. So both clients take the same decisions.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar, Union

T = TypeVar("T")


class BrokenConnection(OSError):
    """The connection ended before the response did."""


@dataclass(frozen=True)
class Content:
    """A request body that is sent in pieces. `open` returns an iterator of bytes, an asynchronous one for asyncio."""

    open: Callable[[], Any]
    size: int | None
    is_repeatable: bool


@dataclass(frozen=True)
class Request:
    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | Content | None = None
    #: Whether the request may be sent again, so that it may use a connection that the server may just be closing.
    is_repeatable: bool = False


class Response(Protocol):
    """A response whose body is read in pieces; its transport reads it."""

    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]:
        """By lower-case name."""
        ...

    def close(self) -> None:
        """Gives up the rest of the body. Never blocks."""
        ...


@dataclass(frozen=True)
class Send:
    """Sends a request. Results in a `Response`; raises OSError."""

    request: Request
    #: Seconds until the head of the response, for each piece of the body that is sent.
    timeout: float


@dataclass(frozen=True)
class Read:
    """Reads some bytes of a body. Results in empty bytes at its end; raises OSError."""

    response: Response
    timeout: float


@dataclass(frozen=True)
class Sleep:
    seconds: float


@dataclass(frozen=True)
class Emit:
    """Hands an item to the loop of the caller."""

    item: Any


@dataclass(frozen=True)
class Exclusive:
    """Performs steps of an owner that only one thread or task may be in.

    Results in theirs, or in None if they are busy and need not be waited for.
    """

    owner: object
    steps: Generator[Any, Any, Any]
    must_wait: bool = True


@dataclass(frozen=True)
class Invoke:
    """Calls a function of the application, which may be a coroutine function in the asyncio client."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...] = field(default=())


Effect = Union[Send, Read, Sleep, Emit, Exclusive, Invoke]
Steps = Generator[Effect, Any, T]
