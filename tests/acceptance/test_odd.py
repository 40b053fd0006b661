"""Unusual environments that are made on the spot: a finding appears exactly where an import fails.

Nothing is downloaded: wheels are written here, pip installs them. Those that need packages of the
index are in test_real_odd.py.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Iterable, List, Tuple

import pytest
from environments import HERE, find_interpreter
from odd import Case, Odd, Place, at, case_of, judge, pip, site
from test_real import SCENARIOS
from test_real_odd import CASES as REAL
from wheels import (
    Wheel,
    extension,
    for_another_processor,
    library,
    module,
    suffix,
    tag,
)

CASES: List[Case] = []
case = case_of(CASES)


def compiled(
    name: str, version: str, needs: Tuple[str, str, str] = ("", "", ""), **more: object
) -> Wheel:
    """A wheel of a package that imports a compiled module of its own."""
    files = {
        f"{name}/__init__.py": f'__version__ = "{version}"\nfrom {name} import _core\n',
        f"{name}/_core{suffix()}": extension("_core", needs),
    }
    return Wheel(name, version, files, tag(), **more)  # type: ignore[arg-type]


APP = module("app", "1.0", "import helper\n", requires=["helper>=1"])
HELPER = module("helper", "1.2")

# --- healthy --------------------------------------------------------------------------------------


@case("a namespace that three projects share (PEP 420)", "import corp.red.core, corp.blue, corp.mm")
def _(place: Place) -> Odd:
    env = place.venv()
    place.install(
        env,
        Wheel("corp-red", "1.0", {"corp/red/__init__.py": "", "corp/red/core.py": ""}),
        Wheel(
            "corp-blue",
            "2.0",
            {"corp/blue/__init__.py": "import corp.red\n"},
            requires=["corp-red"],
        ),
        Wheel("corp-mm", "0.3", {f"corp/mm{suffix()}": extension("mm")}, tag()),
    )
    return at(env)


@case("the namespace lies in two folders of the path", "import corp.red, corp.blue")
def _(place: Place) -> Odd:
    env = place.venv()
    place.install(env, Wheel("corp-red", "1.0", {"corp/red/__init__.py": ""}))
    wheel = Wheel("corp-blue", "2.0", {"corp/blue/__init__.py": ""}, requires=["corp-red"])
    place.install(env, wheel, options=["--target", str(place.folder / "more")])
    return at(env, PYTHONPATH=str(place.folder / "more"))


PKGUTIL = "__path__ = __import__('pkgutil').extend_path(__path__, __name__)\n"


@case("a namespace of before PEP 420: both projects have its __init__.py", "import zope.a, zope.b")
def _(place: Place) -> Odd:
    env = place.venv()
    files = {"zope/__init__.py": PKGUTIL, "zope/a.py": ""}
    place.install(env, Wheel("zope-a", "1.0", files))
    files = {"zope/__init__.py": PKGUTIL, "zope/b.py": ""}
    place.install(
        env, Wheel("zope-b", "1.0", files), options=["--target", str(place.folder / "more")]
    )
    return at(env, PYTHONPATH=str(place.folder / "more"))


@case("a namespace that a .pth file makes (setuptools' -nspkg.pth)", "import mpl.toolkit, mpl.axes")
def _(place: Place) -> Odd:
    line = (
        "import sys, types, os;p = os.path.join(sys._getframe(1).f_locals['sitedir'], 'mpl');"
        "m = sys.modules.setdefault('mpl', types.ModuleType('mpl'));"
        "mp = m.__dict__.setdefault('__path__', []);(p not in mp) and mp.append(p)\n"
    )
    env = place.venv()
    place.install(
        env,
        Wheel("mpl-toolkit", "1.0", {"mpl/toolkit.py": "", "mpl_toolkit-1.0-nspkg.pth": line}),
        Wheel("mpl-axes", "1.0", {"mpl/axes.py": "", "mpl_axes-1.0-nspkg.pth": line}),
    )
    return at(env)


@case("wheels that merge one folder, as NVIDIA's do", "import nvidia.nvtx, nvidia.cublas.lib")
def _(place: Place) -> Odd:
    env = place.venv()
    for name, version in (("nvtx", "12.1.105"), ("cublas", "12.1.3.1")):
        lib = {f"nvidia/{name}/{part}__init__.py": "" for part in ("", "lib/")}
        lib[f"nvidia/{name}/lib/lib{name}.so.12"] = library("f", f"lib{name}.so.12")  # type: ignore[assignment]
        lib["nvidia/__init__.py"] = ""
        place.install(env, Wheel(f"nvidia-{name}-cu12", version, lib, "py3-none-manylinux1_x86_64"))
    return at(env)


@case("a folder of `pip install --target` on PYTHONPATH", "import app, helper, fast")
def _(place: Place) -> Odd:
    env = place.venv()
    place.install(env, APP)
    more = str(place.folder / "site")
    place.install(env, HELPER, compiled("fast", "1.0"), options=["--target", more])
    return at(env, PYTHONPATH=more)


@case("one folder a package on PYTHONPATH, as modules of clusters have it", "import app, helper")
def _(place: Place) -> Odd:
    env = place.venv()
    folders = [str(place.folder / name) for name in ("app", "helper", "gone")]
    place.install(env, APP, options=["--target", folders[0]])
    place.install(env, HELPER, options=["--target", folders[1]])
    return at(env, PYTHONPATH=os.pathsep.join([*folders, ""]))


@case("wheels on PYTHONPATH, zipped", "import app, helper")
def _(place: Place) -> Odd:
    env = place.venv()
    place.install(env, APP)
    (helper,) = place.wheels(HELPER)
    return at(env, PYTHONPATH=helper)


@case("a zip of packages on PYTHONPATH, and one of them in the environment", "import app, helper")
def _(place: Place) -> Odd:
    env = place.venv()
    archive = place.folder / "code.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("app/__init__.py", "import helper\n")
    place.install(env, APP, HELPER)
    return at(env, PYTHONPATH=str(archive))


def egg(place: Place, wheel: Wheel) -> List[Tuple[str, object]]:
    """The files of an egg: packages, and the metadata beside them."""
    info = f"Metadata-Version: 2.1\nName: {wheel.name}\nVersion: {wheel.version}\n"
    files: List[Tuple[str, object]] = list(wheel.files.items())
    files.append(("EGG-INFO/PKG-INFO", info))
    files.append(("EGG-INFO/requires.txt", "".join(f"{r}\n" for r in wheel.requires)))
    files.append(("EGG-INFO/top_level.txt", f"{wheel.name}\n"))
    files.append(("EGG-INFO/zip-safe", "\n"))
    return files


@case("eggs, a folder and a zip, by easy-install.pth", "import app, helper")
def _(place: Place) -> Odd:
    env = place.venv()
    series = f"py{sys.version_info[0]}.{sys.version_info[1]}"
    home = site(env)
    for path, data in egg(place, APP):
        target = home / f"app-1.0-{series}.egg" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(str(data))
    with zipfile.ZipFile(home / f"helper-1.2-{series}.egg", "w") as packed:
        for path, data in egg(place, HELPER):
            packed.writestr(path, str(data))
    (home / "easy-install.pth").write_text(f"./app-1.0-{series}.egg\n./helper-1.2-{series}.egg\n")
    return at(env)


def with_system(place: Place, *wheels: Wheel) -> Path:
    """A virtual environment that sees the packages of an interpreter that has these."""
    base = place.standalone("base")
    place.install(base, *wheels)
    return place.above(base)


@case("system site packages, and a copy of the same version", "import app, helper")
def _(place: Place) -> Odd:
    env = with_system(place, APP, HELPER)
    place.install(env, HELPER, options=["--ignore-installed"])
    return at(env)


@case("system site packages, and a newer version that wins", "import app, fast")
def _(place: Place) -> Odd:
    old = module("helper", "0.9", "raise ImportError('too old')\n")
    env = with_system(place, APP, old, compiled("fast", "1.0"))
    place.install(env, HELPER, options=["--ignore-installed"])
    return at(env)


@case("packages of the user site, used on purpose", "import app, helper")
def _(place: Place) -> Odd:
    prefix = place.standalone()
    place.install(prefix, APP)
    home = str(place.folder / "home")
    (wheel,) = place.wheels(HELPER)
    options = ("--no-index", "--no-deps", "--user", wheel)
    pip(prefix, "install", *options, environ={"PYTHONUSERBASE": home})
    return at(prefix, PYTHONUSERBASE=home)


@case(
    "a prefix as conda makes it: no pyvenv.cfg, packages that only conda-meta knows",
    "import app, helper, fast",
)
def _(place: Place) -> Odd:
    prefix = place.standalone()
    place.install(prefix, APP, compiled("fast", "1.0"))
    (prefix / "conda-meta").mkdir()
    (prefix / "conda-meta" / "history").write_text("")
    for name in ("app", "helper", "fast", "python"):
        record = {"build": "py_0", "channel": "conda-forge", "name": name, "version": "1.2"}
        path = prefix / "conda-meta" / f"{name}-1.2-py_0.json"
        path.write_text(json.dumps(record, indent=2))
    for info in site(prefix).glob("*.dist-info"):
        (info / "INSTALLER").write_text("conda\n")
    (site(prefix) / "helper.py").write_text("")
    return at(prefix, CONDA_PREFIX=str(prefix), CONDA_DEFAULT_ENV="base")


@case("dist-packages of Debian's kind: metadata without RECORD, two folders", "import app, helper")
def _(place: Place) -> Odd:
    system = "/usr/bin/python3"
    if not os.path.isdir("/usr/lib/python3/dist-packages") or not os.access(system, os.X_OK):  # noqa: PTH112
        pytest.skip("no Python of Debian or Ubuntu is installed")
    prefix = Place(place.folder, system).standalone()
    packaged = prefix / "lib" / "python3" / "dist-packages"
    for path, text in {
        **APP.files,
        "app-1.0.egg-info/PKG-INFO": "Metadata-Version: 2.1\nName: app\nVersion: 1.0\n",
        "app-1.0.egg-info/requires.txt": "helper>=1\n",
        "app-1.0.egg-info/top_level.txt": "app\n",
        "other-3.egg-info": "Metadata-Version: 1.1\nName: other\nVersion: 3\n",
    }.items():
        (packaged / path).parent.mkdir(parents=True, exist_ok=True)
        (packaged / path).write_text(str(text))
    place.install(prefix, HELPER, options=["--prefix", str(prefix)])
    return at(prefix)


@case("the interpreter that an environment was made of has moved", "import app, helper")
def _(place: Place) -> Odd:
    base = place.standalone("base")
    link = place.folder / "current"
    link.symlink_to(base)
    env = place.folder / "env"
    command = [str(link / "bin" / "python"), "-m", "venv", "--without-pip", str(env)]
    subprocess.run(command, check=True, timeout=60)
    place.install(env, APP, HELPER)
    base.rename(place.folder / "moved")
    link.unlink()
    link.symlink_to(place.folder / "moved")
    python = env / "bin" / "python"
    if not python.exists():  # some versions of venv link the interpreter itself
        python.unlink()
        python.symlink_to(link / "bin" / "python")
    return at(env)


@case("spaces and letters beyond ASCII in its path", "import app, helper, fast")
def _(place: Place) -> Odd:
    env = place.venv("my énv 环境")
    place.install(env, APP, HELPER, compiled("fast", "1.0"))
    return at(env)


@case("commands of pyenv's kind on PATH: scripts that start another one", "import app, helper")
def _(place: Place) -> Odd:
    env = place.venv()
    place.install(env, APP, HELPER)
    shims = place.folder / "shims"
    shims.mkdir()
    for name in ("python", "python3", "pip", "torchrun"):
        shim = shims / name
        shim.write_text(
            f'#!/usr/bin/env bash\nset -e\nprogram="${{0##*/}}"\n\nexec "{env}/bin/$program" "$@"\n'
        )
        shim.chmod(0o755)
    return Odd(str(shims / "python"), {"PATH": f"{shims}{os.pathsep}{os.defpath}"})


@case("lines of code in .pth files, sitecustomize and usercustomize", "import app, helper, extra")
def _(place: Place) -> Odd:
    env = place.venv()
    place.install(env, APP, HELPER)
    home = site(env)
    (home / "distutils-precedence.pth").write_text(
        "import os; var = 'SETUPTOOLS_USE_DISTUTILS'; enabled = os.environ.get(var, 'local') =="
        " 'local'; enabled and __import__('json');"
    )
    (home / "_virtualenv.pth").write_text("import _virtualenv")
    (home / "_virtualenv.py").write_text("")
    (home / "more.pth").write_text("# a comment\n\nmore\n/nowhere\nimport site; site.addsitedir\n")
    (home / "more").mkdir()
    (home / "more" / "extra.py").write_text("")
    (home / "sitecustomize.py").write_text("import sys\n")
    (home / "usercustomize.py").write_text("import sys\n")
    return at(env)


@case("sources are compiled and gone, tests and documents as well", "import app, helper")
def _(place: Place) -> Odd:
    env = place.venv()
    tests = {"app/tests/__init__.py": "", "app/tests/test_app.py": "", "app/py.typed": ""}
    place.install(env, APP._replace(files={**APP.files, **tests}), HELPER)
    home = site(env)
    shutil.rmtree(home / "app" / "tests")
    code = "import compileall, sys; compileall.compile_dir(sys.argv[1], legacy=True, quiet=1)"
    subprocess.run([str(env / "bin" / "python"), "-c", code, str(home)], check=True, timeout=60)
    for path in (home / "app", home / "helper"):
        (path / "__init__.py").unlink()
        shutil.rmtree(path / "__pycache__", ignore_errors=True)
    return at(env)


@case("no bytecode, no RECORD and no INSTALLER", "import app, helper, fast")
def _(place: Place) -> Odd:
    env = place.venv()
    place.install(env, APP, HELPER, compiled("fast", "1.0"), options=["--no-compile"])
    for name in ("RECORD", "INSTALLER", "REQUESTED"):
        for path in site(env).glob(f"*.dist-info/{name}"):
            path.unlink()
    return at(env)


@case("packages in packages: what pip and setuptools bring along", "import app, app._vendor.helper")
def _(place: Place) -> Odd:
    env = place.venv()
    vendored = {
        "app/__init__.py": "from app._vendor import helper\n",
        "app/_vendor/__init__.py": "",
        "app/_vendor/helper/__init__.py": "__version__ = '0.1'\n",
        "app/_vendor/helper-0.1.dist-info/METADATA": "Name: helper\nVersion: 0.1\n",
        "app/_vendor/helper-0.1.dist-info/RECORD": "helper/__init__.py,,\nhelper/gone.py,,\n",
    }
    place.install(env, Wheel("app", "1.0", vendored))
    return at(env)


@case("a compiled module for every Python, and one for several", "import wide, many")
def _(place: Place) -> Odd:
    env = place.venv()
    series = f"cp3{sys.version_info[1]}"
    wide = {"wide/__init__.py": "from wide import _core\n"}
    wide["wide/_core.abi3.so"] = extension("_core")  # type: ignore[assignment]
    many = {"many/__init__.py": "from many import _core\n"}
    for name in (f"_core{suffix()}", "_core.cpython-36m-x86_64-linux-gnu.so"):
        many[f"many/{name}"] = extension("_core")  # type: ignore[assignment]
    place.install(
        env,
        Wheel("wide", "1.0", wide, "cp36-abi3-linux_x86_64"),
        Wheel("many", "1.0", many, f"cp36.{series}-cp36m.{series}-linux_x86_64"),
    )
    return at(env)


@case("typing stubs beside what they are of, and stubs of nothing", "import helper")
def _(place: Place) -> Odd:
    env = place.venv()
    stubs = {"helper-stubs/__init__.pyi": "", "helper-stubs/METADATA.toml": ""}
    place.install(
        env,
        HELPER,
        Wheel("types-helper", "1.2.0.1", stubs),
        Wheel("types-nothing", "1.0", {"nothing-stubs/__init__.pyi": ""}),
    )
    return at(env)


# A build backend that a project brings along: pip needs nothing of the index for it.
BACKEND = """
import pathlib, zipfile
NAME, VERSION = "app", "1.0"
def build_wheel(folder, config_settings=None, metadata_directory=None):
    return write(folder, {"app/__init__.py": pathlib.Path("src/app/__init__.py").read_text()})
