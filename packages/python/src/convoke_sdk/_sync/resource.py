# Generated from _async/resource.py by packages/python/scripts/write-wire.ts. Do not edit.
"""What every part of the client is made of: requests of one noun."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from .._core.calls import Call, Calls, Operation
from .driver import Driver
from .listing import Listing

T = TypeVar("T")


class Resource:
    def __init__(self, driver: Driver, calls: Calls, **bound: str) -> None:
        self._driver = driver
        self._calls = calls
        #: Values for the paths of all its requests, such as the session.
        self._bound = bound

    def _json(
        self,
        operation: Operation,
        *,
        path: Mapping[str, str] | None = None,
        query: Mapping[str, Any] | None = None,
        json: object = None,
        form: Mapping[str, str] | None = None,
        key: str | None = None,
    ) -> Any:
        headers = {} if key is None else {"idempotency-key": key}
        call = Call(operation, self._path(path), query or {}, headers, json=json, form=form)
        return self._driver.run(self._calls.json(call))

    def _text(self, operation: Operation, *, path: Mapping[str, str] | None = None) -> str:
        call = Call(operation, self._path(path), headers={"accept": "*/*"})
        return self._driver.run(self._calls.text(call))

    def _list(
        self,
        operation: Operation,
        key: str,
        *,
        path: Mapping[str, str] | None = None,
        query: Mapping[str, Any] | None = None,
        item: Callable[[Any], T] | None = None,
    ) -> Listing[T]:
        call = Call(operation, self._path(path), query or {})
        return Listing(self._driver, self._calls, call, key, item)

    def _path(self, path: Mapping[str, str] | None) -> Mapping[str, str]:
        return {**self._bound, **(path or {})}
