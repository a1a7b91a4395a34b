from __future__ import annotations

import socket

import pytest

from portal.demo import hosts

# As Linux writes them: an address that is its own stands above "host LOCAL".
FIB_TRIE = """\
Main:
  +-- 0.0.0.0/0 3 0 5
     |-- 0.0.0.0
        /0 universe UNICAST
     +-- 192.168.7.0/24 2 0 1
        |-- 192.168.7.0
           /24 link UNICAST
        |-- 192.168.7.20
           /32 host LOCAL
        |-- 192.168.7.255
           /32 link BROADCAST
Local:
     +-- 127.0.0.0/8 2 0 2
        +-- 127.0.0.0/31 1 0 0
           |-- 127.0.0.0
              /8 host LOCAL
           |-- 127.0.0.1
              /32 host LOCAL
"""
IF_INET6 = """\
00000000000000000000000000000001 01 80 10 80       lo
fe8000000000000000fc00fffe000001 02 40 20 80     eth0
20010db8000700000000000000000014 02 40 00 00     eth0
"""
NAMES = {"bench.lab.example", "bench", "bench.local"}


@pytest.fixture(autouse=True)
def _machine(tmp_path, monkeypatch):
    monkeypatch.setattr(hosts, "_PROC", tmp_path)
    monkeypatch.setattr(hosts, "_route_addresses", lambda: {"192.168.7.20"})
    monkeypatch.setattr(socket, "gethostname", lambda: "Bench.lab.example")
    places = [(10, 1, 6, "", ("fe80::1%eth0", 0)), (2, 1, 6, "", ("127.0.1.1", 0))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: places)


def test_a_machine_is_called_by_its_names_and_the_addresses_of_its_interfaces(tmp_path):
    (tmp_path / "fib_trie").write_text(FIB_TRIE)
    (tmp_path / "if_inet6").write_text(IF_INET6)

    assert hosts.list_machine_hosts() == {
        *NAMES,
        *("192.168.7.20", "127.0.0.1", "127.0.1.1"),
        *("::1", "fe80::fc:ff:fe00:1", "2001:db8:7::14", "fe80::1"),
    }


def test_where_the_system_lists_none_its_routes_and_its_name_tell():
    assert hosts.list_machine_hosts() == {
        *NAMES,
        "192.168.7.20",
        "127.0.1.1",
        "fe80::1",
    }


def test_a_machine_whose_name_leads_nowhere_is_called_by_the_rest(monkeypatch):
    def fail(*_, **__):
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", fail)

    assert hosts.list_machine_hosts() == {*NAMES, "192.168.7.20"}
