"""Pages of lists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Page(Generic[T]):
    items: list[T]
    #: Cursor of the next page; None on the last page.
    next_cursor: str | None


def next_cursor_of(page: Mapping[str, Any], cursor: str | None) -> str | None:
    """Returns the cursor of the next page. One that points to itself would loop forever."""
    following = page.get("next_cursor")
    return following if isinstance(following, str) and following != cursor else None
