# Generated from _async/listing.py by packages/python/scripts/write-wire.ts. Do not edit.
"""Lists that fetch pages while they are read."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator, Callable
from typing import Any, Generic, TypeVar

from .._core.calls import Call, Calls
from .._core.listing import Page, next_cursor_of
from .driver import Driver

T = TypeVar("T")


class Listing(Generic[T]):
    """A list. Loop over its items, or take one page with `page()`."""

    def __init__(
        self, driver: Driver, calls: Calls, call: Call, key: str, item: Callable[[Any], T] | None
    ) -> None:
        self._driver = driver
        self._calls = calls
        self._call = call
        self._key = key
        self._item = item

    def page(self) -> Page[T]:
        """Fetches one page: the first, or the one of `cursor`."""
        return self._fetch(self._call.query.get("cursor"))

    def pages(self) -> Generator[Page[T], None, None]:
        cursor: str | None = self._call.query.get("cursor")
        while True:
            page = self._fetch(cursor)
            yield page
            cursor = page.next_cursor
            if cursor is None:
                return

    def __iter__(self) -> Generator[T, None, None]:
        for page in self.pages():
            for item in page.items:
                yield item

    def _fetch(self, cursor: str | None) -> Page[T]:
        call = dataclasses.replace(self._call, query={**self._call.query, "cursor": cursor})
        answer = self._driver.run(self._calls.json(call))
        records = answer[self._key]
        items = records if self._item is None else [self._item(record) for record in records]
        return Page(items, next_cursor_of(answer, cursor))
