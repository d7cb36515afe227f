"""Parses `text/event-stream` (HTML standard) as far as the streams of the service need."""

from __future__ import annotations

import re

#: Maximum size of a message; events of a run are smaller.
_MESSAGE_MAX_BYTES = 16 * 1024 * 1024
_LINE_END = re.compile(rb"\r\n|\n|\r")


class MessageTooLong(ValueError):
    pass


class MessageParser:
    """Yields the payload of each message, the last `id`, which also comes without a message, and `retry`.

    The `event` line only repeats the payload (spec §6). A message that a broken connection left incomplete is dropped.
    """

    def __init__(self) -> None:
        #: Reconnection time in seconds, if the server sent one.
        self.retry: float | None = None
        #: The last id that the server sent, with or without a message.
        self.last_id: str | None = None
        self._id: str | None = None
        self._line = bytearray()
        self._data: list[str] = []
        self._size = 0
        self._ended_in_return = False

    def push(self, piece: bytes) -> list[str]:
        """Takes the next bytes and returns the messages that they complete."""
        if not piece:
            return []
        # A line may end in CR LF, and the bytes may end between the two.
        text = piece[1:] if self._ended_in_return and piece.startswith(b"\n") else piece
        self._ended_in_return = piece.endswith(b"\r")
        messages: list[str] = []
        first, *others = _LINE_END.split(text)
        self._extend(first)
        for following in others:
            self._take(bytes(self._line).decode("utf-8", "replace"), messages)
            self._line.clear()
            self._extend(following)
        return messages

    def _extend(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > _MESSAGE_MAX_BYTES:
            raise MessageTooLong("a message of the stream is too long")
        self._line += piece

    def _take(self, line: str, messages: list[str]) -> None:
        if line:
            self._field(line)
            return
        if self._data:
            messages.append("\n".join(self._data))
        self.last_id = self._id
        self._data = []
        self._size = 0

    def _field(self, line: str) -> None:
        name, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if name == "data":
            self._data.append(value)
        elif name == "id":
            self._id = value
        elif name == "retry" and re.fullmatch(r"[0-9]{1,9}", value):
            self.retry = int(value) / 1000
