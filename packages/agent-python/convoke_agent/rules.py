"""What the rules of an agent decide about a call, as the server's `domain/rules` decides it.

A test of all three implementations reads their cases from packages/agent/test/rule-cases.jsonl.
"""

from __future__ import annotations

import re

#: Longer texts are not compared.
_LIKE_MAX = 16 * 1024
_COMPARISONS = ("present", "in", "like", "eq", "ne", "gt", "gte", "lt", "lte")


def decide(rules: list[dict], tool: str, input: object) -> dict:
    """Returns `{"effect": "allow" or "ask"}`, or `{"effect": "deny", "reason": …}`. The first rule that matches decides."""
    for rule in rules:
        if rule.get("observe") or not _matches(rule, tool, input):
            continue
        if rule["effect"] != "deny":
            return {"effect": rule["effect"]}
        because = "." if rule.get("reason") is None else f": {rule['reason']}"
        return {"effect": "deny", "reason": f"Not allowed by the rule {rule['name']} of the agent{because}"}
    return {"effect": "allow"}


def _matches(rule: dict, tool: str, input: object) -> bool:
    if not any(_is_like(tool, glob) for glob in rule["tools"]):
        return False
    for condition in rule.get("when", ()):
        held = _holds(condition, input)
        # What cannot be compared is no reason to allow a call (D-503).
        if held is False or (held is None and rule["effect"] == "allow"):
            return False
    return True


def _holds(condition: dict, input: object) -> bool | None:
    """None if the value cannot be compared."""
    is_present, value = _value_at(condition["path"], input)
    comparison = next(name for name in _COMPARISONS if name in condition)
    other = condition[comparison]
    if comparison == "present":
        return is_present is other
    if not is_present:
        return None
    if comparison == "in":
        same = [each for each in other if _is_same_type(each, value)]
        return value in same if same else None
    if comparison == "like":
        is_short = isinstance(value, str) and len(value.encode("utf-16-le")) <= 2 * _LIKE_MAX
        return _is_like(value, other) if is_short else None  # type: ignore[arg-type]
    if not _is_same_type(other, value):
        return None
    if comparison in ("eq", "ne"):
        return (value == other) is (comparison == "eq")
    if comparison in ("gt", "gte"):
        return value > other or (comparison == "gte" and value == other)  # type: ignore[operator]
    return value < other or (comparison == "lte" and value == other)  # type: ignore[operator]


def _is_same_type(one: object, other: object) -> bool:
    return _type_of(one) == _type_of(other) != "other"


def _type_of(value: object) -> str:
    if value is None or isinstance(value, bool):
        return "null" if value is None else "boolean"
    if isinstance(value, (int, float)):
        return "number"
    return "string" if isinstance(value, str) else "other"


def _value_at(path: str, input: object) -> tuple[bool, object]:
    """Whether there is a value at a JSON Pointer, and the value."""
    value = input
    for part in path.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif isinstance(value, list) and re.fullmatch(r"0|[1-9][0-9]*", name) and int(name) < len(value):
            value = value[int(name)]
        else:
            return False, None
    return True, value


def _is_like(text: str, glob: str) -> bool:
    """`*` stands for any text."""
    head, *parts = glob.split("*")
    if not parts:
        return text == glob
    tail = parts.pop()
    if not text.startswith(head) or not text.endswith(tail):
        return False
    start = len(head)
    for part in parts:
        found = text.find(part, start)
        if found == -1:
            return False
        start = found + len(part)
    return start <= len(text) - len(tail)
