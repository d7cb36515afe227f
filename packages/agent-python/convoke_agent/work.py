"""Calls the function of a step with the arguments that it has parameters for."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .failures import Misuse

_known = ("key", "input", "signal")
_VARIADIC_NAMES = 0x08


def bound_work(what: str, work: Callable[..., object]) -> Callable[[Mapping[str, object]], object]:
    """Returns a function that calls `work` with those of `key`, `input` and `signal` that it has parameters for.

    A parameter with a default is the author's: `lambda word=word: …` binds the value of a loop's variable.
    """
    if not callable(work):
        raise Misuse(f"{what} needs a function, not a {type(work).__name__}.")
    wanted, others = _parameters(work)
    if others:
        raise Misuse(
            f'{what}: the function has an unknown parameter "{others[0]}". Its parameters can be key, input and signal.'
        )
    return lambda given: work(**{name: given[name] for name in wanted})


def _parameters(work: Callable[..., object]) -> tuple[list[str], list[str]]:
    """Returns the parameters that the kit fills, and those that it does not know."""
    function = getattr(work, "__func__", work)
    code = getattr(function, "__code__", None)
    if code is None or code.co_posonlyargcount:
        return _inspected(work)
    positional = list(code.co_varnames[: code.co_argcount])
    required = positional[: len(positional) - len(function.__defaults__ or ())]
    if function is not work:
        # A bound method has the first one already.
        required = required[1:]
    keyword = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    required += [name for name in keyword if name not in (function.__kwdefaults__ or {})]
    if code.co_flags & _VARIADIC_NAMES:
        required += [name for name in _known if name not in positional and name not in keyword]
    return _sorted(required)


def _inspected(work: Callable[..., object]) -> tuple[list[str], list[str]]:
    # Imported on first use: it takes some time, and few functions need it.
    import inspect

    try:
        parameters = inspect.signature(work).parameters.values()
    except ValueError:
        return [], []
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    positional = (inspect.Parameter.POSITIONAL_ONLY,)
    return _sorted(
        [
            parameter.name if parameter.kind in named else f"{parameter.name}, /"
            for parameter in parameters
            if parameter.kind in named + positional and parameter.default is parameter.empty
        ]
    )


def _sorted(required: list[str]) -> tuple[list[str], list[str]]:
    return [name for name in required if name in _known], [name for name in required if name not in _known]
