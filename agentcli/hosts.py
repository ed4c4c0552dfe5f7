"""Hosts of web addresses, in the one form in which rules judge them and requests go to them."""

from __future__ import annotations

import ipaddress
import socket
from urllib.parse import urlsplit

_LOCAL = (".localhost", ".local", ".internal", ".lan", ".home.arpa")
"""Endings of names that mean something only inside a network (RFC 6761, 6762, 8375, and common use)."""


def ascii_host(host: str) -> str:
    """In small letters, without a final dot, other scripts as ``xn--`` labels; empty where it is no host name.

    Letters that look or count alike (full width, an ideographic full stop) become what a name server is asked for, so
    that nobody gets around a rule by writing a host in another way.
    """
    plain = host.strip().rstrip(".").lower()
    if plain.isascii():
        return plain
    try:
        return plain.encode("idna").decode("ascii").rstrip(".").lower()
    except UnicodeError:
        return ""


def host_of(url: str) -> str:
    """The address's host as ``ascii_host`` has it; empty where there is none."""
    try:
        return ascii_host(urlsplit(url.strip()).hostname or "")
    except ValueError:
        return ""


def is_local(host: str) -> bool:
    """Whether the host is this machine, or in a network that is not the internet, as far as its name tells."""
    if "." not in host and ":" not in host:
        return True  # a bare name, or a number that counts as an IPv4 address
    address = _address(host)
    if address is None:
        return host.endswith(_LOCAL)
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return not (mapped or address).is_global


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        pass
    try:  # the short and the hexadecimal forms, which the system's resolver takes too
        return ipaddress.IPv4Address(socket.inet_aton(host))
    except (OSError, ValueError):
        return None
