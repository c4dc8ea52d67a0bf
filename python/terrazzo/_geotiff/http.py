# SPDX-License-Identifier: Apache-2.0
"""Ranges of files on HTTP servers for open_geotiff(), with checks against requests to private addresses.

Every address of a host must be public, also after a redirect, and the connection goes to the address that was checked.
"""
from __future__ import annotations

import http.client
import ipaddress
import os
import socket
import ssl
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urljoin, urlsplit

from ..compat import UnsafeURLError

MAX_REDIRECTS = 5
_FIRST_BYTES = 16 << 10
_MAX_PLAIN_ANSWER = 16 << 20  # of a server that ignores ranges
_REDIRECTS = (301, 302, 303, 307, 308)


def is_http(source: str) -> bool:
    return source.lower().startswith(("http://", "https://"))


def _seconds(name: str, default: float) -> float:
    try:
        value = float(os.environ.get(name, ""))
    except ValueError:
        return default
    return value if value > 0 else default


def _count(name: str, default: int, least: int) -> int:
    try:
        value = int(os.environ.get(name, ""))
    except ValueError:
        return default
    return value if value >= least else default


def private_hosts_allowed() -> bool:
    return os.environ.get("XRSPATIAL_GEOTIFF_ALLOW_PRIVATE_HOSTS", "").lower() in ("1", "true", "yes", "on")


def checked_address(url: str) -> str:
    """The address to connect to. Raises UnsafeURLError for private ones."""
    parts = urlsplit(url)
    if parts.scheme.lower() not in ("http", "https") or not parts.hostname:
        raise _unsafe(f"{url!r} is not an http or https URL", url)
    try:
        port = parts.port or 80
    except ValueError as error:
        raise _unsafe(f"{url!r} is not a URL: {error}", url) from error
    if private_hosts_allowed():
        return parts.hostname
    try:
        found = socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:  # UnicodeError: "a..b"
        raise OSError(f"{url}: the host {parts.hostname!r} cannot be resolved: {error}") from error
    for *_, address in found:
        if not _is_public(str(address[0])):
            raise _unsafe(
                f"host {parts.hostname!r} resolves to {str(address[0])!r}, which is in a loopback / link-local / private "
                "range. Set XRSPATIAL_GEOTIFF_ALLOW_PRIVATE_HOSTS=1 to allow.",
                url,
            )
    return str(found[0][4][0])


_NAT64 = ipaddress.ip_network("64:ff9b::/96")


def _is_public(text: str) -> bool:
    """Also the IPv4 address in an IPv6 address must be public: a translator on the way may send the request to it."""
    address = ipaddress.ip_address(text.split("%", 1)[0])
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if inner is None and address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return _is_public(str(inner))
        if address.is_site_local:
            return False
    return address.is_global and not address.is_multicast and not address.is_reserved


_CHOOSES_SERVERS = {"http", "https", "reference", "generic", "jupyter", "jlab", "webdav"}


def check_chain(url: str) -> None:
    """Refuses a chained URL of fsspec that may lead to any server: its requests are not checked."""
    protocols = {link.partition("://")[0].strip().lower() for link in url.split("::")}
    if protocols & _CHOOSES_SERVERS and not private_hosts_allowed():
        raise _unsafe(
            f"{url!r} is a chain of fsspec whose requests to servers cannot be checked for private addresses. Set "
            "XRSPATIAL_GEOTIFF_ALLOW_PRIVATE_HOSTS=1 to allow.",
            url,
        )


def _unsafe(message: str, url: str) -> UnsafeURLError:
    error = UnsafeURLError(message)
    error.url = url
    return error


class _PinnedHttp(http.client.HTTPConnection):
    """Connects to an address, and names the host to the server."""

    def __init__(self, host: str, port: int, address: str, context: ssl.SSLContext | None):
        super().__init__(host, port, timeout=_seconds("XRSPATIAL_GEOTIFF_HTTP_CONNECT_TIMEOUT", 10))
        self._address, self._context = address, context

    def connect(self) -> None:
        plain = socket.create_connection((self._address, self.port), self.timeout)
        plain.settimeout(_seconds("XRSPATIAL_GEOTIFF_HTTP_READ_TIMEOUT", 30))
        self.sock = plain if self._context is None else self._context.wrap_socket(plain, server_hostname=self.host)


