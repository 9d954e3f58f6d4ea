"""Addresses in settings, which are shown in files, logs and messages."""

import re


def address_without_secret(url: str | None) -> str | None:
    """The address itself; raises `ValueError` where it may hold a key or a password."""
    if url is not None and not re.fullmatch(r"https?://[^@?#\s]+", url):
        raise ValueError("write http(s)://HOST/PATH without a key or password: keys belong in the environment")
    return url
