"""Builds what requests carry."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any, Union

#: A prompt, or the complete input that the agent declares.
RunInput = Union[str, Mapping[str, Any]]


class Unset:
    """The type of `UNSET`, which leaves a field as it is where None would clear it."""

    def __repr__(self) -> str:
        return "UNSET"


UNSET = Unset()


def present(fields: Mapping[str, Any], nullable: Sequence[str] = ()) -> dict[str, Any]:
    """Drops fields that were not given. None counts as given only where the API knows null."""
    return {
        name: value
        for name, value in fields.items()
        if value is not UNSET and (value is not None or name in nullable)
    }


def input_of(value: RunInput | None, files: Sequence[str] | None = None) -> dict[str, Any] | None:
    if value is None:
        return None
    whole: dict[str, Any] = {"prompt": value} if isinstance(value, str) else dict(value)
    return whole if files is None else {**whole, "files": list(files)}


def new_key() -> str:
    """Returns 128 random bits: the key under which a request takes effect once."""
    return secrets.token_hex(16)
