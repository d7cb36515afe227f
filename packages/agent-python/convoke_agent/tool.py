"""Functions that a framework calls as tools (D-183)."""

from __future__ import annotations

from collections.abc import Callable

from .calls import Called
from .failures import Misuse
from .json_values import dump
from .names import digest_of
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


def agent_tool(agent: str, description: str, call: Callable[[str], object], is_async: bool) -> Callable[[str], object]:
    """Makes a function with which a model calls another agent. It is a wait and no step: rules see `call_<agent>`."""

    async def ask_async(prompt: str) -> str:
        return text_of(await call(prompt))  # type: ignore[misc]

    def ask(prompt: str) -> str:
        return text_of(call(prompt))  # type: ignore[arg-type]

    tool = ask_async if is_async else ask
    # Providers refuse names of more than 64 characters.
    name = f"call_{agent}"
    tool.__name__ = tool.__qualname__ = name if len(name) <= 64 else f"{name[:55]}_{digest_of(agent)[:8]}"
    # Not as text, which some frameworks do not resolve.
    tool.__annotations__ = {"prompt": str, "return": str}
    tool.__doc__ = description
    return tool


def text_of(called: Called) -> str:
    """Returns what a model reads of a called run: its answer, or why there is none."""
    if not called.ok:
        return f"{called.code}: {called.message}"
    if called.output is not None:
        return dump(called.output)
    return f"{called.text}\n(cut here)" if called.is_cut else called.text


def named_like(call: Callable, function: Callable) -> Callable:
    """Copies name, docstring and parameters, which frameworks read from the function."""
    import functools

    return functools.update_wrapper(call, function)
