"""What CUDA enumerates; rules of the MIG User Guide and of CUDA_VISIBLE_DEVICES."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envdoctor.facts.enumeration import Device, Instance, enumerate_devices

A = Device("A", "8.0", 81920, "GPU-aaaa1111")
B = Device("B", "8.6", 24576, "GPU-aaaa2222")
M = Device(
    "M",
    "8.0",
    40960,
    "GPU-mmmm",
    mig=True,
    instances=(
        Instance("1c.3g.20gb", 19968, "MIG-11", 1, 0),
        Instance("2c.3g.20gb", 19968, "MIG-12", 1, 1),
        Instance("2g.10gb", 9856, "MIG-30", 3, 0),
    ),
)
EMPTY = Device("E", "8.0", 40960, "GPU-eeee", mig=True)


def shown(devices, visible, driver="535.129.03"):
    return " ".join(gpu.mig or gpu.name for gpu in enumerate_devices(devices, visible, driver))


@pytest.mark.parametrize(
    ("visible", "expected"),
    [
        (None, "A B"),
        ("", ""),
        ("-1", ""),
        ("NoDevFiles", ""),
        ("1", "B"),
        ("1,0", "B A"),
        (" 0 , 1 ", "A B"),
        ("0,-1,1", "A"),  # what follows an invalid number is not seen
        ("0,2,1", "A"),
        ("7", ""),
        ("0,0", ""),  # a number twice: nothing is seen
        ("1gpu,0x", "B A"),  # read as strtol does
        ("GPU-aaaa2222", "B"),
        ("GPU-aaaa2", "B"),  # an abbreviation, if it is unique
        ("GPU-aaaa", ""),
        ("GPU-aaaa2222,GPU-aaaa1111", "B A"),
        ("GPU-zzzz", ""),
        ("MIG-11", ""),
    ],
)
def test_visible_devices(visible, expected):
    assert shown([A, B], visible) == expected


@pytest.mark.parametrize(
    ("devices", "visible", "before_570", "since_570"),
    [
        ([M], None, "1c.3g.20gb", "1c.3g.20gb 2g.10gb"),
        ([M], "0", "1c.3g.20gb", "1c.3g.20gb 2g.10gb"),
        ([M], "MIG-30", "2g.10gb", "2g.10gb"),
        ([M], "MIG-30,MIG-12", "2g.10gb", "2g.10gb 2c.3g.20gb"),
        ([M], "MIG-12,MIG-11", "2c.3g.20gb", "2c.3g.20gb"),
        ([M], "MIG-GPU-mmmm/3/0", "2g.10gb", "2g.10gb"),
        ([M], "GPU-mmmm", "1c.3g.20gb", "1c.3g.20gb 2g.10gb"),
        ([A, M], None, "1c.3g.20gb", "A 1c.3g.20gb 2g.10gb"),
        ([A, M], "0", "A", "A"),
        ([A, M], "0,1", "1c.3g.20gb", "A 1c.3g.20gb 2g.10gb"),
        ([EMPTY], None, "", ""),
        ([EMPTY, A], None, "A", "A"),
    ],
)
def test_mig(devices, visible, before_570, since_570):
    assert shown(devices, visible, "470.57.02") == before_570
    assert shown(devices, visible, "570.86.10") == since_570
    assert shown(devices, visible, "") == before_570


def test_an_instance_has_its_own_memory_and_its_gpu_s_capability():
    (gpu,) = enumerate_devices([M], "MIG-30")
    assert (gpu.name, gpu.compute_capability, gpu.memory_mib, gpu.mig) == (
        "M",
        "8.0",
        9856,
        "2g.10gb",
    )


def test_equal_gpus_without_uuid_are_two():
    unnamed = Device("H", "9.0", 1)
    assert shown([unnamed, unnamed], "0,1") == "H H"
    assert shown([unnamed, unnamed], None) == "H H"


@settings(deadline=None)  # the machine may be busy
@given(
    st.lists(st.sampled_from([A, B, M, EMPTY]), max_size=4, unique=True),
    st.none() | st.text(alphabet="01-,MIGPU aem/", max_size=12),
    st.sampled_from(["", "470.57.02", "580.1", "x"]),
)
def test_never_more_than_there_is(devices, visible, driver):
    whole = sum(len(d.instances) if d.mig else 1 for d in devices)
    gpus = enumerate_devices(devices, visible, driver)
    assert len(gpus) <= whole
    assert len(set(gpus)) == len(gpus)
