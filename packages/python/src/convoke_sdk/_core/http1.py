"""HTTP/1.1 (RFC 9112) as bytes: writes the head of a request, reads a response however its bytes are cut."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from .effects import BrokenConnection, Content, Request

_HEAD_MAX_BYTES = 64 * 1024
_LINE_MAX_BYTES = 4 * 1024
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_STATUS_LINE = re.compile(rb"HTTP/1\.([01]) ([1-5][0-9][0-9])(?: .*)?", re.DOTALL)


class MalformedResponse(BrokenConnection):
    """The bytes are not a response of HTTP/1.1."""


@dataclass(frozen=True)
class Endpoint:
    """Where a connection leads. Two requests to the same endpoint may share one."""

    is_tls: bool
    host: str
    port: int


def endpoint_of(url: str) -> Endpoint:
    parts = urlsplit(url)
    is_tls = parts.scheme == "https"
    return Endpoint(is_tls, parts.hostname or "", parts.port or (443 if is_tls else 80))


def head_of(request: Request) -> bytes:
    """Returns the head of a request. Its body follows: as it is, or in chunks if its size is unknown."""
    parts = urlsplit(request.url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    lines = [f"{request.method} {target} HTTP/1.1".encode("ascii"), b"host: " + parts.netloc.encode("ascii")]
    for name, value in {**request.headers, **_framing(request)}.items():
        lines.append(_header(name, value))
    return b"\r\n".join([*lines, b"", b""])


def _framing(request: Request) -> Mapping[str, str]:
    body = request.body
    if body is None:
        return {} if request.method in ("GET", "DELETE") else {"content-length": "0"}
    size = body.size if isinstance(body, Content) else len(body)
    return {"transfer-encoding": "chunked"} if size is None else {"content-length": str(size)}


def _header(name: str, value: str) -> bytes:
    # A line break would let a value add headers of its own.
    if _NAME.fullmatch(name) is None or re.search(r"[\x00-\x08\x0a-\x1f\x7f]", value) is not None:
        raise ValueError(f"the header {name} contains characters that are not allowed")
    return f"{name}: {value.strip()}".encode()


def chunk_of(piece: bytes) -> bytes:
    """Frames a piece of a body of unknown size. The empty piece ends the body."""
    return b"%x\r\n%b\r\n" % (len(piece), piece)


@dataclass(frozen=True)
class Head:
    status: int
    headers: Mapping[str, str]
    is_reusable: bool


class ResponseReader:
    """Reads one response. `push` takes bytes of the connection, `end` notes that it was closed."""

    def __init__(self, method: str) -> None:
        self.head: Head | None = None
        self.is_complete = False
        self._method = method
        self._buffer = bytearray()
        self._step: Callable[[bytearray], bool] = self._take_head
        self._left = 0

    @property
    def is_reusable(self) -> bool:
        """Whether the connection can carry another request."""
        return self.is_complete and not self._buffer and self.head is not None and self.head.is_reusable

    def push(self, data: bytes) -> bytes:
        """Returns the bytes of the body that become known."""
        self._buffer += data
        body = bytearray()
        while not self.is_complete and self._step(body):
            pass
        return bytes(body)

    def end(self) -> None:
        """Accepts a closed connection only where that ends the body."""
        if self.is_complete:
            return
        if self._step == self._take_rest:
            self.is_complete = True
            return
        raise BrokenConnection("the connection was closed before the response was complete")

    def _take_head(self, _body: bytearray) -> bool:
        end = self._buffer.find(b"\r\n\r\n")
        if max(end, 0 if end >= 0 else len(self._buffer)) > _HEAD_MAX_BYTES:
            raise MalformedResponse("the head of the response is too long")
        if end < 0:
            return False
        status_line, *lines = bytes(self._buffer[:end]).split(b"\r\n")
        del self._buffer[: end + 4]
        matched = _STATUS_LINE.fullmatch(status_line)
        if matched is None:
            raise MalformedResponse("the server does not speak HTTP/1.1")
        status = int(matched[2])
        if status >= 200:
            self._begin(status, _headers(lines), is_old=matched[1] == b"0")
        elif status == 101:
            raise MalformedResponse("the server changed the protocol")
        return True

    def _begin(self, status: int, headers: dict[str, str], *, is_old: bool) -> None:
        coding = headers.get("transfer-encoding")
        length = headers.get("content-length")
        is_closed = "close" in headers.get("connection", "").lower() or is_old
        self.head = Head(status, headers, not is_closed and not (coding and length))
        if self._method == "HEAD" or status in (204, 304):
            self.is_complete = True
        elif coding is not None:
            if coding.strip().lower() != "chunked":
                raise MalformedResponse("the response has an unknown transfer encoding")
            self._step = self._take_size
        elif length is not None:
            # Repeated lengths are joined by a comma, and refused here unless they are equal.
            values = {value.strip() for value in length.split(",")}
            text = values.pop()
            if values or re.fullmatch(r"[0-9]{1,15}", text) is None:
                raise MalformedResponse("the response has an invalid length")
            self._left = int(text)
            self._step = self._take_length
        else:
            self.head = Head(status, headers, is_reusable=False)
            self._step = self._take_rest

    def _take_length(self, body: bytearray) -> bool:
        self._move(body)
        self.is_complete = self._left == 0
        return False

    def _take_rest(self, body: bytearray) -> bool:
        body += self._buffer
        self._buffer.clear()
        return False

    def _take_size(self, _body: bytearray) -> bool:
        line = self._line()
        if line is None:
            return False
        size = line.split(b";", 1)[0].strip()
        if re.fullmatch(rb"[0-9A-Fa-f]{1,12}", size) is None:
            raise MalformedResponse("the response has an invalid chunk")
        self._left = int(size, 16)
        self._step = self._take_trailer if self._left == 0 else self._take_chunk
        return True

    def _take_chunk(self, body: bytearray) -> bool:
        self._move(body)
        if self._left > 0 or len(self._buffer) < 2:
            return False
        if self._buffer[:2] != b"\r\n":
            raise MalformedResponse("the response has an invalid chunk")
        del self._buffer[:2]
        self._step = self._take_size
        return True

    def _take_trailer(self, _body: bytearray) -> bool:
        line = self._line()
        if line is None:
            return False
        self._left += len(line)
        if self._left > _HEAD_MAX_BYTES:
            raise MalformedResponse("the end of the response is too long")
        self.is_complete = line == b""
        return True

    def _move(self, body: bytearray) -> None:
        taken = self._buffer[: self._left]
        del self._buffer[: len(taken)]
        self._left -= len(taken)
        body += taken

    def _line(self) -> bytes | None:
        end = self._buffer.find(b"\r\n", 0, _LINE_MAX_BYTES)
        if end < 0:
            if len(self._buffer) >= _LINE_MAX_BYTES:
                raise MalformedResponse("a line of the response is too long")
            return None
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 2]
        return line


def _headers(lines: list[bytes]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(b":")
        key = name.decode("latin-1").lower()
        if not colon or _NAME.fullmatch(key) is None:
            raise MalformedResponse("the response has an invalid header")
        text = value.decode("latin-1").strip()
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    return headers
