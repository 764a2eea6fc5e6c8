"""Loopback addresses and the hosts of URLs."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def url_host(url: str) -> str:
    """The host of a URL, or "" if the URL is invalid."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:  # "http://["
        return ""
