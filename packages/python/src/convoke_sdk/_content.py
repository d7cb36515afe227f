"""Contents of files: what can be uploaded, and how it is read."""

from __future__ import annotations

import os
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import BinaryIO, Union, cast

from ._core.effects import Content

#: Bytes, the path of a file, an open binary file, or pieces. Pieces can be read only once, so they are not sent again.
FileContent = Union[bytes, "os.PathLike[str]", BinaryIO, Iterable[bytes]]
AsyncFileContent = Union[FileContent, AsyncIterable[bytes]]

#: Called with the bytes sent so far and the size, None if it is unknown.
OnProgress = Callable[[int, Union[int, None]], None]

_PIECE_BYTES = 64 * 1024


@dataclass(frozen=True)
class OpenContent:
    name: str | None
    content: Content


def open_content(content: AsyncFileContent, on_progress: OnProgress | None) -> OpenContent:
    if isinstance(content, str):
        raise TypeError("a string is ambiguous: pass bytes, or pathlib.Path for the path of a file")
    name = PurePath(content).name if isinstance(content, os.PathLike) else _name_of(content)
    return OpenContent(name, _counted(_content_of(content), on_progress))


def _content_of(content: AsyncFileContent) -> Content:
    if isinstance(content, (bytes, bytearray, memoryview)):
        data = bytes(content)
        return Content(lambda: _pieces_of(data), len(data), is_repeatable=True)
    if isinstance(content, os.PathLike):
        path = content
        return Content(lambda: _pieces_at(path), os.stat(path).st_size, is_repeatable=True)
    if hasattr(content, "read"):
        return _file(cast(BinaryIO, content))
    if isinstance(content, AsyncIterable):
        return Content(content.__aiter__, None, is_repeatable=False)
    return Content(content.__iter__, None, is_repeatable=False)


def _file(file: BinaryIO) -> Content:
    if not file.seekable():
        return Content(lambda: _pieces_in(file), None, is_repeatable=False)
    start = file.tell()
    size = file.seek(0, os.SEEK_END) - start

    def again() -> Iterator[bytes]:
        file.seek(start)
        return _pieces_in(file)

    return Content(again, size, is_repeatable=True)


def _name_of(content: object) -> str | None:
    name = getattr(content, "name", None)
    return PurePath(name).name if isinstance(name, str) else None


def _pieces_of(data: bytes) -> Iterator[bytes]:
    for start in range(0, len(data), _PIECE_BYTES):
        yield data[start : start + _PIECE_BYTES]


def _pieces_at(path: os.PathLike[str]) -> Iterator[bytes]:
    with open(path, "rb") as file:
        yield from _pieces_in(file)


def _pieces_in(file: BinaryIO) -> Iterator[bytes]:
    while piece := file.read(_PIECE_BYTES):
        yield piece


def _counted(content: Content, on_progress: OnProgress | None) -> Content:
    if on_progress is None:
        return content
    report = on_progress

    def opened() -> Iterator[bytes] | AsyncIterator[bytes]:
        pieces = content.open()
        report(0, content.size)
        return _count_async(pieces) if isinstance(pieces, AsyncIterator) else _count(pieces)

    def _count(pieces: Iterator[bytes]) -> Iterator[bytes]:
        sent = 0
        for piece in pieces:
            sent += len(piece)
            yield piece
            report(sent, content.size)

    async def _count_async(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        sent = 0
        async for piece in pieces:
            sent += len(piece)
            yield piece
            report(sent, content.size)

    return Content(opened, content.size, content.is_repeatable)
