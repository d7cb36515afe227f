"""Functions that a framework calls as tools (D-183)."""

from __future__ import annotations

from collections.abc import Callable, Coroutine

from .calls import Called
from .durations import seconds_in
from .failures import Misuse
from .json_values import dump
from .names import digest_of, name_of_words
from .steps import Approval, Steps
from .waits import sleep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .tasks import Tasks
    from .threads import Threads

_SLEEP_SECONDS_MAX = 30 * 86_400
#: In a form from which frameworks take the descriptions of the parameters.
_SLEEP_DESCRIPTION = """Waits for a time. You continue here when it is over.

Args:
    duration: How long: 90s, 15m, 2h, 3d or 2w, and 30d at most
    reason: What you wait for, in a few words for people
"""


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


def waiting(
    host: Threads | Tasks, steps: Steps, is_async: bool, wait: Callable[..., Coroutine[object, object, str]]
) -> Callable[..., object]:
    """What a tool does that waits as other calls do.

    A mistake of the author ends the run, because a framework would tell it to its model.
    """

    async def begin(*given: object) -> str:
        host.check_thread()  # type: ignore[union-attr]
        return await steps.or_end(lambda: wait(*given))

    def drive(*given: object) -> object:
        return host.drive(steps.or_end(lambda: wait(*given)))  # type: ignore[union-attr]

    return begin if is_async else drive


def agent_tool(agent: str, description: str, call: Callable[..., object]) -> Callable[[str], object]:
    """Makes a function with which a model calls another agent. It is a wait and no step: rules see `call_<agent>`."""

    async def ask_async(prompt: str) -> str:
        return await call(prompt)  # type: ignore[misc]

    def ask(prompt: str) -> str:
        return call(prompt)  # type: ignore[return-value]

    # Providers refuse names of more than 64 characters.
    name = f"call_{agent}"
    short = name if len(name) <= 64 else f"{name[:55]}_{digest_of(agent)[:8]}"
    return _described(ask_async if _is_async(call) else ask, short, description, {"prompt": str})


def sleep_tool(sleep: Callable[..., object]) -> Callable[[str, str], object]:
    """Makes a function with which a model sleeps (D-929). It is a wait and no step."""

    async def nap_async(duration: str, reason: str) -> str:
        return await sleep(duration, reason)  # type: ignore[misc]

    def nap(duration: str, reason: str) -> str:
        return sleep(duration, reason)  # type: ignore[return-value]

    parameters = {"duration": str, "reason": str}
    return _described(nap_async if _is_async(sleep) else nap, "sleep", _SLEEP_DESCRIPTION, parameters)


def _is_async(function: Callable) -> bool:
    import inspect

    return inspect.iscoroutinefunction(function)


async def sleep_of_model(steps: Steps, duration: object, reason: object) -> str:
    """Sleeps, and returns the answer for the model."""
    seconds = seconds_in(duration)
    if seconds is None or not 0 < seconds <= _SLEEP_SECONDS_MAX:
        return '"duration" must be such as 90s, 15m, 2h, 3d or 2w, and 30d at most.'
    await sleep(steps, name_of_words(str(reason), "a time"), duration)
    # Without the time, which each replay would say differently.
    return "The time has passed."


def _described(tool: Callable, name: str, description: str, parameters: dict) -> Callable:
    """Says what frameworks read from a function."""
    tool.__name__ = tool.__qualname__ = name
    # Not as text, which some frameworks do not resolve.
    tool.__annotations__ = {**parameters, "return": str}
    tool.__doc__ = description
    return tool


def text_of(called: Called) -> str:
    """Returns the result of a called run for the model: its answer, or why it has none."""
    if not called.ok:
        return f"{called.code}: {called.message}"
    if called.output is not None:
        return dump(called.output)
    return f"{called.text}\n(cut here)" if called.is_cut else called.text


def named_like(call: Callable, function: Callable) -> Callable:
    """Copies name, docstring and parameters, which frameworks read from the function."""
    import functools

    return functools.update_wrapper(call, function)
