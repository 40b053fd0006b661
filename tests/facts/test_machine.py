from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded_host import lay_out, real_host

from envdoctor.facts.host import Host
from envdoctor.facts.machine import observe_machine
from envdoctor.model.facts import Target, seen, unseen

UBUNTU = 'PRETTY_NAME="Ubuntu 24.04.3 LTS"\nNAME="Ubuntu"\nVERSION_ID="24.04"\nID=ubuntu\n'
STATUS = "Name:\tpython3\nCpus_allowed_list:\t0-15\n"
MEMINFO = "MemTotal:       131891316 kB\nMemFree:        130000000 kB\n"
LIBSTDCXX = (
    b"\x7fELF\x02 GLIBCXX_DEBUG_MESSAGE_LENGTH\0"
    b"GLIBCXX_3.4\0GLIBCXX_3.4.9\0GLIBCXX_3.4.33\0GLIBCXX_3.4.30\0"
)


def machine(root, files=(), environ=None, **options):
    lay_out(root, dict(files))
    return observe_machine(real_host(root, environ, **options))


def test_bare_metal(tmp_path):
    found = machine(
        tmp_path,
        {
            "/etc/os-release": UBUNTU,
            "/proc/sys/kernel/osrelease": "6.8.0-45-generic\n",
            "/proc/meminfo": MEMINFO,
            "/proc/self/status": STATUS,
            "/proc/self/cgroup": "0::/user.slice/session-1.scope\n",
            "/usr/lib/x86_64-linux-gnu/libstdc++.so.6": LIBSTDCXX,
        },
        libc="glibc 2.39",
    )
    assert found.os == seen("ubuntu:24.04", "/etc/os-release")
    assert found.kernel == seen("6.8.0-45-generic", "/proc/sys/kernel/osrelease")
    assert found.architecture == seen("x86_64", "uname")
    assert found.glibc == seen("2.39", "confstr CS_GNU_LIBC_VERSION")
    assert found.libstdcxx == seen(
        "3.4.33", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6 (the loader's default folders)"
    )
    assert found.container.value == "none"
    assert found.wsl == seen(False, "/proc/sys/kernel/osrelease")
    assert found.jetson == unseen("not a Jetson: those are aarch64")
    assert found.memory_mib == seen(128800, "MemTotal in /proc/meminfo")
    assert found.cpus == seen(16, "Cpus_allowed_list in /proc/self/status")


def test_nothing_readable_is_unknown_with_reasons(tmp_path):
    found = machine(tmp_path, libc="")
    for name in ("os", "kernel", "glibc", "libstdcxx", "jetson", "memory_mib", "cpus"):
        fact = getattr(found, name)
        assert not fact.known
        assert fact.unknown


def test_musl_is_said(tmp_path):
    found = machine(
        tmp_path,
        {
            "/lib/ld-musl-x86_64.so.1": "",
            "/etc/os-release": 'NAME="Alpine Linux"\nID=alpine\nVERSION_ID=3.20.3\n',
        },
        libc="",
    )
    assert found.glibc == unseen("the C library is musl (/lib/ld-musl-x86_64.so.1), not glibc")
    assert found.os.value == "alpine:3.20.3"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("ID=arch\nBUILD_ID=rolling\n", "arch"),
        ("# ID=none\nID='rocky'\nVERSION_ID=\"9.4\"\n", "rocky:9.4"),
        ("NAME=Unnamed\nVERSION_ID=1\n", None),
        ('ID="un\nclosed\n', '"un'),
    ],
)
def test_os_release(tmp_path, text, name):
    assert machine(tmp_path, {"/usr/lib/os-release": text}).os.value == name


