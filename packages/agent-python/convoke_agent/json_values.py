"""Values that survive a restart: the stored value is equal to the one that the agent had."""

from __future__ import annotations

import json
import re

from .failures import NotJson

#: Many parsers allow 128 levels, and the value is stored inside other objects.
_DEPTH_MAX = 100
#: From here JavaScript writes a number with an exponent, which Python reads as another type.
_NUMBER_MAX = 10**21
_NOT_IN_JSON = "which JSON cannot represent"
_lone_surrogate = re.compile("[\ud800-\udfff]")

_remedies = {
    "tuple": "a list",
    "set": "a list",
    "frozenset": "a list",
    "datetime": "a string",
    "date": "a string",
    "Decimal": "a string",
    "UUID": "a string",
    "bytes": "a string, or write a file and return its name",
    "bytearray": "a string, or write a file and return its name",
    "coroutine": "its awaited value, and write the agent as async def",
    "generator": "a list, or use ctx.stream",
}


def dump(value: object) -> str:
    """Returns the JSON of a value that was checked."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _lone_surrogate.sub(lambda found: "\\u%04x" % ord(found[0]), text)


def size_of(text: str) -> int:
    """The bytes of a string in UTF-8."""
    return len(text.encode("utf-8", "surrogatepass"))


def units_of(text: str) -> int:
    """The length of a string as the server counts it."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def json_text(value: object, path: str) -> str:
    """Returns the JSON of a value.

    Refuses values that `json.dumps` would silently change, such as a tuple: the agent would get a different value after
    a restart (D-163).
    """
    _check(value, path, ())
    return dump(value)


def json_copy(value: object, path: str) -> object:
    """Returns a deep copy, as it is after the server has stored it."""
    _check(value, path, ())
    return _as_stored(value, path)


def _check(value: object, path: str, above: tuple[object, ...]) -> None:
    kind = type(value)
    if value is None or kind is str or kind is bool or kind is int:
        return
    if kind is float:
        if value - value == 0:  # type: ignore[operator]
            return
        raise NotJson(f"{path} is {value}, {_NOT_IN_JSON}. {_verb_at(path)} None or a string.")
    if kind is not dict and kind is not list:
        name = kind.__name__
        remedy = _remedies.get(name, "a dict")
        raise NotJson(f"{path} is {a_kind(value)}, {_NOT_IN_JSON}. {_verb_at(path)} {remedy}.")
    if any(each is value for each in above):
        raise NotJson(f"{path} contains itself, {_NOT_IN_JSON}.")
    if len(above) >= _DEPTH_MAX:
        raise NotJson(f"{path[:80]} is nested more than {_DEPTH_MAX} levels deep.")
    inside = (*above, value)
    if kind is list:
        for index, each in enumerate(value):  # type: ignore[var-annotated, arg-type]
            _check(each, f"{path}[{index}]", inside)
        return
    for name, member in value.items():  # type: ignore[attr-defined]
        if type(name) is not str:
            raise NotJson(f"{path} has a key that is {a_kind(name)}. Use strings as keys.")
        _check(member, f"{path}.{name}", inside)


def _verb_at(path: str) -> str:
    """The author returns a result, and passes anything else to `ctx`."""
    return "Return" if re.match(r"result\b", path) else "Use"


def a_kind(value: object) -> str:
    name = type(value).__name__
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"


def _as_stored(value: object, path: str) -> object:
    """Numbers as JavaScript has them: 5.0 is 5, and an integer must be one that it can represent (D-353)."""
    kind = type(value)
    if kind is list:
        return [_as_stored(each, path) for each in value]  # type: ignore[attr-defined]
    if kind is dict:
        return {name: _as_stored(each, f"{path}.{name}") for name, each in value.items()}  # type: ignore[attr-defined]
    if kind is float and value.is_integer() and abs(value) < _NUMBER_MAX:  # type: ignore[attr-defined, arg-type]
        return int(value)  # type: ignore[call-overload]
    if kind is int and (abs(value) >= _NUMBER_MAX or int(float(value)) != value):  # type: ignore[arg-type]
        raise NotJson(f"{path} is {value}, which has too many digits. Use a string.")
    return value
