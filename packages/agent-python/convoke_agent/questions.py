"""Questions to a person, and their answers."""

from __future__ import annotations

from collections.abc import Iterable

from .failures import Misuse
from .json_values import json_copy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Union

    Option = Union[str, dict[str, str]]


def question_of(question: str, options: Iterable[Option] | None) -> dict:
    if not isinstance(question, str):
        raise Misuse(f"A question must be a string, not a {type(question).__name__}.")
    if options is None:
        return {"question": question}
    return {"question": question, "options": json_copy(list(options), "options")}


def joined(answer: object) -> str | None:
    values = answer.get("values")  # type: ignore[attr-defined]
    return None if values is None else ", ".join(values)