@pytest.mark.parametrize(
    ("kind", "files", "environ"),
    [
        ("docker", {"/.dockerenv": ""}, {}),
        ("docker", {"/proc/1/cgroup": "12:memory:/docker/0123abcd\n"}, {}),
        ("podman", {"/run/.containerenv": 'engine="podman-4.3.1"\n'}, {}),
        ("podman", {}, {"container": "podman"}),
        ("kubernetes", {"/.dockerenv": ""}, {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}),
        ("kubernetes", {"/run/.containerenv": "", "/run/secrets/kubernetes.io/": ""}, {}),
        ("kubernetes", {"/proc/self/cgroup": "11:cpu:/kubepods/burstable/pod12\n"}, {}),
        ("apptainer", {"/.singularity.d/": ""}, {}),
        ("apptainer", {"/.dockerenv": ""}, {"SINGULARITY_CONTAINER": "/images/ngc.sif"}),
        ("lxc", {"/run/systemd/container": "lxc\n"}, {}),
        ("lxc", {"/proc/1/cgroup": "4:cpu:/lxc.payload.box\n"}, {}),
        ("systemd-nspawn", {"/run/systemd/container": "systemd-nspawn\n"}, {}),
        ("none", {"/proc/1/cgroup": "0::/init.scope\n"}, {"container": "oci"}),
        ("none", {"/proc/self/cgroup": "0::/system.slice/docker.service\n"}, {}),
    ],
)
def test_container(tmp_path, kind, files, environ):
    assert machine(tmp_path, files, environ).container.value == kind


@pytest.mark.parametrize(
    ("files", "origin"),
    [
        (
            {"/proc/sys/kernel/osrelease": "5.15.167.4-microsoft-standard-WSL2\n"},
            "/proc/sys/kernel/osrelease",
        ),
        ({"/proc/sys/kernel/osrelease": "6.1.0-custom\n", "/dev/dxg": ""}, "/dev/dxg"),
    ],
)
def test_wsl(tmp_path, files, origin):
    assert machine(tmp_path, files).wsl == seen(True, origin)


def test_jetson_by_its_release_file(tmp_path):
    release = (
        "# R35 (release), REVISION: 4.1, GCID: 33958178, BOARD: t186ref, EABI: aarch64, "
        "DATE: Tue Aug  1 19:57:35 UTC 2023\n"
    )
    found = machine(tmp_path, {"/etc/nv_tegra_release": release}, architecture="aarch64")
    assert found.jetson == seen("35.4.1", "/etc/nv_tegra_release")


def test_jetson_by_its_packages(tmp_path):
    status = (
        "Package: nvidia-l4t-cuda\nStatus: install ok installed\nVersion: 1.0\n\n"
        "Package: nvidia-l4t-core\nStatus: install ok installed\nPriority: standard\n"
        "Version: 36.4.3-20250107174145\nDescription: NVIDIA Core Package\n\n"
        "Package: zlib1g\nVersion: 1:1.2.11\n"
    )
    found = machine(tmp_path, {"/var/lib/dpkg/status": status}, architecture="aarch64")
    assert found.jetson == seen("36.4.3", "package nvidia-l4t-core in /var/lib/dpkg/status")


def test_tegra_without_its_release_is_said(tmp_path):
    tree = {"/proc/device-tree/compatible": b"nvidia,p3701-0000\0nvidia,tegra234\0"}
    assert "a Tegra" in machine(tmp_path, tree, architecture="aarch64").jetson.unknown
    assert "a Tegra" not in machine(tmp_path / "other", architecture="aarch64").jetson.unknown


