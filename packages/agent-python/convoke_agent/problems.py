"""Describes why an agent could not be loaded: the position, the problem, and what to do."""

from __future__ import annotations

import os

from .agent import Agent
from .failures import NotAwaited


class Program:
    def __init__(self, entry: str, folder: str, label: str) -> None:
        #: The file with the agent.
        self.entry = os.path.realpath(entry)
        #: The agent's folder.
        self.folder = os.path.realpath(folder)
        #: The folder's name for its author.
        self.label = label

    @property
    def name(self) -> str:
        return os.path.relpath(self.entry, self.folder)


def agent_in(members: dict, program: Program) -> Agent | str:
    """Returns the one agent of a module, or a description of the problem."""
    found = {id(each): (name, each) for name, each in members.items() if isinstance(each, Agent)}
    if len(found) == 1:
        [(_, only)] = found.values()
        return only
    if not found:
        return f"{program.name} has no function with @agent"
    names = ", ".join(sorted(name for name, _ in found.values()))
    return f"{program.name} has several functions with @agent ({names}). Keep one."


def load_problem(error: BaseException, program: Program) -> str:
    if isinstance(error, SyntaxError) and error.filename is not None:
        position = _below(error.filename, program)
        if position is not None:
            return f"{position}:{error.lineno}: {type(error).__name__}: {error.msg}"
    at = _position_of(error, program) or program.name
    if isinstance(error, ModuleNotFoundError) and error.name is not None:
        return (
            f'{at}: module "{error.name}" was not found. '
            f"Install its package into {program.label}/.venv, or add the module next to {program.name}."
        )
    return f"{at}: {type(error).__name__}: {error}"


def where_of(error: BaseException, program: Program) -> str:
    """The position of an error for the end of its message: ` (agent.py:9)`."""
    if isinstance(error, NotAwaited):
        below = _below(error.path, program)
        return "" if below is None else f" ({below}:{error.line})"
    at = _position_of(error, program)
    return "" if at is None else f" ({at})"


def _position_of(error: BaseException, program: Program) -> str | None:
    """The innermost line of the traceback that is in the folder, and not in a package."""
    position, frame = None, error.__traceback__
    while frame is not None:
        below = _below(frame.tb_frame.f_code.co_filename, program)
        if below is not None:
            position = f"{below}:{frame.tb_lineno}"
        frame = frame.tb_next
    return position


def _below(path: str, program: Program) -> str | None:
    below = os.path.relpath(os.path.realpath(path), program.folder)
    return None if below.startswith((os.pardir, ".venv" + os.sep)) else below
