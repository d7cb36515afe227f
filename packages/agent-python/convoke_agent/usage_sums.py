"""The usage of each model in a leg."""

from __future__ import annotations

_counted = ("input_tokens", "output_tokens", "cached_input_tokens", "reasoning_tokens", "cost")


class UsageSums:
    """Adds up the usage of each model in this leg: the server expects sums."""

    def __init__(self) -> None:
        self._sums: dict[str | None, dict] = {}

    def add(self, used: dict) -> dict:
        model = used.get("model")
        before = self._sums.get(model, {})
        total = {**before, **used}
        for name in _counted:
            if name in before and name in used:
                total[name] = before[name] + used[name]
        self._sums[model] = total
        return total
