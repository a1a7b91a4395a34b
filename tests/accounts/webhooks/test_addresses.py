from __future__ import annotations

from ipaddress import ip_address

import pytest

from accounts.webhooks.addresses import (
    AddressRefused,
    is_public_ip_address,
    parse_webhook_url,
)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "hooks.example",
        "http://hooks.customer.example/",
        "ftp://hooks.customer.example/",
        "https:///path",
        "https://localhost/",
        "https://intranet/",
        "https://127.0.0.1/",
        "https://127.1/",
        "https://0x7f.0.0.1/",
        "https://2130706433/",
        "https://0/",
        "https://10.1.2.3/",
        "https://172.16.0.1/",
        "https://192.168.1.1/",
        "https://169.254.169.254/latest/meta-data/",
        "https://100.100.100.200/",
        "https://[::1]/",
        "https://[::]/",
        "https://[fe80::1%25eth0]/",
        "https://[fd00:ec2::254]/",
        "https://[::ffff:127.0.0.1]/",
        "https://[64:ff9b::7f00:1]/",
        "https://[2002:7f00:1::]/",
        "https://[ff02::1]/",
        "https://name:word@hooks.customer.example/",
        "https://hooks.customer.example/#part",
        "https://hooks.customer.example:0/",
        "https://hooks.customer.example:99999/",
        "https://hooks.customer.example/a b",
        "https://hooks.customer.example/\n",
        "https://[::1",
    ],
)
def test_what_must_not_be_posted_to_is_refused(url):
    with pytest.raises(AddressRefused):
        parse_webhook_url(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://hooks.customer.example",
        "https://hooks.customer.example:8443/a/b?token=1",
        "https://8.8.8.8/hook",
        "https://[2606:4700::1111]/",
    ],
)
def test_public_addresses_are_taken(url):
    assert parse_webhook_url(url).hostname


def test_a_setting_lets_a_named_host_be_local(settings):
    settings.WEBHOOK_LOCAL_HOSTS = ["127.0.0.1"]

    assert parse_webhook_url("http://127.0.0.1:9000/in").port == 9000
    with pytest.raises(AddressRefused):
        parse_webhook_url("http://127.0.0.2:9000/in")


def test_an_address_inside_another_is_judged_by_what_it_carries():
    assert is_public_ip_address(ip_address("64:ff9b::808:808"))
    assert not is_public_ip_address(ip_address("64:ff9b::a00:1"))