@pytest.mark.parametrize(
    ("files", "memory", "cpus"),
    [
        (  # version 2, seen from within: the container's group is the root
            {
                "/proc/self/cgroup": "0::/\n",
                "/sys/fs/cgroup/memory.max": "8589934592\n",
                "/sys/fs/cgroup/cpu.max": "250000 100000\n",
            },
            seen(8192, "memory.max of the control group"),
            seen(3, "cpu.max of the control group"),
        ),
        (  # version 2: the limit is on a group above (systemd, Slurm)
            {
                "/proc/self/cgroup": "0::/system.slice/slurmstepd.scope/job_7/step_0\n",
                "/sys/fs/cgroup/system.slice/slurmstepd.scope/job_7/memory.max": "68719476736\n",
                "/sys/fs/cgroup/system.slice/slurmstepd.scope/job_7/step_0/memory.max": "max\n",
                "/sys/fs/cgroup/system.slice/slurmstepd.scope/job_7/cpu.max": "max 100000\n",
            },
            seen(65536, "memory.max of the control group"),
            seen(16, "Cpus_allowed_list in /proc/self/status"),
        ),
        (  # version 1: a container sees its own group at the mount, its path is the host's
            {
                "/proc/self/cgroup": "9:memory:/docker/ab12\n4:cpu,cpuacct:/docker/ab12\n",
                "/sys/fs/cgroup/memory/memory.limit_in_bytes": "17179869184\n",
                "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "400000\n",
                "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
            },
            seen(16384, "memory.limit_in_bytes of the control group"),
            seen(4, "cpu.cfs_quota_us of the control group"),
        ),
        (  # version 1 without limits
            {
                "/proc/self/cgroup": "9:memory:/\n4:cpu,cpuacct:/\n",
                "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
                "/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
                "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            seen(128800, "MemTotal in /proc/meminfo"),
            seen(16, "Cpus_allowed_list in /proc/self/status"),
        ),
        (  # affinity (taskset, cpuset)
            {"/proc/self/status": "Cpus_allowed_list:\t0-1,8,10-11\n"},
            seen(128800, "MemTotal in /proc/meminfo"),
            seen(5, "Cpus_allowed_list in /proc/self/status"),
        ),
    ],
)
def test_memory_and_cpus_within_limits(tmp_path, files, memory, cpus):
    found = machine(tmp_path, {"/proc/meminfo": MEMINFO, "/proc/self/status": STATUS, **files})
    assert (found.memory_mib, found.cpus) == (memory, cpus)


@settings(deadline=None)  # the machine may be busy
@given(
    files=st.dictionaries(
        st.sampled_from(
            [
                "/etc/os-release",
                "/etc/nv_tegra_release",
                "/var/lib/dpkg/status",
                "/proc/self/cgroup",
                "/proc/self/status",
                "/proc/meminfo",
                "/proc/1/cgroup",
                "/sys/fs/cgroup/memory.max",
                "/sys/fs/cgroup/cpu.max",
                "/lib64/libstdc++.so.6",
            ]
        ),
        st.binary(max_size=80)
        | st.sampled_from(
            [b"0::/\n", b"0::/a/../b\n", b"9:memory,cpu:/x\n", b"ID=x\n", b"-5 0", b"1 0"]
        ),
    )
)
def test_any_content_is_read_without_an_error(tmp_path_factory, files):
    root = tmp_path_factory.mktemp("root")
    found = machine(root, files, architecture="aarch64")
    for name in found.__struct_fields__:
        fact = getattr(found, name)
        assert fact.known != bool(fact.unknown)


def test_this_machine_can_be_observed():
    found = observe_machine(Host())
    assert found.kernel.known
    assert found.architecture.known
    assert found.memory_mib.value > 0
    assert found.cpus.value >= 1


def test_libstdcxx_that_comes_before_the_systems(tmp_path):
    old = b"\x7fELF\x02 GLIBCXX_3.4.28\0"
    files = {
        "/usr/lib/x86_64-linux-gnu/libstdc++.so.6": LIBSTDCXX,
        "/opt/conda/lib/libstdc++.so.6": old,
        "/opt/gcc/lib64/libstdc++.so.6": LIBSTDCXX,
    }
    lay_out(tmp_path, files)
    host = real_host(tmp_path, {"LD_LIBRARY_PATH": "/nowhere:/opt/gcc/lib64"})
    of_conda = Target("/env/bin/python", "3.8.1", prefix="/env", base_prefix="/opt/conda")
    found = observe_machine(host, of_conda)
    assert found.libstdcxx.value == "3.4.33"
    assert found.own_libstdcxx == seen(
        "3.4.28", "/opt/conda/lib/libstdc++.so.6 (the environment's lib folder)"
    )
    of_system = Target("/usr/bin/python3", "3.8.1", prefix="/env", base_prefix="/usr")
    assert observe_machine(host, of_system).own_libstdcxx == seen(
        "3.4.33", "/opt/gcc/lib64/libstdc++.so.6 (LD_LIBRARY_PATH)"
    )
    assert observe_machine(real_host(tmp_path), of_system).own_libstdcxx == unseen(
        "programs of the environment load the system's libstdc++"
    )
