"""Which proxy leads to a server, and how to ask it for a tunnel (`HTTPS_PROXY`, RFC 9110 section 9.3.6)."""

from __future__ import annotations

import base64
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from .effects import BrokenConnection
from .http1 import Endpoint, ResponseReader


def proxy_for(endpoint: Endpoint) -> str | None:
    """Returns the address in `HTTPS_PROXY` unless `NO_PROXY` names the host. Plain HTTP is never sent to a proxy."""
    if not endpoint.is_tls or proxy_bypass(endpoint.host):
        return None
    return getproxies().get("https") or None


class Tunnel:
    """Asks a proxy for a connection to an endpoint."""

    def __init__(self, proxy: str, endpoint: Endpoint) -> None:
        parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
        if parts.scheme != "http" or not parts.hostname:
            raise ValueError("HTTPS_PROXY must be the address of an HTTP proxy, such as http://proxy.example:3128")
        self.address = (parts.hostname, parts.port or 3128)
        self.is_open = False
        host = f"[{endpoint.host}]" if ":" in endpoint.host else endpoint.host
        target = f"{host}:{endpoint.port}"
        lines = [f"CONNECT {target} HTTP/1.1", f"host: {target}"]
        if parts.username is not None:
            login = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
            lines.append(f"proxy-authorization: Basic {base64.b64encode(login).decode()}")
        self.request = "\r\n".join([*lines, "", ""]).encode("ascii")
        self._reader = ResponseReader("HEAD")

    def push(self, data: bytes) -> None:
        """Takes bytes of the proxy until `is_open`."""
        if not data:
            self._reader.end()
        if self._reader.push(data) or self._reader.head is None:
            return
        if not 200 <= self._reader.head.status < 300:
            raise BrokenConnection(f"the proxy answered {self._reader.head.status}")
        self.is_open = True