def build_editable(folder, config_settings=None, metadata_directory=None):
    return write(folder, {"app.pth": str(pathlib.Path("src").resolve())})
def write(folder, files):
    info = f"{NAME}-{VERSION}.dist-info/"
    files[info + "METADATA"] = (
        f"Metadata-Version: 2.1\\nName: {NAME}\\nVersion: {VERSION}\\nRequires-Dist: helper>=1\\n"
    )
    files[info + "WHEEL"] = "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"
    files[info + "RECORD"] = "".join(f"{path},,\\n" for path in files)
    name = f"{NAME}-{VERSION}-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(folder) / name, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return name
"""


def project(place: Place) -> Path:
    """A source tree with a build backend of its own and its package in src."""
    folder = place.folder / "project"
    (folder / "src" / "app").mkdir(parents=True)
    (folder / "src" / "app" / "__init__.py").write_text("import helper\n")
    (folder / "backend.py").write_text(BACKEND)
    (folder / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
        '[project]\nname = "app"\nversion = "1.0"\n'
    )
    return folder


@case("an editable install, its package in src", "import app, helper")
def _(place: Place) -> Odd:
    env = place.venv()
    place.install(env, HELPER)
    pip(env, "install", "--no-index", "--no-deps", "-e", str(project(place)))
    return at(env)


@case("an install of a local git repository", "import app, helper")
def _(place: Place) -> Odd:
    env = place.venv()
    folder = project(place)
    git = ["git", "-C", str(folder), "-c", "user.name=n", "-c", "user.email=n@localhost"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "first"]):
        subprocess.run([*git, *command], check=True, timeout=60)
    place.install(env, HELPER)
    pip(env, "install", "--no-index", "--no-deps", f"git+file://{folder}")
    return at(env)


# --- faulty ---------------------------------------------------------------------------------------


@case(
    "a wheel for another Python, forced in",
    "import fast",
    fails={"import fast": "_core"},
    told=("error wheel-for-another-interpreter fast 1.0",),
)
def _(place: Place) -> Odd:
    env = place.venv()
    files = {
        "fast/__init__.py": "from fast import _core\n",
        "fast/_core.cpython-36m-x86_64-linux-gnu.so": extension("_core"),
    }
    options = ["--target", str(site(env)), "--python-version", "3.6", "--implementation", "cp"]
    options += ["--abi", "cp36m", "--platform", "linux_x86_64", "--only-binary=:all:"]
    place.install(env, Wheel("fast", "1.0", files, "cp36-cp36m-linux_x86_64"), options=options)
    return at(env)


@case(
    "a compiled module that was deleted",
    "import fast",
    fails={"import fast": "_core"},
    told=("error half-removed-distribution fast 1.0",),
)
def _(place: Place) -> Odd:
    env = place.venv()
    place.install(env, compiled("fast", "1.0"))
    (site(env) / "fast" / f"_core{suffix()}").unlink()
    return at(env)


@case(
    "a library that came with the wheel was deleted",
    "import fast",
    fails={"import fast": "libinner-1a2b.so.1"},
    told=("error half-removed-distribution fast 1.0",),
)
def _(place: Place) -> Odd:
    env = place.venv()
    inner = library("inner", "libinner-1a2b.so.1")
    wheel = compiled("fast", "1.0", ("inner", "libinner-1a2b.so.1", ""))
    files = {**wheel.files, "fast.libs/libinner-1a2b.so.1": inner}
    place.install(env, wheel._replace(files=files))
    (site(env) / "fast.libs" / "libinner-1a2b.so.1").unlink()
    return at(env)


@case(
    "an upgrade that was broken off: the sources are new, the compiled module is old",
    "import fast",
    fails={"import fast": "cannot import name"},
    told=("warning duplicate-distribution fast 2.0",),
)
def _(place: Place) -> Odd:
    env = place.venv()
    place.install(env, compiled("fast", "1.0"))
    (path,) = place.wheels(
        compiled("fast", "2.0")._replace(
            files={
                "fast/__init__.py": "__version__ = '2.0'\nfrom fast._core import quick\n",
                f"fast/_core{suffix()}": extension("_core") + b"new",
            }
        )
    )
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if not name.endswith(".so"):
                archive.extract(name, str(site(env)))
    return at(env)


@case(
    "PYTHONPATH has an older version than what needs it",
    "import app",
    fails={"import app": "new"},
    told=("warning user-site-shadows-env helper 1.2",),
)
def _(place: Place) -> Odd:
    env = place.venv()
    app = module("app", "1.0", "from helper import new\n", requires=["helper>=1"])
    place.install(env, app, module("helper", "1.2", "new = 1\n"))
    more = str(place.folder / "more")
    place.install(env, module("helper", "0.9"), options=["--target", more])
    return at(env, PYTHONPATH=more)


@case(
    "the user site has an older version than what needs it",
    "import app",
    fails={"import app": "new"},
    told=("warning dependency-conflict helper 0.9", "warning user-site-shadows-env helper 1.2"),
)
def _(place: Place) -> Odd:
    prefix = place.standalone()
    app = module("app", "1.0", "from helper import new\n", requires=["helper>=1"])
    place.install(prefix, app, module("helper", "1.2", "new = 1\n"))
    home = str(place.folder / "home")
    (wheel,) = place.wheels(module("helper", "0.9"))
    options = ("--no-index", "--no-deps", "--ignore-installed", "--user", wheel)
    pip(prefix, "install", *options, environ={"PYTHONUSERBASE": home})
    return at(prefix, PYTHONUSERBASE=home)


@case(
    "a requirement that --no-deps left out",
    "import app",
    fails={"import app": "helper"},
    told=("warning python-module-missing app 1.0",),
)
def _(place: Place) -> Odd:
    env = place.venv()
    place.install(env, APP)
    return at(env)


@case(
    "a stray __init__.py makes a namespace a package of one folder",
    "import corp.red",
    "import corp.blue",
    fails={"import corp.red": "corp.red"},
    told=("error namespace-package-hidden corp-red 1.0",),
)
def _(place: Place) -> Odd:
    env = place.venv()
    place.install(env, Wheel("corp-red", "1.0", {"corp/red/__init__.py": "RED = 1\n"}))
    more = place.folder / "more"
    blue = Wheel("corp-blue", "2.0", {"corp/blue/__init__.py": ""}, requires=["corp-red"])
    place.install(env, blue, options=["--target", str(more)])
    (more / "corp" / "__init__.py").write_text("")
    return at(env, PYTHONPATH=str(more))


@case(
    "a file of the standard library's name on PYTHONPATH",
    "import app",
    fails={"import app": "random"},
    told=("error standard-library-shadowed random",),
)
def _(place: Place) -> Odd:
    env = place.venv()
    place.install(env, module("app", "1.0", "import tempfile\n"))
    more = place.folder / "more"
    more.mkdir()
    (more / "random.py").write_text("print(2)\n")
    return at(env, PYTHONPATH=str(more))


@case(
    "a wheel for a newer glibc, forced in",
    "import fast",
    fails={"import fast": "GLIBC_2.99"},
    told=("error glibc-too-old fast 1.0",),
)
def _(place: Place) -> Odd:
    env = place.venv()
    wheel = compiled("fast", "1.0", ("from_the_future", "libc.so.6", "GLIBC_2.99"))
    wheel = wheel._replace(tag=tag("manylinux_2_99_x86_64"))
    options = ["--target", str(site(env)), "--platform", "manylinux_2_99_x86_64"]
    place.install(env, wheel, options=[*options, "--only-binary=:all:"])
    return at(env)


@case(
    "a wheel for another processor, forced in",
    "import fast",
    fails={"import fast": "_core"},
    told=("error wheel-for-another-interpreter fast 1.0",),
)
def _(place: Place) -> Odd:
    env = place.venv()
    wheel = compiled("fast", "1.0")
    data = for_another_processor(extension("_core"))
    files = {**wheel.files, f"fast/_core{suffix()}": data}
    wheel = wheel._replace(files=files, tag=tag("manylinux2014_aarch64"))
    options = ["--target", str(site(env)), "--platform", "manylinux2014_aarch64"]
    place.install(env, wheel, options=[*options, "--only-binary=:all:"])
    return at(env)


@case(
    "a package folder that was emptied",
    "import app",
    fails={"import app": "new"},
    told=("error half-removed-distribution helper 1.2",),
)
def _(place: Place) -> Odd:
    env = place.venv()
    place.install(env, module("app", "1.0", "from helper import new\n"))
    place.install(env, module("helper", "1.2", "new = 1\n"))
    (site(env) / "helper" / "__init__.py").unlink()
    return at(env)


@case(
    "a package imports distutils, which Python 3.12 no longer has",
    "import app",
    fails={"import app": "distutils"},
    told=("warning standard-module-removed app 1.0",),
    python="3.12",
)
def _(place: Place) -> Odd:
    env = place.venv()
    place.install(env, module("app", "1.0", "from distutils.version import LooseVersion\n"))
    return at(env)


@case(
    "it does so only where the import may fail, or in what is not imported",
    "import app, helper",
    python="3.12",
)
def _(place: Place) -> Odd:
    env = place.venv()
    guarded = "try:\n    import imp\nexcept ImportError:\n    imp = None\n"
    lazy = {"helper/__init__.py": "", "helper/build.py": "import distutils.core, imp\n"}
    place.install(env, module("app", "1.0", guarded), Wheel("helper", "1.2", lazy))
    return at(env)


@case(
    "the Python of an environment was exchanged for the next",
    "import app",
    fails={"import app": "No module named 'app'"},
    told=(f"warning environment-of-another-python Python {platform.python_version()}",),
)
def _(place: Place) -> Odd:
    env = place.venv()
    place.install(env, APP, HELPER)
    series = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    (env / "lib" / series).rename(env / "lib" / "python3.7")
    (env / "lib" / series / "site-packages").mkdir(parents=True)
    return at(env)


def outcome(found: Iterable[str]) -> str:
    """What the table of the README says of findings: their severities and names."""
    names = dict.fromkeys(" ".join(text.split()[:2]) for text in found)
    return ", ".join(names) or "-"


def test_the_readme_lists_every_environment() -> None:
    """With what is said of it; a row that is missing is shown as it is to be."""
    rows = [f"| {made.title} | {outcome(made.told)} |" for made in (*CASES, *REAL)]
    rows += [f"| {made.title} | {', '.join(made.wanted) or '-'} |" for made in SCENARIOS]
    text = (HERE / "README.md").read_text()
    missing = "\n".join(row for row in rows if row not in text)
    assert missing == ""
    assert len(rows) == text.partition("## All environments")[2].count("\n|") - 6


@pytest.mark.parametrize("made", CASES, ids=lambda made: made.title)
def test_a_finding_appears_exactly_where_an_import_fails(made: Case, tmp_path: Path) -> None:
    python = find_interpreter(made.python) if made.python else sys.executable
    if python is None:
        pytest.skip(f"no Python {made.python} is installed")
    judge(made, Place(tmp_path, python))
