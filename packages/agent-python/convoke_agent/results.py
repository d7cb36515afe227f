"""Results of steps, as the ledger stores them."""

from __future__ import annotations

import json
import math

from .failures import Misuse, NotJson, StepFailed
from .json_values import json_text, size_of

#: Larger results belong in a file (D-163).
_RESULT_BYTES_MAX = 256 * 1024
_MESSAGE_MAX = 10_000

# A stored result is {value} or {error: {name, message}, isRefused?}, with {order, isRepeatable?, said?}. `isRefused`:
# the step ran, but its result cannot be stored, so the run ends. `said`: emissions of the step that waited while
# another one had the floor. The TypeScript kit stores the same.


def outcome_of(step: str, returned: object) -> dict:
    """The outcome of a step that returned."""
    if returned is None:
        return {}
    try:
        text = json_text(returned, "result")
    except NotJson as error:
        return _refused(f'step "{step}": {error}')
    size = size_of(text)
    if size <= _RESULT_BYTES_MAX:
        return {"value": json.loads(text)}
    kib = f"{math.ceil(size / 1024)} KiB; the limit is {_RESULT_BYTES_MAX // 1024} KiB"
    return _refused(f'step "{step}" returned {kib}. Write a file and return its name.')


def outcome_of_error(error: BaseException) -> dict:
    """The outcome of a step that raised."""
    return {"error": {"name": type(error).__name__, "message": shortened(text_of(error))}}


def read_result(output: str) -> dict:
    result = json.loads(output)
    result.setdefault("order", math.inf)
    return result


def value_of(step: str, result: dict) -> object:
    """Returns or raises a stored result, the same in every leg."""
    error = result.get("error")
    if error is None:
        return result.get("value")
    if result.get("isRefused"):
        raise Misuse(error["message"])
    raise StepFailed(step, error["name"], error["message"])


def shortened(text: str) -> str:
    return text[:_MESSAGE_MAX].encode("utf-8", "replace").decode("utf-8")


def text_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return "an error without a message"


def _refused(message: str) -> dict:
    return {"error": {"name": "Misuse", "message": message}, "isRefused": True}
