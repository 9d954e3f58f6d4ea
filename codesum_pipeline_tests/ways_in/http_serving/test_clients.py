"""Whose a request is: the peer, or whom a proxy names that the settings name."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from pydantic import ValidationError

from codesum_pipeline.foundation.data_model.client_addresses import customer_of
from codesum_pipeline.foundation.settings.operation_settings import ServingSettings
from codesum_pipeline_tests.ways_in.http_serving.odd_server import OddServer, odd_server

PEER = "127.0.0.1"


@pytest.fixture(scope="module")
def unnamed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OddServer]:
    with odd_server(tmp_path_factory.mktemp("unnamed"), trusted_proxies=["10.0.0.0/8", "127.0.0.2"]) as server:
        yield server


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OddServer]:
    folder = tmp_path_factory.mktemp("named")
    with odd_server(folder, trusted_proxies=["127.0.0.0/8", "10.0.0.7", "2001:db8:1::/48"]) as server:
        yield server


def client_of(server: OddServer, *forwarded: str, proto: str = "") -> tuple[str, str]:
    """The address and the scheme that the application sees."""
    headers = {"X-Forwarded-For": ", ".join(forwarded), **({"X-Forwarded-Proto": proto} if proto else {})}
    host, _, scheme = requests.get(server.url, headers=headers, timeout=60).json()
    return host, scheme


def test_by_default_nobody_is_believed(tmp_path: Path) -> None:
    with odd_server(tmp_path) as server:
        assert client_of(server, "203.0.113.9", proto="https") == (PEER, "http")


def test_a_peer_that_no_setting_names_is_not_believed(unnamed: OddServer) -> None:
    assert client_of(unnamed, "203.0.113.9", proto="https") == (PEER, "http")


@pytest.mark.parametrize(
    ("forwarded", "client"),
    [
        (["203.0.113.9"], "203.0.113.9"),
        (["2001:db8::9"], "2001:db8::9"),
        (["[2001:db8::9]:4711"], "2001:db8::9"),
        (["203.0.113.9:4711"], "203.0.113.9"),
        (["198.51.100.1", "203.0.113.9"], "203.0.113.9"),
        (["203.0.113.9", "10.0.0.7"], "203.0.113.9"),
        (["203.0.113.9", "10.0.0.7", "2001:db8:1::5"], "203.0.113.9"),
        (["203.0.113.9", "10.0.0.8"], "10.0.0.8"),
        (["127.0.0.1", "203.0.113.9", "127.0.0.5"], "203.0.113.9"),
    ],
    ids=[
        "an address",
        "an address of IPv6",
        "an address of IPv6 with a port",
        "an address with a port",
        "what the client said of itself comes first",
        "two proxies",
        "three proxies",
        "a proxy that no setting names",
        "the client said that it is the proxy",
    ],
)
def test_a_named_proxy_says_whose_a_request_is(named: OddServer, forwarded: list[str], client: str) -> None:
    assert client_of(named, *forwarded, proto="https") == (client, "https")


@pytest.mark.parametrize(
    "forwarded",
    [
        "",
        "unknown",
        "_hidden",
        "203.0.113",
        "203.0.113.9.1",
        "203.0.113.9 or so",
        "[::1",
        "a" * 5_000,
        "'; --",
        "1:2:3",
    ],
)
def test_where_a_proxy_names_no_address_the_proxy_counts(named: OddServer, forwarded: str) -> None:
    assert client_of(named, forwarded)[0] == PEER


def test_lines_of_several_proxies_are_read_as_one(named: OddServer) -> None:
    with named.target.connected() as client:
        headers = ("X-Forwarded-For: 198.51.100.1", "X-Forwarded-For: 203.0.113.9", "X-Forwarded-For: 10.0.0.7")
        client.sendall(named.target.head("GET", "/", *headers, "Connection: close"))
        received = b""
        while part := client.recv(4096):
            received += part
    assert b'["203.0.113.9",0,"http"]' in received


@pytest.mark.parametrize("proxy", ["*", "proxy.example", "10.0.0.1/8", "10.0.0.0/33", "", "10.0.0.1:80"])
def test_a_proxy_is_named_by_its_address_or_network(proxy: str) -> None:
    with pytest.raises(ValidationError, match=r"write an address, or a network such as 10\.0\.0\.0/8"):
        ServingSettings(trusted_proxies=(proxy,))


@pytest.mark.parametrize(
    ("address", "customer"),
    [
        ("203.0.113.9", "203.0.113.9"),
        ("2001:db8:1:2:3::9", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::ffff:203.0.113.9", "203.0.113.9"),
        ("", ""),
        ("x" * 5_000, "x" * 100),
    ],
)
def test_addresses_of_one_customer_count_as_one(address: str, customer: str) -> None:
    assert customer_of(address) == customer
