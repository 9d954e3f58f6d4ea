"""Which addresses are this machine, and which belong to one client: a customer of a provider has many of IPv6."""

import ipaddress

# A customer of a provider has at least this prefix of IPv6.
_PREFIX_OF_V6 = 64
# No address is longer; a header may say anything.
_LONGEST = 100


def customer_of(address: str) -> str:
    """The customer whose address it is: the address itself, or the network of an address of IPv6."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address[:_LONGEST]
    if found.version == 4:
        return str(found)
    return str(found.ipv4_mapped or ipaddress.ip_network((int(found), _PREFIX_OF_V6), strict=False))


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, by its name or address alone."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
