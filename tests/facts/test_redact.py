from __future__ import annotations

import re

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envdoctor.facts.redact import Identity, own_identity, redact
from envdoctor.model.facts import (
    CondaPackage,
    Distribution,
    Facts,
    Machine,
    Target,
    seen,
    unseen,
)

ADA = Identity(("/data/ada",), ("ada", "root"), ("gpu-node7.example.org", "gpu-node7"))


def redacted(text, identity=ADA, *, variable=False):
    """What becomes of a text in a path, or in a variable."""
    target = Target("/python", "3.8.18", environ={"X": text}, problems=(text,))
    found = redact(Facts(target=seen(target, "--python")), identity).target.value
    return found.environ["X"] if variable else found.problems[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/home/ada/envs/maptr/bin/python", "~/envs/maptr/bin/python"),
        ("/home/eve/envs/maptr", "~/envs/maptr"),  # anybody's home, not only one's own
        ("/Users/ada/x", "~/x"),
        ("/mnt/nfs/home/eve/x", "~/x"),
        ("/data/ada/x:/data/adaptive/x", "~/x:/data/adaptive/x"),
        ("/root/.cache", "~/.cache"),
        ("/root", "~"),
        ("/rootfs/x", "/rootfs/x"),
        ("/opt/conda/lib/python3.8", "/opt/conda/lib/python3.8"),
        ("/usr/share/home/icons", "/usr/share/home/icons"),
        ("PATH=/home/eve/bin:/usr/bin", "PATH=~/bin:/usr/bin"),
        ("file:///home/eve/mmdetection3d", "file://~/mmdetection3d"),
        ("/scratch/ada/x", "/scratch/user/x"),
        ("/scratch/ada-env/x", "/scratch/user-env/x"),
        ("/scratch/adam/x", "/scratch/adam/x"),
        ("/nfs/gpu-node7/x", "/nfs/host/x"),
        (
            "https://eve:s3cret@git.example.org/a.git@v1#egg=a",
            "https://git.example.org/a.git@v1#egg=a",
        ),
        ("https://token@git.example.org/a?private_token=1", "https://git.example.org/a"),
        ("git+ssh://git@git.example.org/a.git", "git+ssh://git.example.org/a.git"),
        (
            "CUDA_VISIBLE_DEVICES is GPU-8932f937-d72c-4106-c12f-20bd9faed9f6",
            "CUDA_VISIBLE_DEVICES is GPU-uuid",
        ),
        ("MIG-GPU-8932f937-d72c-4106-c12f-20bd9faed9f6/1/0,1", "MIG-uuid,1"),
        ("not ada, ubuntu:22.04", "not ada, ubuntu:22.04"),  # no path: words by chance
    ],
)
def test_texts(text, expected):
    assert redacted(text) == expected


def test_variables_hold_names_alone():
    assert redacted("ada", variable=True) == "user"
    assert redacted("gpu-node7.example.org", variable=True) == "host"
    assert redacted("gpu-node7", variable=True) == "host"


def test_owner_of_a_home_is_known_in_other_places():
    target = Target(
        "/home/eve/env/bin/python", "3.8.18", path=("/scratch/eve/code",), prefix="/home/eve/env"
    )
    found = redact(Facts(target=seen(target, "--python")), Identity()).target.value
    assert (found.python, found.path) == ("~/env/bin/python", ("/scratch/user/code",))


def test_software_keeps_its_name():
    """A user may be called like a package."""
    distribution = Distribution(
        "mmcv-full", "1.4.0", "/x/mmcv_full.dist-info", "/x", modules=("mmcv",)
    )
    target = Target(
        "/x/python",
        "3.8.18",
        path=("/x/site-packages/mmcv",),
        distributions=(distribution,),
        conda=(CondaPackage("numpy", "1.23"),),
    )
    facts = Facts(machine=Machine(os=seen("ubuntu:22.04", "/x")), target=seen(target, ""))
    identity = Identity(("/",), ("mmcv", "numpy", "ubuntu", "python"), ("torch",))
    assert redact(facts, identity) == facts


def test_hardware_addresses_in_names_of_interfaces():
    machine = Machine(interfaces=seen(("enx00e04c680001", "eth0", "wlx00c0caa4b2c3"), "/proc"))
    target = Target("/p", "3.8.18", environ={"NCCL_SOCKET_IFNAME": "=enx00e04c680001,ib0"})
    found = redact(Facts(machine=machine, target=seen(target, "")), ADA)
    assert found.machine.interfaces.value == ("enx-address", "eth0", "wlx-address")
    assert found.target.value.environ["NCCL_SOCKET_IFNAME"] == "=enx-address,ib0"


def test_own_identity_is_taken_out():
    identity = own_identity()
    assert all(identity.hosts)
    assert redacted("/data/ada/x", None) == "/data/ada/x"


COMPONENTS = [
    "home",
    "Users",
    "root",
    "ada",
    "eve",
    "ada-env",
    "data",
    "x",
    "~",
    "user",
    "host",
    "",
]
WORDS = st.sampled_from(
    [*COMPONENTS, "gpu-node7", "https://", "file://", "git+ssh://", "eve:pw@", "@", "?", "#", ":"]
)
TEXTS = st.lists(WORDS, max_size=10).flatmap(
    lambda words: st.lists(
        st.sampled_from(["/", "/", "", ":", " ", "-", "="]),
        min_size=len(words),
        max_size=len(words),
    ).map(lambda joints: "".join(a + b for a, b in zip(words, joints)))
)


@settings(deadline=None)  # the machine may be busy
@given(text=TEXTS, variable=st.booleans())
def test_twice_is_the_same_as_once(text, variable):
    once = redacted(text, variable=variable)
    assert redacted(once, variable=variable) == once


@settings(deadline=None)  # the machine may be busy
@given(
    parts=st.lists(st.sampled_from(["a", "scratch", "x.y"]), max_size=3),
    lead=st.sampled_from(
        ["/home", "/mnt/nfs/home", "/data/ada", "/scratch/ada", "file:///home", ""]
    ),
)
def test_no_name_is_left_in_a_path(parts, lead):
    text = "/".join([lead, "ada", *parts, "gpu-node7", "ada"])
    found = redacted(text)
    assert not re.search(r"(?<![a-z])(ada|gpu-node7)(?![a-z])", found)
    assert "/home/" not in found
    assert found.endswith("/".join(["", *parts, "host", "user"]))


@settings(deadline=None)  # the machine may be busy
@given(st.text(max_size=40) | st.text(alphabet="/:@?#~.-= homeadrtUsfilGPU0", max_size=40))
def test_any_text_is_taken_and_settles(text):
    once = redacted(text, variable=True)
    assert redacted(once, variable=True) == once


def test_every_string_of_a_snapshot_is_cleaned():
    home = "/home/ada"
    facts = Facts(
        machine=Machine(os=unseen(f"{home} is not there"), libstdcxx=seen("3.4.30", f"{home}/lib")),
        target=seen(
            Target(
                f"{home}/python",
                "3.8",
                environ={"LD_LIBRARY_PATH": f"{home}/lib"},
                distributions=(
                    Distribution("a", "1", f"{home}/a", home, direct_url=f"file://{home}/src"),
                ),
            ),
            f"VIRTUAL_ENV={home}",
        ),
    )
    assert b"ada" not in msgspec.json.encode(redact(facts, Identity()))
