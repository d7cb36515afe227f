"""Makes an agent of a function."""

from __future__ import annotations

from collections.abc import Callable

from .failures import Misuse

_COROUTINE = 0x80
_GENERATORS = 0x20 | 0x200


class Agent:
    """An agent that the server can run."""

    def __init__(self, body: Callable) -> None:
        self.body = body
        self.__name__ = getattr(body, "__name__", "agent")
        self.__doc__ = body.__doc__
        #: Whether it is `async def`.
        self.is_async = bool(_flags_of(body) & _COROUTINE)


def agent(body: Callable) -> Agent:
    """Makes an agent of a `def` or `async def`. A string that it returns is appended to the answer."""
    if not callable(body):
        raise Misuse("@agent decorates a function that takes ctx. Write @agent without parentheses.")
    if _flags_of(body) & _GENERATORS:
        raise Misuse("A function with @agent must not yield. Use ctx.say() or ctx.stream().")
    return Agent(body)


def _flags_of(body: Callable) -> int:
    function = getattr(body, "__func__", body)
    code = getattr(function, "__code__", None) or getattr(type(body).__call__, "__code__", None)
    return 0 if code is None else code.co_flags
