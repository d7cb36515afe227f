"""Names of steps and scopes, and the refs that identify them in every leg."""

from __future__ import annotations

import binascii
import re

from .failures import Misuse
from .json_values import dump, units_of

_NAME_MAX = 200
_REF_MAX = 200
_WORDS_MAX = 90
_BETWEEN = " > "
_control_character = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_ends_with_number = re.compile(r"#\d+\Z")


class Scope:
    """A part of the agent function in which step names are numbered."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.running: set[str] = set()
        self._counts: dict[str, int] = {}

    def take(self, name: str, what: str) -> str:
        """Returns the ref of a step or scope: its path and name, and `#2` for the second of that name (L4, D-161).

        Two of one name at the same time are refused, because their numbers would depend on timing (D-162).
        """
        check_name(name, what)
        if name in self.running:
            raise Misuse(
                f'Two {what}s named "{name}" run at the same time. Give them different names, such as "{name} <id>".'
            )
        self.running.add(name)
        return self.count(name)

    def count(self, name: str) -> str:
        """As `take`, for requests that may be made several times at once."""
        count = self._counts.get(name, 0) + 1
        self._counts[name] = count
        return _fitted(f"{self.path}{name}" if count == 1 else f"{self.path}{name}#{count}")


def path_below(ref: str) -> str:
    return f"{ref}{_BETWEEN}"


def ref_of_request(step: str, number: int) -> str:
    """The ref of the request for permission for a step: its own, and another one each time it is asked for once more."""
    return step if number == 1 else _fitted(f"{path_below(step)}?{number}")


def digest_of(*shown: object) -> str:
    """Identifies what a person was shown (L11, D-166)."""
    # Imported on first use, because most legs ask nothing.
    from hashlib import sha256

    digest = binascii.b2a_base64(sha256(dump(list(shown)).encode("utf-8")).digest(), newline=False)
    return digest.decode("ascii").replace("+", "-").replace("/", "_")[:16]


def check_name(name: object, what: str) -> None:
    if not isinstance(name, str) or name == "" or units_of(name) > _NAME_MAX:
        raise Misuse(f"The name of a {what} must be a string of 1 to {_NAME_MAX} characters.")
    if _control_character.search(name):
        raise Misuse(f"The name of {what} {dump(str(name))} contains a control character.")
    if _BETWEEN in name or _ends_with_number.search(name):
        raise Misuse(
            f'The name of {what} "{name}" is reserved: '
            f'a name must not contain "{_BETWEEN}" or end with "#" and a number.'
        )


def check_event_name(name: str) -> None:
    if not re.fullmatch(r"[a-z][a-z0-9_.-]{0,63}", name):
        raise Misuse(
            f'"{name}" is not a valid event name. '
            'Use 1 to 64 characters of a-z, 0-9, "_", "." and "-", and start with a letter.'
        )


def name_of_words(words: str, otherwise: str) -> str:
    """A name from words of a model, which knows no rules for names."""
    printable = re.sub(" >(?= )", " -", _control_character.sub(" ", words))
    return re.sub(r"#(?=\d+\Z)", "no. ", printable[:_WORDS_MAX].strip()) or otherwise


def _fitted(ref: str) -> str:
    """Shortens a ref that is too long: its beginning, for people, and a digest."""
    if units_of(ref) <= _REF_MAX:
        return ref
    beginning = ref.encode("utf-16-le")[:320].decode("utf-16-le", "replace")
    return f"{beginning}~{digest_of(ref)}"
