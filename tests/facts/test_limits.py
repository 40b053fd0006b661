from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded_host import lay_out, real_host

from envdoctor.facts.host import Host
from envdoctor.facts.limits import observe_interfaces, observe_open_files, observe_shm
from envdoctor.model.facts import seen

LIMITS = """Limit                     Soft Limit           Hard Limit           Units
Max processes             unlimited            unlimited            processes
Max open files            {}                 1048576              files
"""
DEVICES = """Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs
    lo: 4242      42    0    0    0     0          0         0     4242      42    0
  eth0: 4242      42    0    0    0     0          0         0     4242      42    0
ib0.8001:4242      42    0    0    0     0          0         0     4242      42    0
"""


def host(root, **files):
    places = {"mounts": "/proc/self/mounts", "limits": "/proc/self/limits"}
    places.update(devices="/proc/net/dev", memory="/proc/meminfo")
    lay_out(root, {places[name]: text for name, text in files.items()})
    return real_host(root)


@pytest.mark.parametrize(
    ("mounts", "size"),
    [
        ("shm /dev/shm tmpfs rw,nosuid,nodev,noexec,relatime,size=65536k,inode64 0 0", 64),
        ("tmpfs /dev/shm tmpfs rw,size=16g 0 0", 16384),
        ("tmpfs /dev/shm tmpfs rw,size=2147483648 0 0", 2048),
        ("tmpfs /dev/shm tmpfs rw,size=64k 0 0\ntmpfs /dev/shm tmpfs rw,size=8388608k 0 0", 8192),
        ("tmpfs /dev/shm tmpfs rw,nosuid,nodev,inode64 0 0", 64000),  # half of the memory
        ("tmpfs /dev/shm tmpfs rw,size=50% 0 0", None),
        ("/dev/sda1 /dev/shm ext4 rw 0 0", None),
        ("tmpfs /run/shm tmpfs rw,size=65536k 0 0", None),
        ("", None),
    ],
)
def test_size_of_dev_shm(tmp_path, mounts, size):
    found = observe_shm(host(tmp_path, mounts=mounts + "\n", memory="MemTotal: 131072000 kB\n"))
    assert found.value == size
    assert bool(found.origin) != bool(found.unknown)


def test_open_files(tmp_path):
    found = observe_open_files(host(tmp_path, limits=LIMITS.format("1024")))
    assert found == seen(1024, "/proc/self/limits")


def test_open_files_without_a_limit_and_without_an_answer(tmp_path):
    assert observe_open_files(host(tmp_path, limits=LIMITS.format("unlimited"))).value == 2**30
    assert not observe_open_files(real_host(tmp_path / "nothing")).known


def test_interfaces(tmp_path):
    found = observe_interfaces(host(tmp_path, devices=DEVICES))
    assert found == seen(("eth0", "ib0.8001", "lo"), "/proc/net/dev")
    assert not observe_interfaces(real_host(tmp_path / "nothing")).known


def test_a_thousand_interfaces_are_not_kept(tmp_path):
    many = "".join(f"veth{n}: 1\n" for n in range(1000))
    assert observe_interfaces(host(tmp_path, devices=many)).unknown


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=300))
def test_any_text_is_read(text):
    class Told(Host):
        def read_text(self, path, cap=0):  # noqa: ARG002
            return f"tmpfs /dev/shm tmpfs {text}\n{text}"

    told = Told()
    for observe in (observe_shm, observe_open_files, observe_interfaces):
        found = observe(told)
        assert found.known or found.unknown
