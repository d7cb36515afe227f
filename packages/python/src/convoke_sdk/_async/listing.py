"""Lists that fetch pages while they are read."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncGenerator, Callable
from typing import Any, Generic, TypeVar

from .._core.calls import Call, Calls
from .._core.listing import Page, next_cursor_of
from .driver import AsyncDriver

T = TypeVar("T")


class AsyncListing(Generic[T]):
    """A list. Loop over its items, or take one page with `page()`."""

    def __init__(
        self, driver: AsyncDriver, calls: Calls, call: Call, key: str, item: Callable[[Any], T] | None
    ) -> None:
        self._driver = driver
        self._calls = calls
        self._call = call
        self._key = key
        self._item = item

    async def page(self) -> Page[T]:
        """Fetches one page: the first, or the one of `cursor`."""
        return await self._fetch(self._call.query.get("cursor"))

    async def pages(self) -> AsyncGenerator[Page[T], None]:
        cursor: str | None = self._call.query.get("cursor")
        while True:
            page = await self._fetch(cursor)
            yield page
            cursor = page.next_cursor
            if cursor is None:
                return

    async def __aiter__(self) -> AsyncGenerator[T, None]:
        async for page in self.pages():
            for item in page.items:
                yield item

    async def _fetch(self, cursor: str | None) -> Page[T]:
        call = dataclasses.replace(self._call, query={**self._call.query, "cursor": cursor})
        answer = await self._driver.run(self._calls.json(call))
        records = answer[self._key]
        items = records if self._item is None else [self._item(record) for record in records]
        return Page(items, next_cursor_of(answer, cursor))
