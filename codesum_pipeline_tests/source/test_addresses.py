"""Which addresses are one repository."""

import pytest

from codesum_pipeline.source.git.locations import address_of


@pytest.mark.parametrize(
    "location",
    [
        "https://git.example.org/acme/shop",
        "https://git.example.org/acme/shop.git",
        "https://git.example.org/acme/shop/",
        "https://GIT.example.org:443/Acme/Shop.git",
        "https://user:secret@git.example.org:8443/acme/shop.git",
        "ssh://git@git.example.org:2222/acme/shop.git",
        "git@git.example.org:acme/shop.git",
        "git.example.org:acme/shop",
        "git@git.example.org:/acme/shop.git",
        "https://git.example.org/acme/sh%6Fp",
    ],
)
def test_every_way_of_writing_one_repository_is_one_address(location: str) -> None:
    assert address_of(location) == "git.example.org/acme/shop"


@pytest.mark.parametrize(
    "location",
    ["/srv/git/shop.git", "", "https://", "https://[", "shop", "https://git.example.org", "a" * 3_000 + ":b"],
)
def test_what_is_no_address_of_a_server_has_none(location: str) -> None:
    assert address_of(location) is None
