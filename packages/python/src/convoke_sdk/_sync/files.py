# Generated from _async/files.py by packages/python/scripts/write-wire.ts. Do not edit.
"""Contents of the files of a session."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Mapping
from types import TracebackType

from .._content import FileContent, OnProgress, OpenContent, open_content
from .._core.calls import Call
from .._core.effects import Read, Response, Steps
from .._core.requests import new_key, present
from .._generated import operations as op
from .._generated.records import FileRecord
from ..errors import ConnectionFailedError, ConvokeError
from .driver import Driver
from .resource import Resource

#: Seconds without a byte after which a download counts as broken.
_SILENCE = 120.0


class Download:
    """The content of a file while it is read::

        with session.files.download(file["id"]) as download:
            for piece in download:
                copy.write(piece)
    """

    def __init__(self, driver: Driver, response: Response) -> None:
        self._driver = driver
        self._response = response

    @property
    def headers(self) -> Mapping[str, str]:
        """By lower-case name: `content-type`, `content-length`, `content-range`, `etag`."""
        return self._response.headers

    def __iter__(self) -> Generator[bytes, None, None]:
        try:
            while piece := self._driver.run(_read(self._response)):
                yield piece
        finally:
            self._response.close()

    def read(self) -> bytes:
        """Reads all of it into memory. Loop over it for a file of any size."""
        pieces = [piece for piece in self]
        return b"".join(pieces)

    def close(self) -> None:
        self._response.close()

    def __enter__(self) -> Download:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._response.close()


class FileContents(Resource):
    """The files of one session."""

    def upload(
        self,
        content: FileContent,
        *,
        name: str | None = None,
        content_type: str | None = None,
        sha256: str | None = None,
        on_progress: OnProgress | None = None,
    ) -> FileRecord:
        """Uploads a file: bytes, a `pathlib.Path`, an open binary file, or an iterable of bytes.

        `name` is required unless the content has one. `sha256` is in lower-case hex: the service rejects other content.
        `on_progress` is called with the bytes sent and the size. An iterable can be read only once, so its upload is
        not retried.
        """
        opened = open_content(content, on_progress)
        wanted = name or opened.name
        if wanted is None:
            raise TypeError("upload() needs a name for this content")
        size = opened.content.size
        fields = {"name": wanted, "content_type": content_type, "size_bytes": size, "sha256": sha256}
        prepared = self._json(op.PREPARE_FILE, json=present({**fields, "idempotency_key": new_key()}))
        try:
            return self._send(prepared["id"], opened)
        except BaseException:
            # A file without content is useless, but counts towards the limit. A failure of this cleanup is ignored.
            with contextlib.suppress(ConvokeError):
                call = Call(op.DELETE_FILE, self._path({"file_id": prepared["id"]}), attempts=1)
                self._driver.run(self._calls.json(call))
            raise

    def put(
        self, file_id: str, content: FileContent, *, on_progress: OnProgress | None = None
    ) -> FileRecord:
        """Uploads the content of a prepared file. Uploading the same bytes again succeeds."""
        return self._send(file_id, open_content(content, on_progress))

    def download(
        self, file_id: str, *, start: int | None = None, end: int | None = None
    ) -> Download:
        """Opens the content of a file. `start` and `end` are its first and last byte, counted from zero."""
        wanted: dict[str, str] = {}
        if start is not None or end is not None:
            wanted["range"] = f"bytes={start or 0}-{'' if end is None else end}"
        path = self._path({"file_id": file_id})
        call = Call(op.DOWNLOAD_FILE, path, headers={"accept": "*/*", **wanted})
        return Download(self._driver, self._driver.run(self._calls.open(call)))

    def _send(self, file_id: str, opened: OpenContent) -> FileRecord:
        path = self._path({"file_id": file_id})
        headers = {"content-type": "application/octet-stream"}
        call = Call(op.UPLOAD_FILE, path, headers=headers, content=opened.content)
        record: FileRecord = self._driver.run(self._calls.json(call))
        return record


def _read(response: Response) -> Steps[bytes]:
    try:
        piece: bytes = yield Read(response, _SILENCE)
    except OSError as error:
        raise ConnectionFailedError(f"The download broke: {error}", code="connection_failed") from error
    return piece
