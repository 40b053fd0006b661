"""The components that are not packages: the machine's, a build's, and import names."""

from __future__ import annotations

from typing import Dict

#: Namespaces of the language.
SCOPES = ("host", "build", "module")

#: The interpreter is a component whose attributes are all observed.
PYTHON = "python"

#: {component: what it is, in words}. `host.` is what programs run on; `build.` is what a source
#: build would use, which says nothing about a package that is installed already.
DOTTED: Dict[str, str] = {
    "host.accelerator": "vendor of the accelerator",
    "host.gpu": "GPU",
    "host.driver": "NVIDIA driver",
    "host.drives": "NVIDIA driver assumed for these GPUs",
    "host.serves": "CUDA version that the driver serves",
    "host.glibc": "glibc",
    "host.libstdcxx": "libstdc++",
    "host.os": "operating system",
    "host.architecture": "processor architecture",
    "host.wsl": "Windows Subsystem for Linux",
    "host.jetson": "Jetson Linux (L4T)",
    "host.variables": "environment variables that are switched on",
    "host.patched": "modules that were mended by hand",
    "build.toolkit": "CUDA toolkit",
    "build.gcc": "gcc",
    "build.clang": "clang",
    "build.cudnn": "cuDNN",
    "build.setuptools": "setuptools of the build",
    "build.pip": "pip of the build",
    "build.numpy": "numpy of the build",
    "build.cython": "Cython of the build",
    "build.isolated": "environment of the build's own",
}

#: {component: the package that it is where a build has no environment of its own}.
OF_BUILD: Dict[str, str] = {
    "build.setuptools": "setuptools",
    "build.numpy": "numpy",
    "build.cython": "cython",
}

#: Attributes of a GPU: `cc` is its compute capability, `family` its line of products
#: ("datacenter", "workstation", "consumer", "jetson").
GPU = ("cc", "name", "family")


def words(component: str) -> str:
    """What to call a component in a sentence."""
    if component.startswith("module."):
        return component[len("module.") :]
    return DOTTED.get(component, component)
