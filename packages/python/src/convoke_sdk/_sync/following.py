"""Follows a run and calls the handlers of the application."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing

from .._core.effects import Steps
from .._core.interactions import InteractionResponder
from .._core.wait_limit import WaitLimit
from .._generated.events import RunEvent
from .driver import Driver


def follow(
    driver: Driver,
    steps: Steps[None],
    responder: InteractionResponder | None,
    *,
    is_resumed: bool,
    limit: WaitLimit | None = None,
) -> Generator[RunEvent, None, None]:
    """Yields events. A handler is called between two of them, after the loop has got the event that asks.

    While a handler thinks, nothing is read. The service keeps the events, and a connection that breaks in the
    meantime is opened again.
    """
    if responder is not None and is_resumed:
        for record in driver.run(responder.earlier(), limit):
            driver.run(responder.ask(record), limit)
    with closing(driver.stream(steps, limit)) as events:
        for event in events:
            yield event
            key = None if responder is None else responder.asked_by(event)
            if responder is not None and key is not None:
                driver.run(responder.respond(key), limit)