class HttpFile:
    """A file on a server: its size, and ranges of it, several requests at a time."""

    def __init__(self, url: str):
        self.url = url
        self._head: bytes
        self.size, self._head = self._open()

    def _open(self) -> tuple[int, bytes]:
        status, headers, body = self._request(0, _FIRST_BYTES)
        total = headers.get("Content-Range", "").rpartition("/")[2]
        if status == 200 or (total == "*" and len(body) < _FIRST_BYTES):
            return len(body), body
        if not (total.isascii() and total.isdigit() and len(total) < 19):
            raise OSError(f"{self.url}: the server does not tell the size of the file")
        return int(total), body

    def read_ranges(self, ranges: Any) -> list[bytes]:
        parts, places = _merged(
            list(ranges),
            _count("XRSPATIAL_COG_COALESCE_GAP", 1 << 20, -(1 << 62)),
            _count("XRSPATIAL_COG_MAX_COALESCED_RANGE_BYTES", 256 << 20, 1),
        )
        workers = min(len(parts), _count("XRSPATIAL_COG_HTTP_WORKERS", 8, 1))
        if workers > 1:
            with ThreadPoolExecutor(workers) as pool:
                bodies = list(pool.map(self._read, parts))
        else:
            bodies = [self._read(part) for part in parts]
        return [bodies[index][start : start + length] for index, start, length in places]

    def _read(self, part: tuple[int, int]) -> bytes:
        offset, length = part
        if offset + length <= len(self._head):
            return self._head[offset : offset + length]
        status, headers, body = self._request(offset, length)
        if status == 206 and not headers.get("Content-Range", f"bytes {offset}-").startswith(f"bytes {offset}-"):
            raise OSError(f"{self.url}: the server answered with another range than bytes {offset}-")
        if len(body) < length:
            raise OSError(f"{self.url}: the server sent {len(body)} of {length} bytes")
        return body[:length]

    def _request(self, offset: int, length: int) -> tuple[int, Any, bytes]:
        url = self.url
        for _ in range(MAX_REDIRECTS + 1):
            parts = urlsplit(url)
            address = checked_address(url)
            secure = parts.scheme.lower() == "https"
            connection = _PinnedHttp(
                parts.hostname or "", parts.port or (443 if secure else 80), address,
                ssl.create_default_context() if secure else None,
            )  # fmt: skip
            try:
                target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
                connection.request("GET", target, headers={"Range": f"bytes={offset}-{offset + length - 1}"})
                answer = connection.getresponse()
                if answer.status in _REDIRECTS and answer.headers.get("Location"):
                    url = urljoin(url, answer.headers["Location"])
                    continue
                return self._body(answer, offset, length)
            except http.client.HTTPException as error:
                raise OSError(f"{url}: {error!r}") from error
            finally:
                connection.close()
        raise _unsafe(f"{self.url}: more than {MAX_REDIRECTS} redirects", self.url)

    def _body(self, answer: http.client.HTTPResponse, offset: int, length: int) -> tuple[int, Any, bytes]:
        if answer.status == 404:
            raise FileNotFoundError(f"{self.url}: 404 {answer.reason}")
        if answer.status == 206:
            return 206, answer.headers, answer.read(length)
        if answer.status != 200:
            raise OSError(f"{self.url}: the server answered {answer.status} {answer.reason}")
        body = answer.read(_MAX_PLAIN_ANSWER + 1)
        if offset or len(body) > _MAX_PLAIN_ANSWER:
            raise OSError(f"{self.url}: the server does not serve ranges of the file")
        return 200, answer.headers, body


def _merged(ranges: list[tuple[int, int]], gap: int, longest: int) -> tuple[list[tuple[int, int]], list[tuple[int, int, int]]]:
    """Near ranges as one: (ranges to ask for, for each given range its (index, start, length) in these)."""
    parts: list[tuple[int, int]] = []
    places = [(0, 0, 0)] * len(ranges)
    for index in sorted(range(len(ranges)), key=lambda i: ranges[i]):
        offset, length = ranges[index]
        if parts and gap >= 0:
            start, size = parts[-1]
            merged = max(size, offset + length - start)
            if offset - (start + size) <= gap and merged <= longest:
                parts[-1] = (start, merged)
                places[index] = (len(parts) - 1, offset - start, length)
                continue
        parts.append((offset, length))
        places[index] = (len(parts) - 1, 0, length)
    return parts, places
