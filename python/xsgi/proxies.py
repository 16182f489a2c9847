"""Which peers are proxies of ours, whose word about the client is believed."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from typing import Any

from xsgi.errors import said

#: Who connects to a unix socket has passed its permissions.
UNIX = "unix"

#: Everybody.
ALL = "*"

#: Entries. Each is looked at for each proxy that a request names.
LIST_MAX = 256


def read(value: Any) -> tuple[str, ...]:
    """Addresses, networks, "unix" or "*": a sequence, or text with commas.

    Raises ValueError for what is none of them.
    """
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, Sequence):
        raise ValueError(f"{said(value)} is not a list of addresses.")
    entries = tuple(
        _entry(each.strip() if isinstance(each, str) else each)
        for each in value
        if each != ""
    )
    if len(entries) > LIST_MAX:
        raise ValueError(f"more than {LIST_MAX} addresses and networks.")
    return entries


def _entry(text: Any) -> str:
    if text in (UNIX, ALL):
        return str(text)
    if isinstance(text, str):
        _network(text)
        return text
    raise ValueError(f"{said(text)} is not an address.")


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    try:
        network = ipaddress.ip_network(text)
    except ValueError as error:
        reason = "is not an address or network, 'unix' or '*'"
        if "host bits" in str(error):
            reason = "has bits set behind the network's"
        raise ValueError(f"{said(text)} {reason}.") from None
    if "%" in text:
        raise ValueError(f"{said(text)} has a zone: peers are told without.")
    return network


def table(entries: Sequence[str]) -> bytes:
    """The networks as the extension reads them: 16 bytes and a count of bits.

    Those of IPv4 are the part of IPv6 that stands for it.
    """
    rows = []
    for text in entries:
        if text == ALL:
            rows.append(bytes(17))
        elif text != UNIX:
            network = _network(text)
            address = network.network_address.packed
            prefix = bytes(10) + b"\xff\xff" if len(address) == 4 else b""
            bits = network.prefixlen + 8 * len(prefix)
            rows.append(prefix + address + bytes([bits]))
    return b"".join(rows)


def trusts_unix(entries: Sequence[str]) -> bool:
    return UNIX in entries or ALL in entries
