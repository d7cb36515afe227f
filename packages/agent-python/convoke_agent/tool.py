"""Functions that a framework calls as tools (D-183)."""

from __future__ import annotations

from collections.abc import Callable

from .failures import Misuse
from .steps import Approval


def inputs_of(function: Callable[..., object], is_async: bool) -> Callable[[tuple, dict], dict]:
    """Returns a function that maps the arguments of a call to the input that a person sees, by name."""
    # Imported on first use: it takes some time, and only agents with tools need it.
    import inspect

    name = getattr(function, "__name__", None)
    if name is None:
        raise Misuse("A tool must be a function with a name.")
    if not is_async and inspect.iscoroutinefunction(function):
        raise Misuse(f'Tool "{name}" is async def. Write the agent as async def too.')
    signature = inspect.signature(function)
    allowed = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    for parameter in signature.parameters.values():
        if parameter.kind not in allowed:
            raise Misuse(f'Tool "{name}" has the parameter {parameter}. All its parameters must have names.')
    return lambda arguments, named: dict(signature.bind(*arguments, **named).arguments)


def words_of(approval: Approval) -> object:
    """Returns the text for the model: the result, or the reason of a denial."""
    if approval.allowed:
        return approval.value
    if approval.reason is None:
        return "not allowed"
    # A rule says it in a sentence of its own.
    return approval.reason if approval.reason.startswith("Not allowed") else f"not allowed: {approval.reason}"


def named_like(call: Callable, function: Callable) -> Callable:
    """Copies name, docstring and parameters, which frameworks read from the function."""
    import functools

    return functools.update_wrapper(call, function)
