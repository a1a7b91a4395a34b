from __future__ import annotations

from ipaddress import ip_address

import pytest

from portal.lib.network.addresses import is_public_ip_address

LAST_V6 = "ffff:ffff:ffff:ffff"

# First and last of each special block, and what is public right below and above it
# (empty: special as well, or nothing is there).
BLOCKS = [
    ("0.0.0.0", "0.255.255.255", "", "1.0.0.0"),  # noqa: S104 - judged, not listened on
    ("10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"),
    ("100.64.0.0", "100.127.255.255", "100.63.255.255", "100.128.0.0"),
    ("127.0.0.0", "127.255.255.255", "126.255.255.255", "128.0.0.0"),
    ("168.63.129.16", "168.63.129.16", "168.63.129.15", "168.63.129.17"),
    ("169.254.0.0", "169.254.255.255", "169.253.255.255", "169.255.0.0"),
    ("172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0"),
    ("192.0.0.0", "192.0.0.255", "191.255.255.255", "192.0.1.0"),
    ("192.0.2.0", "192.0.2.255", "192.0.1.255", "192.0.3.0"),
    ("192.31.196.0", "192.31.196.255", "192.31.195.255", "192.31.197.0"),
    ("192.52.193.0", "192.52.193.255", "192.52.192.255", "192.52.194.0"),
    ("192.88.99.0", "192.88.99.255", "192.88.98.255", "192.88.100.0"),
    ("192.168.0.0", "192.168.255.255", "192.167.255.255", "192.169.0.0"),
    ("192.175.48.0", "192.175.48.255", "192.175.47.255", "192.175.49.0"),
    ("198.18.0.0", "198.19.255.255", "198.17.255.255", "198.20.0.0"),
    ("198.51.100.0", "198.51.100.255", "198.51.99.255", "198.51.101.0"),
    ("203.0.113.0", "203.0.113.255", "203.0.112.255", "203.0.114.0"),
    ("224.0.0.0", "255.255.255.255", "223.255.255.255", ""),
    ("::", f"1fff:ffff:ffff:ffff:{LAST_V6}", "", "2000::"),
    (
        "2001::",
        f"2001:1ff:ffff:ffff:{LAST_V6}",
        f"2000:ffff:ffff:ffff:{LAST_V6}",
        "2001:200::",
    ),
    (
        "2001:db8::",
        f"2001:db8:ffff:ffff:{LAST_V6}",
        f"2001:db7:ffff:ffff:{LAST_V6}",
        "2001:db9::",
    ),
    (
        "2002::",
        f"2002:ffff:ffff:ffff:{LAST_V6}",
        f"2001:ffff:ffff:ffff:{LAST_V6}",
        "2003::",
    ),
    (
        "2620:4f:8000::",
        f"2620:4f:8000:ffff:{LAST_V6}",
        f"2620:4f:7fff:ffff:{LAST_V6}",
        "2620:4f:8001::",
    ),
    (
        "3fff::",
        f"3fff:fff:ffff:ffff:{LAST_V6}",
        f"3ffe:ffff:ffff:ffff:{LAST_V6}",
        "3fff:1000::",
    ),
    ("4000::", f"ffff:ffff:ffff:ffff:{LAST_V6}", f"3fff:ffff:ffff:ffff:{LAST_V6}", ""),
]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block[0])
def test_a_special_block_ends_where_its_registry_says(block):
    first, last, below, above = block

    assert [is_public_ip_address(ip_address(edge)) for edge in (first, last)] == [
        False,
        False,
    ]
    assert all(
        is_public_ip_address(ip_address(edge)) for edge in (below, above) if edge
    )


@pytest.mark.parametrize(
    "address",
    [
        *("192.0.0.8", "192.0.0.9", "192.0.0.192", "169.254.169.254"),
        *("100.100.100.200", "168.63.129.16", "255.255.255.255"),
        *("64:ff9b:1::1", "64:ff9b:1::8.8.8.8", "100::1", "100:0:0:1::1"),
        *("5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1"),
    ],
)
def test_what_lies_outside_the_internet_is_not_public(address):
    assert not is_public_ip_address(ip_address(address))


@pytest.mark.parametrize(
    "address",
    [
        "8.8.8.8",
        "1.1.1.1",
        "9.9.9.9",
        "2606:4700::1111",
        "2a00:1450::1",
        "2001:4860::8",
    ],
)
def test_ordinary_addresses_are_public(address):
    assert is_public_ip_address(ip_address(address))


@pytest.mark.parametrize("prefix", ["::ffff:", "64:ff9b::"], ids=["mapped", "NAT64"])
@pytest.mark.parametrize(
    ("carried", "public"),
    [
        ("8.8.8.8", True),
        ("127.0.0.1", False),
        ("10.0.0.1", False),
        ("192.0.0.8", False),
        ("168.63.129.16", False),
        ("224.0.0.1", False),
    ],
)
def test_a_carried_address_is_judged_as_itself(prefix, carried, public):
    assert is_public_ip_address(ip_address(f"{prefix}{carried}")) is public


@pytest.mark.parametrize("bits", ["0:5efe", "200:5efe"])
@pytest.mark.parametrize("prefix", ["2606:4700:0:1", "2a00:1450:4001:800"])
def test_isatap_is_judged_by_where_it_leads(prefix, bits):
    for carried, public in (("8.8.8.8", True), ("10.0.0.1", False)):
        assert is_public_ip_address(ip_address(f"{prefix}:{bits}:{carried}")) is public
    assert not is_public_ip_address(ip_address(f"fe80::{bits}:8.8.8.8"))


@pytest.mark.parametrize("carried", ["8.8.8.8", "127.0.0.1"])
@pytest.mark.parametrize(
    "prefix",
    ["::", "::ffff:0:", "64:ff9b:1::", "2001:0:808:808::", "2002:808:808::"],
    ids=["compatible", "SIIT", "NAT64 of one's own", "Teredo", "6to4"],
)
def test_no_other_transition_form_is_public(prefix, carried):
    assert not is_public_ip_address(ip_address(f"{prefix}{carried}"))
