"""Describes the environment of the interpreter that runs this file as one JSON object on stdout.

The file stands alone: it needs the standard library of Python 3.6 to 3.14, is run by the target
interpreter with `-I -S -B` and prints what decodes to `envdoctor.model.facts.Target`.

Nothing of the environment under examination is executed: started with -I and -S, the interpreter
runs no sitecustomize and no line of a .pth file, and here such files are read as text. The search
path is what a script of this interpreter would get, the script's own folder left out: PYTHONPATH,
the standard library, then what the interpreter's own `site` module adds, whose function that would
execute lines of .pth files is replaced.
"""
# ruff: noqa: PTH100, PTH109, PTH110, PTH112, PTH113, PTH116, PTH118, PTH119, PTH120, PTH208
# pathlib and typing take 5 to 10 ms each to import, hence os.path and quoted annotations.

import os
import sys

VERSION = f"python{sys.version_info[0]}.{sys.version_info[1]}"

# virtualenv before 20 copies a part of the standard library and notes where the rest is.
ORIGIN = os.path.join(os.path.dirname(os.__file__), "orig-prefix.txt")
if os.path.isfile(ORIGIN):
    with open(ORIGIN) as origin:  # noqa: PTH123
        sys.path.append(os.path.join(origin.read().strip(), "lib", VERSION))

import _imp  # noqa: E402
import builtins  # noqa: E402
import json  # noqa: E402
import re  # noqa: E402
import stat  # noqa: E402
import time  # noqa: E402

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Iterable, List, Optional, Sequence, Set, Tuple

    Json = Dict[str, Any]

MAX_DISTRIBUTIONS = 5000
MAX_FOLDERS = 500  # of the search path
MAX_NAMES = 100000  # of one folder
MAX_METADATA = 1 << 20  # bytes of headers; what follows the blank line is not needed
MAX_SMALL = 1 << 16  # bytes of any other text file
MAX_RECORD = 1 << 24
MAX_LINES = 500000  # of one list of files
MAX_LINE = 8192  # bytes of one of its lines: a path is at most 4096
MAX_LIBRARIES = 20000  # lines of a list that name shared objects
MAX_LIBRARY = 1 << 25
MAX_TEXT = 300  # characters of a value out of metadata
MAX_URL = 5000  # characters, more than a path may have
MAX_ITEMS = 200  # values of one list out of metadata
MAX_PROBLEMS = 50
MISSING_SHOWN = 10
# Lists of files up to this length are compared with the disk in full; of longer ones, what a
# top-level import needs, all shared objects and an evenly spaced sample: torch alone lists 12,000
# files.
FULL_CHECK = 200
SAMPLE = 100
MAX_MODULES = 50  # top-level modules of a long list that are looked for by name
MAX_UNMET = 500  # requirements that nothing meets, whose modules are looked for
MAX_COMPARED = 20  # files that tell which of several versions is there
# Past it the rest is left out: who asked waits 20 s and would get nothing at all.
MAX_SECONDS = 12.0
FOREVER = float("inf")

# Variables that change what is imported, linked or built, by name and by the start of the name.
VARIABLES = frozenset(
    """
    PYTHONPATH PYTHONHOME PYTHONNOUSERSITE PYTHONUSERBASE PYTHONSAFEPATH PYTHONPLATLIBDIR
    PYTHONOPTIMIZE PYTHONUTF8 VIRTUAL_ENV CONDA_PREFIX CONDA_DEFAULT_ENV CONDA_EXE PYENV_VERSION
    EBPYTHONPREFIXES PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION
    LD_LIBRARY_PATH LD_PRELOAD LD_BIND_NOW LIBRARY_PATH CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH
    CC CXX CFLAGS CXXFLAGS CPPFLAGS LDFLAGS MAX_JOBS USE_NINJA FORCE_CUDA FORCE_ONLY_CPU
    FLAGS_cuda_dir FLAGS_cublas_dir FLAGS_cudnn_dir
    OMP_NUM_THREADS MASTER_ADDR MASTER_PORT RANK LOCAL_RANK WORLD_SIZE LOADEDMODULES SLURM_JOB_ID
    """.split()  # noqa: SIM905
)
VARIABLE_STARTS = (
    *("CUDA", "CUDNN", "CUBLAS", "NVCC", "NVIDIA_", "NCCL_", "GLOO_", "TORCH", "PYTORCH", "MMCV_"),
    *("FLASH_ATTENTION_", "DS_BUILD_", "MKL_", "KMP_", "OPENBLAS_", "PIP_", "UV_", "SETUPTOOLS_"),
    *("ROCM_", "HIP_", "ROCR_", "HSA_", "PPU_", "ASCEND_", "MACA_", "MUSA_", "COREX_", "DTK_"),
)
SECRETS = ("TOKEN", "PASSW", "SECRET", "CREDENTIAL", "KEY", "AUTH")

COMMANDS = "python python3 pip pip3 torchrun ninja mim accelerate deepspeed".split()  # noqa: SIM905

# Top-level names that many projects ship by mistake; nobody imports them from an installed one.
COMMON_MODULES = frozenset(
    """
    benchmark benchmarks bin build conftest doc docs example examples script scripts setup test
    testing tests tool tools
    """.split()  # noqa: SIM905
)


# --- what was looked at ---------------------------------------------------------------------


#: Of each path whether it was there: "+", "-", or "?" where that was not told.
LOOKED_AT = {}  # type: Dict[bytes, bytes]


def noted(look: "Any") -> "Any":
    """`look`, a function of a path, so that the paths it is called with are known afterwards."""

    def call(path: "Any" = ".", *arguments: "Any", **named: "Any") -> "Any":
        was_there = b"?"
        try:
            result = look(path, *arguments, **named)
        except FileNotFoundError:
            was_there = b"-"
            raise
        else:
            if result is not False:
                was_there = b"+"
            return result
        finally:
            if isinstance(path, (str, bytes)):
                name = os.fsencode(path)
                if LOOKED_AT.get(name) != b"+":
                    LOOKED_AT[name] = was_there

    return call


def running() -> "List[bytes]":
    """The program that runs this file, then the libraries that it has loaded."""
    try:
        found = [os.readlink(b"/proc/self/exe")]
        with open("/proc/self/maps", "rb") as maps:  # noqa: PTH123
            fields = [line.rstrip(b"\n").split(None, 5) for line in maps]
    except OSError:  # there is no /proc
        return [os.fsencode(sys.executable)]
    return found + [parts[5] for parts in fields if len(parts) == 6 and parts[5].startswith(b"/")]


def note_what_is_looked_at() -> None:
    """From here on, note each path that is looked at; os.path looks by these functions, too.

    The first one noted is that of the running program.
    """
    LOOKED_AT.update(dict.fromkeys(running(), b"+"))
    for name in ("access", "listdir", "lstat", "open", "readlink", "scandir", "stat"):
        setattr(os, name, noted(getattr(os, name)))
    builtins.open = noted(builtins.open)
    # What the interpreter and this file looked at before.
    home = os.path.dirname(sys.executable)
    for path in (sys.executable, os.path.join(home, "pyvenv.cfg"), os.__file__, ORIGIN):
        os.path.exists(path)
    os.path.exists(os.path.join(os.path.dirname(home), "pyvenv.cfg"))


# --- text and files ---------------------------------------------------------------------------


def clean(text: str, limit: int = MAX_TEXT) -> str:
    """`text` as one printable line of at most `limit` characters that is valid as UTF-8."""
    if not text.isprintable():
        try:
            # File names that the file system's encoding cannot decode come as lone surrogates.
            data = text.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            data = text.encode("utf-8", "replace")
        text = "".join(c if c.isprintable() else " " for c in data.decode("utf-8", "replace"))
    return text.strip() if len(text) <= limit else text[:limit].strip() + "..."


def clean_path(path: str) -> str:
    """A path as `clean` text, whole however long."""
    return clean(path, 4096)


def without_credentials(text: str) -> str:
    """`text` with user names, passwords, tokens and query strings of URLs taken out.

    No more of it than is ever told: the patterns take the square of its length.
    """
    text = text[:MAX_URL]
    text = re.sub(r"(\w://)[^/\s]*@", r"\1", text)
    # A password may hold a slash though it should not, and a proxy may come without a scheme.
    text = re.sub(r"(\w://)[^/\s@:]*:(?!\d+/)[^\s@]*@", r"\1", text)
    text = re.sub(r"(^|\s)[^\s/@:]+:[^\s/@]*@", r"\1", text)
    text = re.sub(r"(\w://[^\s?#]*)\?[^\s#]*", r"\1", text)
    return re.sub(r"(\w://[^\s]*/t/)[^/\s]+", r"\1...", text)


def reason(error: "BaseException") -> str:
    """What an exception says, as a clause."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return clean(text[:1].lower() + text[1:])


def read_file(path: str, limit: int, problems: "List[str]") -> bytes:
    """Return at most `limit` bytes of a regular file, b"" if it is none; never wait at a FIFO.

    What cannot be read is noted in `problems`; a file that does not exist is no problem.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
        try:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                problems.append(f"{clean_path(path)} is not a regular file")
                return b""
            wanted = min(limit, status.st_size)
            data = os.read(handle, wanted)
            while len(data) < wanted:
                more = os.read(handle, wanted - len(data))
                if not more:
                    break
                data += more
            return data
        finally:
            os.close(handle)
    except FileNotFoundError:
        return b""
    except (OSError, ValueError) as error:
        problems.append(f"{clean_path(path)} cannot be read: {reason(error)}")
        return b""


def read_text(path: str, problems: "List[str]", limit: int = MAX_SMALL) -> str:
    """Return at most `limit` bytes of a text file; undecodable bytes become U+FFFD."""
    return read_file(path, limit, problems).decode("utf-8", "replace")


def names_in(folder: str, problems: "List[str]") -> "Set[str]":
    """Return the names in a folder; none if it does not exist or is no folder."""
    names: Set[str] = set()
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                names.add(entry.name)
                if len(names) >= MAX_NAMES:
                    problems.append(
                        f"{clean_path(folder)} holds more than {MAX_NAMES} names; "
                        "the rest was not read"
                    )
                    break
    except (FileNotFoundError, NotADirectoryError):
        pass
    except (OSError, ValueError) as error:
        problems.append(f"{clean_path(folder)} cannot be listed: {reason(error)}")
    return names


# --- the search path --------------------------------------------------------------------------


class SearchPath:
    """The folders from which this interpreter imports, in order.

    `standard` are the entries of the standard library; `in_place` those that easy-install.pth
    added, as `setup.py develop` has it; `finders` the files of editable installs' import hooks.
    """

    def __init__(self) -> None:
        self.entries: List[str] = []
        self.standard: Set[str] = set()
        self.in_place: Set[str] = set()
        self.finders: List[str] = []
        self.user_site = ""

    def add_site_folder(self, folder: str, known: "Set[str]", problems: "List[str]") -> None:
        """Do to sys.path what `site.addsitedir` does, but execute no line of a .pth file."""
        folder = os.path.abspath(folder)
        if folder not in known:
            known.add(folder)
            sys.path.append(folder)
        for name in sorted(names_in(folder, problems)):
            if name.endswith(".pth") and not name.startswith("."):
                self._read_pth(folder, name, known, problems)

    def _read_pth(self, folder: str, name: str, known: "Set[str]", problems: "List[str]") -> None:
        path = os.path.join(folder, name)
        # Decoded as file names are, for its lines are paths.
        text = os.fsdecode(read_file(path, MAX_SMALL, problems))
        for line in re.split(r"\r\n|\r|\n", text):
            if line.startswith("#") or not line.strip():
                continue
            if line.startswith(("import ", "import\t")):
                match = re.match(r"import\s+(__editable___\w+_finder)\b", line)
                if match:
                    self.finders.append(os.path.join(folder, match.group(1) + ".py"))
                elif "sys.path" in line:
                    problems.append(f"{clean_path(path)} changes sys.path by code; it was not run")
                continue
            entry = os.path.abspath(os.path.join(folder, line.rstrip()))
            try:
                exists = os.path.exists(entry)
            except ValueError:  # a NUL in the line; `site` gives up on the file here, too
                return
            if exists and entry not in known:
                known.add(entry)
                sys.path.append(entry)
                if name == "easy-install.pth":
                    self.in_place.add(entry)


def search_path(problems: "List[str]") -> "SearchPath":
    """Compute the search path of a script; afterwards sys.prefix is the environment's.

    sys.path itself comes back as it was, so that later imports find the standard library alone.
    """
    result = SearchPath()
    before = list(sys.path)
    standard = moved_home(before, problems)
    site = harmless_site(problems)
    python_path = os.environ.get("PYTHONPATH")
    try:
        sys.path[:] = (python_path.split(os.pathsep) if python_path else []) + standard
        if site is None:
            known = {os.path.abspath(entry) for entry in sys.path}
            folder = os.path.join(sys.prefix, "lib", VERSION, "site-packages")
            result.add_site_folder(folder, known, problems)
        else:
            user_site_allowed = (
                not os.environ.get("PYTHONNOUSERSITE")
                and os.getuid() == os.geteuid()
                and os.getgid() == os.getegid()
            )

            def add_site_folder(folder: str, known: "Set[str]") -> "Set[str]":
                result.add_site_folder(folder, known, problems)
                return known

            site.addsitedir = add_site_folder
            site.check_enableusersite = lambda: user_site_allowed
            site.execsitecustomize = site.execusercustomize = lambda: None
            site.main()
            if site.USER_SITE in sys.path:
                result.user_site = site.USER_SITE
        result.entries = list(sys.path)
    finally:
        sys.path[:] = before
    result.standard.update(standard)
    return result


def note_customization(path: "SearchPath", problems: "List[str]") -> None:
    """Note as a problem a sitecustomize or usercustomize, never run here, that may add to the path.

    EasyBuild's does, for one; Ubuntu's, which only reports crashes, does not.
    """
    for name in ("sitecustomize.py", "usercustomize.py"):
        for entry in path.entries:
            place = os.path.join(entry, name)
            if os.path.isfile(place):
                source = read_file(place, MAX_SMALL, problems)
                if b"sys.path" in source or b"addsitedir" in source:
                    problems.append(f"{clean_path(place)} may change sys.path; it was not run")
                break


def harmless_site(problems: "List[str]") -> "Any":
    """Return the interpreter's own `site` module if its parts are known, else None.

    It knows where this interpreter's builder keeps packages: dist-packages, lib64, /usr/local.
    """
    path = os.path.join(os.path.dirname(os.__file__), "site.py")
    source = read_file(path, 1 << 18, problems)
    # The site.py of virtualenv before 20 executes .pth files when it is imported, and from 3.15
    # on `site` does it in other functions.
    if (source and b"flags.no_site" not in source) or sys.version_info >= (3, 15):
        problems.append(
            "the site module of this interpreter is not known: "
            "of the search path only the environment's site-packages was read"
        )
        return None
    import site

    site.getusersitepackages()  # its imports must not happen while sys.path is foreign
    return site


def moved_home(standard: "List[str]", problems: "List[str]") -> "List[str]":
    """Return the standard library's entries where PYTHONHOME, ignored under -I, puts them."""
    home, _, exec_home = os.environ.get("PYTHONHOME", "").partition(os.pathsep)
    if not home:
        return list(standard)
    exec_home = exec_home or home
    if not os.path.exists(os.path.join(home, "lib", VERSION, "os.py")):
        problems.append(
            f"PYTHONHOME is {clean_path(home)}, which holds no standard library of "
            f"{VERSION}: this interpreter cannot start while it is set"
        )
    moved = []
    for entry in standard:
        root = exec_home if os.path.basename(entry) == "lib-dynload" else home
        inside = entry.startswith(sys.base_prefix + os.sep)
        moved.append(root + entry[len(sys.base_prefix) :] if inside else entry)
    if sys.prefix == sys.base_prefix:
        sys.prefix, sys.exec_prefix = home, exec_home
    sys.base_prefix, sys.base_exec_prefix = home, exec_home
    return moved


def finder_mapping(path: str, problems: "List[str]") -> "Dict[str, str]":
    """Return module names and the places they come from, read out of setuptools' finder."""
    source = read_text(path, problems)
    match = re.search(r"^MAPPING\b[^=\n]*=\s*(\{.*\})\s*$", source, re.MULTILINE)
    if match:
        import ast

        try:
            mapping = ast.literal_eval(match.group(1))
            if isinstance(mapping, dict):
                return {str(name): str(place) for name, place in mapping.items()}
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            pass
    problems.append(f"{clean_path(path)} holds no mapping that can be read")
    return {}


# --- metadata ---------------------------------------------------------------------------------


def canonical(name: str) -> str:
    """A project name as PEP 503 normalises it."""
    return re.sub(r"[-_.]+", "-", name).lower()


FIELD = re.compile(
    r"^(name|version|requires-python|requires-dist|tag)[ \t]*:(.*(?:\n[ \t].*)*)",
    re.IGNORECASE | re.MULTILINE,
)


def parse_headers(text: str) -> "Dict[str, List[str]]":
    """Return the values of the fields of FIELD by lower-case name, up to the first blank line."""
    fields: Dict[str, List[str]] = {}
    headers = text.replace("\r\n", "\n").partition("\n\n")[0]
    for name, value in FIELD.findall("" if headers.startswith("\n") else headers):
        fields.setdefault(name.lower(), []).append(" ".join(value.split()))
    return fields


def read_headers(path: str, problems: "List[str]") -> "Tuple[Dict[str, List[str]], bool]":
    """Return the metadata of a METADATA or PKG-INFO file and whether all of it was read."""
    for limit in (MAX_SMALL, MAX_METADATA):
        data = read_file(path, limit, problems)
        whole = len(data) < limit or b"\n\n" in data or b"\r\n\r\n" in data
        if whole:
            break
    return parse_headers(data.decode("utf-8", "replace")), whole


def parse_requires(text: str) -> "List[str]":
    """Return the requirements of an egg's requires.txt in the form of Requires-Dist.

    Those of extras are left out, as everywhere in this file.
    """
    requires = []
    marker = ""
    wanted = True
    for line in text.splitlines():
        line = line.strip()  # noqa: PLW2901
        if line.startswith("[") and line.endswith("]"):
            extra, _, marker = line[1:-1].partition(":")
            wanted = not extra.strip()
        elif line and wanted and not line.startswith("#"):
            requires.append(f"{line} ; {marker.strip()}" if marker.strip() else line)
    return requires


def is_for_extra(requirement: str) -> bool:
    """Whether a Requires-Dist applies only if an extra is asked for."""
    return re.search(r"\bextra\b", requirement.partition(";")[2]) is not None


def describe_origin(text: str, path: str, problems: "List[str]") -> "Tuple[str, str]":
    """Return where direct_url.json says that a distribution came from, and its editable folder."""
    try:
        data = json.loads(text)
        url = str(data["url"])
        version_control = data.get("vcs_info") or {}
        commit = version_control.get("commit_id")
        kind = version_control.get("vcs")
        editable = bool((data.get("dir_info") or {}).get("editable"))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        problems.append(f"{clean_path(path)} is not what PEP 610 describes")
        return "", ""
    folder = ""
    if editable and url.startswith("file://"):
        folder = clean_path(unquote(url[len("file://") :]))
    origin = (f"{kind}+" if kind else "") + without_credentials(url)
    return clean(origin + (f"@{commit}" if commit else "")), folder


def unquote(text: str) -> str:
    """Resolve the %XX of a URL's path; urllib.parse takes 10 ms to import."""
    data = text.encode("utf-8", "surrogatepass")  # JSON can hold halves of characters
    data = re.sub(rb"%([0-9A-Fa-f]{2})", lambda m: bytes([int(m.group(1), 16)]), data)
    return os.fsdecode(data)


CODE = (b".py", b".so")
LIBRARY = re.compile(rb"\.so\.[0-9.]+$")
# Images are slimmed by removing these.
SPARE = re.compile(rb"(?:^|/)(?:tests?|testing|docs?|examples?|benchmarks?)/")


class FileList:
    """The files that a RECORD or installed-files.txt puts under one search entry.

    Only what an import may need counts: no compiled .pyc files, which come and go, no metadata,
    nothing outside of the entry (scripts, data). Of that, code is looked for on the disk.
    """

    def __init__(self, data: bytes, inside: bytes = b"") -> None:
        """Take the bytes of a list whose paths are relative to the folder `inside` of the entry."""
        if inside:
            folder = inside + b"/"
            data = b"\n".join(os.path.normpath(folder + line) for line in lines_of(data) if line)
        self.data = data
        length = data.count(b"\n")
        self.is_long = length > FULL_CHECK
        if self.is_long:
            # A long list is not looked through: of torch's that alone takes 15 ms.
            lines = sampled(data) + lines_with(b".so", data)
            listed = counted(b"\n".join(lines))
            self.count = length - data.count(b"__pycache__")
        else:
            listed = counted(data)
            self.count = len(listed)
        # {path: what its line says of it}
        self.checked = {
            path: rest for path, rest in listed if path.endswith(CODE) or is_library(path)
        }

    def modules(self) -> "List[str]":
        """Return the top-level import names."""
        names = set()
        for line in lines_of(self.data):
            first, slash, rest = line.partition(b"/")
            if first in names:
                continue
            if slash and not (b"," in first or b'"' in first or b"\\" in first):
                if b".py," in rest or b".so," in rest:
                    names.add(first)
                continue
            # A file at the top, a quoted path, or a list that was written on Windows.
            path = path_of(line).replace(b"\\", b"/")
            if path.endswith(CODE):
                first, slash, _ = path.partition(b"/")
                names.add(first if slash else first.partition(b".")[0])
        texts = {name.decode("utf-8", "replace") for name in names}
        return sorted(name for name in texts if name.isidentifier() and not name.startswith("__"))

    def lists(self, path: bytes) -> bool:
        """Whether a line begins with this path."""
        return self.data.startswith(path + b",") or b"\n" + path + b"," in self.data

    def check_modules(self, modules: "Sequence[str]") -> None:
        """Have the files looked for without which these top-level modules cannot be imported."""
        for module in modules[:MAX_MODULES] if self.is_long else ():
            for suffix in ("/__init__.py", ".py"):
                path = os.fsencode(module + suffix)
                if self.lists(path):
                    at = self.data.find(b"\n" + path + b",") + 1
                    self.checked[path] = line_at(at, self.data)

    def compare(self, entry: str) -> "Tuple[List[bytes], List[bytes]]":
        """Return what was looked for and does not exist, in whatever form Python imports it.

        And what is cut short: empty though the list states a size, or a library without its end.
        """
        folders: Dict[bytes, Dict[bytes, bytes]] = {}
        for path in self.checked:
            folder, _, name = path.rpartition(b"/")
            folders.setdefault(folder, {})[name] = path
        root = os.fsencode(entry) + b"/"
        gone = []
        cut = []
        for folder, paths in folders.items():
            place = root + folder
            names: Iterable[bytes] = paths
            if len(paths) >= 6:
                try:
                    absent = paths.keys() - os.listdir(place)
                except (OSError, ValueError):
                    absent = set(paths)
                gone += [paths[name] for name in absent if not has_other_form(place, name)]
                # Sources that no import of the package itself needs are not looked at one by one.
                names = [
                    name
                    for name in paths
                    if (name == b"__init__.py" or not name.endswith(b".py")) and name not in absent
                ]
            for name in names:
                path = paths[name]
                size = size_of(self.checked[path])
                try:
                    held = os.stat(root + path).st_size
                except (OSError, ValueError):
                    if not os.path.lexists(root + path) and not has_other_form(place, name):
                        gone.append(path)
                    continue
                if held < size and (not held or is_cut_off(root + path, held)):
                    cut.append(path)
        return (
            [path for path in gone if not SPARE.search(path)],
            [path for path in cut if not SPARE.search(path)],
        )


def is_cut_off(path: bytes, size: int) -> bool:
    """Whether a shared object ends before its last part, by its header.

    Libraries that were stripped or patched have another size than was listed, and are whole.
    """
    if path.endswith(b".py"):
        return False
    if size < 64:
        return True
    data = read_file(os.fsdecode(path), 64, [])
    if len(data) < 64 or not data.startswith(b"\x7fELF\x02\x01"):  # 64 bits, little-endian
        return False
    sections = int.from_bytes(data[0x28:0x30], "little")
    each, count = (int.from_bytes(data[at : at + 2], "little") for at in (0x3A, 0x3C))
    return size < sections + each * count


def has_other_form(folder: bytes, name: bytes) -> bool:
    """Whether a source that is gone left its compiled form in its place: x.pyc, or x.so of x.py."""
    stem = folder + b"/" + name[: -len(b".py")]
    return name.endswith(b".py") and any(
        os.path.lexists(stem + os.fsencode(suffix)) for suffix in SUFFIXES
    )


def lines_of(data: bytes) -> "List[bytes]":
    """Return the first MAX_LINES lines of a list of files."""
    return data.split(b"\n", MAX_LINES)[:MAX_LINES]


def line_at(at: int, data: bytes) -> bytes:
    """Return the line of `data` that holds a position; none where it is longer than any path."""
    end = data.find(b"\n", at, at + MAX_LINE)
    start = data.rfind(b"\n", max(0, at - MAX_LINE), at)
    if (end < 0 and at + MAX_LINE < len(data)) or (start < 0 and at > MAX_LINE):
        return b""
    return data[start + 1 : end if end >= 0 else len(data)]


def sampled(data: bytes) -> "List[bytes]":
    """Return SAMPLE lines of `data`, evenly spaced."""
    return [line_at(len(data) * number // SAMPLE, data) for number in range(SAMPLE)]


def lines_with(text: bytes, data: bytes) -> "List[bytes]":
    """Return the first MAX_LIBRARIES lines of `data` that hold `text`."""
    lines: List[bytes] = []
    at = data.find(text)
    while at >= 0 and len(lines) < MAX_LIBRARIES:
        lines.append(line_at(at, data))
        at = data.find(b"\n", at)
        at = data.find(text, at) if at >= 0 else -1
    return lines


# A line of a list: a path that is not quoted, and what follows it. What `counts` leaves out of such
# paths by their beginning does not match: seven thousand calls would take longer than all the rest.
LISTED = re.compile(
    rb'^(?!\.\./)([^",\\\n/-][^,\\\n/-]*(?:/[^,\\\n]*)?)(?:,([^\n]*))?$', re.MULTILINE
)


def counted(data: bytes) -> "List[Tuple[bytes, bytes]]":
    """Return the paths of a list that count, each with the rest of its line."""
    if data.count(b"\n") >= MAX_LINES:
        data = b"\n".join(lines_of(data))
    found = [
        (path, rest)
        for path, rest in LISTED.findall(data)
        if not (path.endswith(b".pyc") or b"__pycache__" in path) and len(path) <= MAX_LINE
    ]
    if b'"' in data:
        lines = [line for line in data.split(b"\n") if line.startswith(b'"')]
        found += [(path, line) for path, line in zip(map(path_of, lines), lines) if counts(path)]
    return found


def counts(path: bytes) -> bool:
    """Whether a path of a list names a file under the search entry that an import may need."""
    # Metadata folders have a hyphen, as has what builders leave (scripts-3.10); packages have none.
    # A list that was written on Windows has backslashes, and pip installs its files all the same.
    return not (
        b"__pycache__" in path
        or b"\\" in path
        or path.startswith((b"/", b"../"))
        or path.endswith(b".pyc")
        or b"-" in path.partition(b"/")[0]
        or not path
    )


def is_library(path: bytes) -> bool:
    """Whether a path names a shared object by its version, libx.so.12."""
    return b".so." in path and LIBRARY.search(path) is not None


def path_of(line: bytes) -> bytes:
    """Return the first field of a line of CSV; none of a line that is longer than any path."""
    if len(line) > MAX_LINE:
        return b""
    return quoted(line) if line.startswith(b'"') else line.partition(b",")[0]


def size_of(line: bytes) -> int:
    """Return the size that a line of a RECORD states, 0 if it states none."""
    size = line.rpartition(b",")[2].strip()
    return int(size) if len(size) < 16 and size.isdigit() else 0


def quoted(line: bytes) -> bytes:
    """Return the first, quoted field of a line of CSV."""
    match = re.match(rb'"((?:[^"]|"")*)"', line)
    return match.group(1).replace(b'""', b'"') if match else b""


# --- distributions ----------------------------------------------------------------------------


class Entry:
    """One folder of the search path with the names in it."""

    def __init__(self, path: str, names: "Set[str]", standard: bool) -> None:
        self.path = path
        self.names = names
        self.standard = standard

    def kind(self, module: str) -> str:
        """Return how this folder serves a top-level module: "module", "namespace" or ""."""
        if any(module + suffix in self.names for suffix in SUFFIXES):
            return "module"
        if module not in self.names:
            return ""
        folder = os.path.join(self.path, module)
        if is_package(folder):
            return "module"
        return "namespace" if os.path.isdir(folder) else ""


SUFFIXES = (".py", *_imp.extension_suffixes(), ".pyc")


def read_entries(path: "SearchPath", problems: "List[str]") -> "List[Entry]":
    """List the folders of the search path, each once, under whatever names it is there."""
    entries = []
    seen = set()
    for folder in path.entries:
        try:
            status = os.stat(folder)
        except (OSError, ValueError):
            continue
        if (status.st_dev, status.st_ino) not in seen:
            seen.add((status.st_dev, status.st_ino))
            entries.append(Entry(folder, names_in(folder, problems), folder in path.standard))
        if len(entries) == MAX_FOLDERS:
            problems.append(
                f"the search path has more than {MAX_FOLDERS} folders; the rest was not read"
            )
            break
    return entries


def distributions(
    path: "SearchPath", entries: "List[Entry]", problems: "List[str]", until: float = FOREVER
) -> "List[Json]":
    """Return the records of all distributions on the search path, in its order.

    Past the moment `until` the rest is left out.
    """
    found: List[Json] = []
    for entry in entries:
        if entry.path.endswith(".egg"):
            found.append(read_egg(entry, problems))
        metadata = sorted(
            name for name in entry.names if name.endswith((".dist-info", ".egg-info", ".egg-link"))
        )
        for name in metadata:
            if len(found) >= MAX_DISTRIBUTIONS:
                problems.append(
                    f"there are more than {MAX_DISTRIBUTIONS} distributions; the rest was not read"
                )
                return found
            if time.monotonic() > until:
                problems.append(
                    f"the time was up at {clean_path(os.path.join(entry.path, name))}; "
                    "the rest was not read"
                )
                return found
            place = os.path.join(entry.path, name)
            if name.startswith("~"):
                found.append(leftover(entry, name))
            elif name.endswith(".dist-info"):
                found.append(read_dist_info(entry, name, problems))
            elif name.endswith(".egg-link"):
                found += follow_egg_link(entry, name, path, problems)
            else:
                found.append(read_egg_info(entry, name, place, problems))
                if entry.path in path.in_place:
                    found[-1]["editable"] = clean_path(entry.path)
    # A project folder that is installed in place often holds its egg-info, too: one distribution.
    in_place = {
        canonical(record["name"]): record["editable"]
        for record in found
        if record.get("editable") and record["path"].endswith(".dist-info")
    }
    return [
        record
        for record in found
        if not record["path"].endswith(".egg-info")
        or not is_inside(record["search_entry"], in_place.get(canonical(record["name"]), ""))
    ]


def note_doubled(found: "List[Json]", problems: "List[str]") -> None:
    """Set `has_files` of records of which a folder holds metadata of several versions.

    It is left out where the files do not tell which of the versions is there.
    """
    groups: Dict[Tuple[str, str], List[Json]] = {}
    for record in found:
        if not record["name"].startswith("~"):
            key = (record["search_entry"], canonical(record["name"]))
            groups.setdefault(key, []).append(record)
    for records in groups.values():
        versions = {record["version"] for record in records}
        if len(versions) > 1:
            told = version_of_files(records, problems)
            for record in records if told in versions else ():
                record["has_files"] = record["version"] == told
            note_mixture(records, problems)


def version_of_files(records: "List[Json]", problems: "List[str]") -> str:
    """Return which of the versions the files of a project are of, "" if they do not tell.

    A version file and the lists of files may tell it, and must agree.
    """
    stated = stated_version(records, problems)
    versions = {record["version"] for record in records}
    listed = {record["version"] for record in fitting(records, problems)}
    told = listed
    if stated:
        told = versions & {stated} or {
            version for version in versions if public_version(version) == public_version(stated)
        }
        told = told & listed if listed else told
    return told.pop() if len(told) == 1 else ""


def public_version(text: str) -> str:
    """Return a version without its local part and without zeros at its end."""
    return re.sub(r"(?:\.0)+$", "", text.partition("+")[0])


STATED = re.compile(
    r"""^(?:__version__|version|full_version)[ \t]*(?::[^=\n]+)?=[ \t]*(?:\w+[ \t]*=[ \t]*)*"""
    r"""(['"])([^'"\n]+)\1|^[ \t]*"version":[ \t]*(")([^"\n]+)"()""",
    re.MULTILINE,
)


def stated_version(records: "List[Json]", problems: "List[str]") -> str:
    """Return the version that a version file of a project's module states, "" if none does."""
    name = canonical(records[0]["name"])
    listed = [module for record in records for module in record.get("modules", ())]
    likely = [module for module in import_names(name) if module in listed or not listed]
    for module in dict.fromkeys([*likely, *listed[:MAX_MODULES]]):
        place = os.path.join(records[0]["search_entry"], *module.split("."))
        for end in ("/version.py", "/_version.py", "/__about__.py", "/__init__.py", ".py"):
            for match in STATED.finditer(read_text(place + end, problems)):
                # A module may call other things "version"; files of that name do not.
                if end not in ("/__init__.py", ".py") or match.group().startswith("__version__"):
                    return clean(match.group(2) or match.group(4))
    return ""


def fitting(records: "List[Json]", problems: "List[str]") -> "List[Json]":
    """Return the records whose files are there as their RECORD has them.

    Files that all of several lists have in the same form tell nothing.
    """
    lists = code_lists(records, problems)
    fit = []
    for record, lines in lists:
        others = [listed for held, listed in lists if held is not record and listed]
        telling = sorted(
            path
            for path, line in lines.items()
            if not others or any(listed.get(path) != line for listed in others)
        )
        telling = few([path for path in telling if path.endswith(b".py")] or telling)
        if telling and all(
            is_as_listed(record["search_entry"], lines[path], problems) for path in telling
        ):
            fit.append(record)
    return fit


def note_mixture(records: "List[Json]", problems: "List[str]") -> None:
    """Set `mixed` of records of one project where files are as one version lists them.

    And others of the same names as another does: an exchange that stopped half-way.
    """
    lists = code_lists(records, problems)
    paths: Dict[bytes, Set[bytes]] = {}
    for _, lines in lists:
        for path, line in lines.items():
            paths.setdefault(path, set()).add(line)
    telling = sorted(path for path, lines in paths.items() if len(lines) > 1)
    libraries = [path for path in telling if not path.endswith(b".py")]
    telling = few([path for path in telling if path.endswith(b".py")]) + few(libraries)
    held: Dict[str, List[str]] = {}
    for path in telling:
        owners = {
            record["version"]
            for record, lines in lists
            if path in lines and is_as_listed(record["search_entry"], lines[path], problems)
        }
        if len(owners) == 1:
            held.setdefault(owners.pop(), []).append(clean(os.fsdecode(path)))
    for record in records if len(held) > 1 else ():
        record["mixed"] = held.get(record["version"], [])[-MISSING_SHOWN:]


def few(paths: "List[bytes]") -> "List[bytes]":
    """Return at most MAX_COMPARED of the paths, evenly spaced."""
    return paths[:: len(paths) // MAX_COMPARED + 1]


def code_lists(
    records: "List[Json]", problems: "List[str]"
) -> "List[Tuple[Json, Dict[bytes, bytes]]]":
    """Return the lines of each record's RECORD that name code, by their paths."""
    lists: List[Tuple[Json, Dict[bytes, bytes]]] = []
    for record in records:
        data = b""
        if record["path"].endswith(".dist-info"):
            data = read_file(os.path.join(record["path"], "RECORD"), MAX_RECORD, problems)
        code = [line for line in lines_of(data) if line.partition(b",")[0].endswith(CODE)]
        lists.append((record, {path_of(line): line for line in code if counts(path_of(line))}))
    return lists


def is_as_listed(entry: str, line: bytes, problems: "List[str]") -> bool:
    """Whether a file has the hash that its line of a RECORD states."""
    import binascii
    import hashlib

    path, _, rest = line.partition(b",")
    stated = re.match(rb"sha256=([\w-]{43}),", rest)
    data = read_file(os.path.join(entry, os.fsdecode(path)), MAX_LIBRARY, problems)
    found = binascii.b2a_base64(hashlib.sha256(data).digest()).rstrip(b"=\n")
    return stated is not None and stated.group(1) == found.translate(URL_SAFE)


URL_SAFE = bytes.maketrans(b"+/", b"-_")


def is_inside(path: str, folder: str) -> bool:
    """Whether `path` is `folder` or lies in it; nothing lies in an unnamed folder."""
    return bool(folder) and (path + "/").startswith(folder.rstrip("/") + "/")


def record_of(entry: "Entry", place: str, fields: "Dict[str, List[str]]") -> "Json":
    """Start the record of a distribution: its name and version from metadata or its file name."""
    stem = os.path.basename(place).rpartition(".")[0]
    if stem == "EGG":
        stem = os.path.basename(entry.path).rpartition(".")[0]
    name, _, rest = stem.partition("-")
    return {
        "name": clean(first(fields, "name") or name),
        "version": clean(first(fields, "version") or rest.partition("-py")[0]),
        "path": clean_path(place),
        "search_entry": clean_path(entry.path),
        "requires_python": clean(first(fields, "requires-python")),
        "requires": clean_all(
            value for value in fields.get("requires-dist", ()) if not is_for_extra(value)
        ),
    }


def first(fields: "Dict[str, List[str]]", name: str) -> str:
    """The first value of a field, empty if it has none."""
    values = fields.get(name)
    return values[0] if values else ""


def clean_all(texts: "Iterable[str]") -> "List[str]":
    """The first MAX_ITEMS of `texts`, each `clean`, without empty ones."""
    result = []
    for text in texts:
        if clean(text):
            result.append(clean(text))
            if len(result) == MAX_ITEMS:
                break
    return result


def note_incomplete(record: "Json", fields: "Dict[str, List[str]]", name: str) -> None:
    """Note in the record what its metadata file, named `name`, lacks."""
    lacking = [field for field in ("Name", "Version") if not first(fields, field.lower())]
    if not fields:
        record["problem"] = f"no {name} that can be read"
    elif lacking:
        record["problem"] = f"{name} has no {' and no '.join(lacking)}"


def read_dist_info(entry: "Entry", name: str, problems: "List[str]") -> "Json":
    """Return the record of a .dist-info folder."""
    place = os.path.join(entry.path, name)
    present = names_in(place, problems)
    fields: Dict[str, List[str]] = {}
    whole = True
    if "METADATA" in present:
        fields, whole = read_headers(os.path.join(place, "METADATA"), problems)
    record = record_of(entry, place, fields)
    note_incomplete(record, fields, "METADATA")
    if not whole:
        record["problem"] = f"of METADATA only the first {MAX_METADATA >> 20} MiB was read"
    if "INSTALLER" in present:
        text = read_text(os.path.join(place, "INSTALLER"), problems)
        record["installer"] = clean(text.strip().partition("\n")[0])
    if "WHEEL" in present:
        wheel = parse_headers(read_text(os.path.join(place, "WHEEL"), problems))
        record["tags"] = clean_all(wheel.get("tag", ()))
    if "direct_url.json" in present:
        path = os.path.join(place, "direct_url.json")
        text = read_text(path, problems)
        record["direct_url"], record["editable"] = describe_origin(text, path, problems)
    files = None
    if "RECORD" in present:
        data = read_file(os.path.join(place, "RECORD"), MAX_RECORD, problems)
        # The last line of a list that was cut is not a whole path.
        files = FileList(data if len(data) < MAX_RECORD else data.rpartition(b"\n")[0])
    note_modules(record, place, present, files, problems)
    note_files(record, files, entry)
    return record


def note_files(record: "Json", files: "Optional[FileList]", entry: "Entry") -> None:
    """Note in the record how long its list of files is and, as `gone`, what the disk lacks.

    As `short`, what is cut short there.
    """
    if files is not None:
        files.check_modules(record["modules"])
        record["files"] = files.count
        record["gone"], record["short"] = files.compare(entry.path)
        if files.is_long:
            record["looked_for"] = len(files.checked)


def note_modules(
    record: "Json",
    place: str,
    present: "Set[str]",
    files: "Optional[FileList]",
    problems: "List[str]",
) -> None:
    """Note in the record the import names: of top_level.txt, else of the list of files."""
    names: Sequence[str] = ()
    if "top_level.txt" in present:
        names = read_text(os.path.join(place, "top_level.txt"), problems).split()
    if not names and files is not None:
        names = files.modules()
    record["modules"] = clean_all(names)


def read_egg_info(entry: "Entry", name: str, place: str, problems: "List[str]") -> "Json":
    """Return the record of an .egg-info, a folder of setuptools' or a file of distutils'."""
    if not os.path.isdir(place):
        fields, _ = read_headers(place, problems)
        record = record_of(entry, place, fields)
        note_incomplete(record, fields, name)
        return record
    present = names_in(place, problems)
    fields, whole = {}, True
    if "PKG-INFO" in present:
        fields, whole = read_headers(os.path.join(place, "PKG-INFO"), problems)
    if "requires.txt" in present:
        text = read_text(os.path.join(place, "requires.txt"), problems)
        fields["requires-dist"] = parse_requires(text)
    record = record_of(entry, place, fields)
    note_incomplete(record, fields, "PKG-INFO")
    if not whole:
        record["problem"] = f"of PKG-INFO only the first {MAX_METADATA >> 20} MiB was read"
    files = None
    if "installed-files.txt" in present:
        path = os.path.join(place, "installed-files.txt")
        files = FileList(read_file(path, MAX_RECORD, problems), os.fsencode(name))
    note_modules(record, place, present, files, problems)
    note_files(record, files, entry)
    return record


def read_egg(entry: "Entry", problems: "List[str]") -> "Json":
    """Return the record of an egg on the search path; of a zipped one its file name has to do."""
    place = os.path.join(entry.path, "EGG-INFO")
    if "EGG-INFO" in entry.names:
        return read_egg_info(entry, "EGG-INFO", place, problems)
    record = record_of(entry, entry.path, {})
    record["problem"] = "a zipped egg, whose metadata was not read"
    return record


def leftover(entry: "Entry", name: str) -> "Json":
    """Return the record of what pip had set aside when it was broken off."""
    record = record_of(entry, os.path.join(entry.path, name), {})
    if name.endswith(".dist-info"):
        # What pip put in place of letters may be a hyphen.
        project, _, version = name[: -len(".dist-info")].rpartition("-")
        record.update(name=clean(project or name), version=clean(version))
    record["problem"] = "left over from a pip run that was broken off; pip ignores it"
    return record


def follow_egg_link(
    entry: "Entry", name: str, path: "SearchPath", problems: "List[str]"
) -> "List[Json]":
    """Return the record of a `setup.py develop` install that no entry of the path serves, if so."""
    place = os.path.join(entry.path, name)
    line = os.fsdecode(read_file(place, MAX_SMALL, problems)).partition("\n")[0].strip()
    folder = os.path.abspath(os.path.join(entry.path, line))
    if folder in path.entries:
        return []
    egg_info = name[: -len(".egg-link")].replace("-", "_") + ".egg-info"
    if line and os.path.isdir(os.path.join(folder, egg_info)):
        record = read_egg_info(entry, egg_info, os.path.join(folder, egg_info), problems)
        record["problem"] = "its project folder is not on the search path"
    else:
        record = record_of(entry, place, {})
        record["problem"] = f"its project folder {clean_path(folder)} holds no {clean(egg_info)}"
    record["editable"] = clean_path(folder)
    return [record]


def leftovers(entries: "List[Entry]") -> "List[str]":
    """Return the folders that pip renamed to remove them, when it was broken off, in order."""
    found = []
    for entry in entries:
        if os.path.basename(entry.path) in ("site-packages", "dist-packages"):
            for name in sorted(name for name in entry.names if name.startswith("~")):
                place = os.path.join(entry.path, name)
                if os.path.isdir(place):
                    found.append(clean_path(place))
    return found[:MAX_ITEMS]


# --- missing files ----------------------------------------------------------------------------


def note_missing(
    found: "List[Json]",
    entries: "List[Entry]",
    finders: "Dict[str, str]",
    problems: "List[str]",
    until: float = FOREVER,
) -> None:
    """Turn the `gone` of each record into `missing`, its count and `unimportable`.

    And its `short` into `cut`. Those of them without which compiled code does not load, or an
    import fails, are `needed`.

    What another distribution lists as well is left out: whoever removed or replaced that one took
    the file along, and what needs it is said where it is missed. So is the __init__.py of a
    package that several share, as the nvidia-* wheels do: each imports without it.
    """
    lacking = [(record, record.pop("gone", []), record.pop("short", [])) for record in found]
    if not any(gone or short for _, gone, short in lacking):
        return
    owners: Dict[str, Set[str]] = {}
    for record in found:
        for module in record.get("modules", ()):
            owners.setdefault(module, set()).add(canonical(record["name"]))
    wanted: Dict[str, Dict[bytes, Set[str]]] = {}
    for record, gone, short in lacking:
        for path in (*gone, *short):
            wanted.setdefault(record["search_entry"], {})[path] = set()
    for record in found:
        if time.monotonic() > until:
            problems.append("the time was up: whether files are gone was not told")
            return
        note_claims(record, wanted.get(record["search_entry"]), problems)
    for record, gone, short in lacking:
        if not gone and not short:
            continue
        claims = wanted[record["search_entry"]]
        for module in record.get("modules", ()):
            claims.get(os.fsencode(module) + b"/__init__.py", set()).update(owners[module])
        alone = [path for path in gone if len(claims[path]) < 2]
        cut = [path for path in short if len(claims[path]) < 2]
        own = [os.fsencode(m) for m in record.get("modules", ()) if m not in COMMON_MODULES]
        first = {module + end for module in own for end in OF_A_MODULE}
        needed = {path for path in (*alone, *cut) if is_needed(path, own, record["search_entry"])}
        needed.update(first.intersection(cut))
        shown, emptied = (
            sorted(paths, key=lambda path: (path not in first, path not in needed, path))[
                :MISSING_SHOWN
            ]
            for paths in (alone, cut)
        )
        record["missing"] = [clean(os.fsdecode(path)) for path in shown]
        record["missing_count"] = len(alone)
        record["cut"] = [clean(os.fsdecode(path)) for path in emptied]
        record["needed"] = [
            clean(os.fsdecode(path)) for path in (*shown, *emptied) if path in needed
        ]
        record["unimportable"] = [
            module
            for module in record.get("modules", ())
            if module not in COMMON_MODULES
            and module not in finders
            and is_lost(module, claims, gone, entries)
        ]


# Of torch's own libraries, those that `import torch` or its first use on a GPU loads.
OF_TORCH = re.compile(rb"^torch/lib/lib(?:torch|c10)(?:_\w+)?\.so$")


def is_needed(path: bytes, modules: "List[bytes]", entry: str) -> bool:
    """Whether a path is of a library that compiled code of a distribution cannot do without.

    Those are the extension modules directly in its packages, what a builder of wheels put beside
    them (numpy.libs), and torch's own. A module that lies there in another form as well is not.
    """
    folder, _, name = path.rpartition(b"/")
    if folder.endswith(b".libs") or OF_TORCH.match(path):
        return True
    if folder not in modules or not name.endswith(b".so") or name.startswith(b"lib"):
        return False
    stem = name.partition(b".")[0] + b"."
    try:
        beside = os.listdir(os.path.join(os.fsencode(entry), folder))
    except OSError:
        return True
    return not any(
        other.startswith(stem) and other != name and other.endswith((*CODE, b".pyc"))
        for other in beside
    )


OF_A_MODULE = (b"/__init__.py", b".py", *(os.fsencode(end) for end in _imp.extension_suffixes()))


def note_claims(
    record: "Json", wanted: "Optional[Dict[bytes, Set[str]]]", problems: "List[str]"
) -> None:
    """Add the name of a distribution to each of the `wanted` paths that its RECORD lists.

    To the __init__.py of a top-level package it is added if it lists anything in that folder.
    """
    if wanted and record["path"].endswith(".dist-info"):
        name = canonical(record["name"])
        data = read_file(os.path.join(record["path"], "RECORD"), MAX_RECORD, problems)
        for line in lines_of(data):
            for path in (path_of(line), line.partition(b"/")[0] + b"/__init__.py"):
                if path in wanted:
                    wanted[path].add(name)


def is_lost(
    module: str, claims: "Dict[bytes, Set[str]]", gone: "List[bytes]", entries: "List[Entry]"
) -> bool:
    """Whether files of a module are gone and no folder of the path serves it any more."""
    name = os.fsencode(module)
    own = {name + end for end in OF_A_MODULE}.intersection(gone)
    if not own and not any(path.startswith(name + b"/") for path in gone):
        return False
    kinds = {entry.kind(module) for entry in entries}
    if "namespace" in kinds:  # what is left of it imports as an empty package
        return "module" not in kinds and any(len(claims[path]) < 2 for path in own)
    return "module" not in kinds


# --- shadowing --------------------------------------------------------------------------------


def note_shadowing(
    found: "List[Json]",
    entries: "List[Entry]",
    finders: "Dict[str, str]",
    problems: "List[str]",
    until: float = FOREVER,
) -> None:
    """Set `shadowed_by` in the records whose modules an earlier entry of the path serves.

    If that is no copy of the module, `stray` is its path. The standard library is left out:
    backports of its modules are shadowed by design.
    """
    packages = [entry for entry in entries if not entry.standard]
    homes: List[List[Tuple[str, Optional[Entry]]]] = []
    owners: Dict[Tuple[Optional[Entry], str], List[Json]] = {}
    claims: Dict[str, Set[str]] = {}
    for record in found:
        places = []
        for module in record.get("modules", ()):
            known, home = home_of(module, record, packages, finders)
            if known and module not in COMMON_MODULES:
                places.append((module, home))
                owners.setdefault((home, module), []).append(record)
                claims.setdefault(module, set()).add(canonical(record["name"]))
        homes.append(places)
    for record, places in zip(found, homes):
        if time.monotonic() > until:
            problems.append("the time was up: whether copies are shadowed was not told")
            return
        shadows = (
            (module, home, entry)
            for module, home in places
            for entry in packages[: packages.index(home) if home else None]
            if entry.kind(module) == "module"
            and not is_shared(module, entry, len(claims[module]) > 1, problems)
            and not is_same(record, module, entry, owners.get((entry, module), []), problems)
        )
        shadow = next(shadows, None)
        if shadow:
            module, home, entry = shadow
            record["shadowed_by"] = clean_path(entry.path)
            record["stray"] = stray(record, module, home, entry, problems)


def note_hidden(found: "List[Json]", entries: "List[Entry]", problems: "List[str]") -> None:
    """Set `hidden` and `hidden_by` in records with modules in a namespace package out of reach.

    A folder without __init__.py is imported only if no folder of the path, before or after it, has
    a package or module of that name.
    """
    packages = [entry for entry in entries if not entry.standard]
    served: Dict[str, Optional[Entry]] = {}
    homes = {clean_path(entry.path): entry for entry in packages}
    for record in found:
        home = homes.get(record["search_entry"])
        if home is None or not record["path"].endswith(".dist-info") or record.get("editable"):
            continue
        for module in record.get("modules", ()):
            if module in COMMON_MODULES or home.kind(module) != "namespace":
                continue
            if module not in served:
                served[module] = regular(module, packages, problems)
            entry = served[module]
            if entry is None:
                continue
            folder = os.path.join(entry.path, module)
            there = Entry(folder, names_in(folder, problems), False)
            lost = [n for n in modules_below(module, record, problems) if not there.kind(n)]
            if lost:
                record["hidden"] = clean_all(f"{module}.{name}" for name in lost)[:MISSING_SHOWN]
                record["hidden_by"] = place_in(entry, module)
                break


def regular(module: str, packages: "List[Entry]", problems: "List[str]") -> "Optional[Entry]":
    """Return the entry whose package is imported for a module, if it keeps to its own folder."""
    entry = next((entry for entry in packages if entry.kind(module) == "module"), None)
    if entry is None:
        return None
    for suffix in ("/__init__.py", ".py"):
        source = read_file(os.path.join(entry.path, module + suffix), MAX_SMALL, problems)
        if len(source) >= MAX_SMALL or b"__path__" in source or b"declare_namespace" in source:
            return None
    for one in packages:
        for name in one.names:
            if name.endswith("-nspkg.pth") and module in read_text(
                os.path.join(one.path, name), problems
            ):
                return None
    return entry


def modules_below(module: str, record: "Json", problems: "List[str]") -> "List[str]":
    """Return the names directly in a package under which a distribution lists code."""
    data = read_file(os.path.join(record["path"], "RECORD"), MAX_RECORD, problems)
    start = os.fsencode(module) + b"/"
    names: Dict[str, None] = {}
    for line in lines_of(data) if start in data else ():
        path = path_of(line)
        if path.startswith(start) and path.endswith(CODE) and counts(path) and size_of(line):
            first = path[len(start) :].partition(b"/")[0].partition(b".")[0]
            names[first.decode("utf-8", "replace")] = None
    return [name for name in names if name.isidentifier() and not name.startswith("__")]


def stray(
    record: "Json", module: str, home: "Optional[Entry]", entry: "Entry", problems: "List[str]"
) -> str:
    """Return the path of what an earlier entry serves if it is no copy of a project's one module.

    A file in place of a package is none, nor a package that has hardly a file in common with it. Of
    the modules that a project brings along under common names (utils, models) nothing is said.
    """
    public = [name for name in record["modules"] if not name.startswith("_")]
    if home is None or (
        module.lower() != canonical(record["name"]).replace("-", "_") and public != [module]
    ):
        return ""
    folder, original = (os.path.join(one.path, module) for one in (entry, home))
    if not is_package(original):
        return ""
    if not is_package(folder):
        (name, *_) = [module + end for end in SUFFIXES if module + end in entry.names]
        return clean_path(os.path.join(entry.path, name))
    names, others = (names_in(one, problems) - NOT_COMPARED for one in (folder, original))
    is_copy = len(names & others) * 2 >= min(len(names), len(others)) if names else not others
    return "" if is_copy else clean_path(folder)


NOT_COMPARED = {"__init__.py", "__init__.pyc", "__pycache__"}


def is_package(folder: str) -> bool:
    """Whether a folder is a regular package."""
    return any(os.path.isfile(os.path.join(folder, "__init__" + end)) for end in SUFFIXES)


def home_of(
    module: str, record: "Json", packages: "List[Entry]", finders: "Dict[str, str]"
) -> "Tuple[bool, Optional[Entry]]":
    """Return whether it is known where a distribution's module lies, and its entry of the path.

    An import hook of an editable install serves it if that is None; hooks come after the path.
    """
    editable = record.get("editable", "")
    if editable and module in finders:
        return True, None
    for entry in packages:
        place = clean_path(entry.path)
        own = is_inside(place, editable) if editable else place == record["search_entry"]
        if own and entry.kind(module):
            return True, entry
    return False, None


def is_same(
    record: "Json", module: str, entry: "Entry", owners: "List[Json]", problems: "List[str]"
) -> bool:
    """Whether the module of an entry is from the same project at the same version."""
    if owners:
        return any(
            canonical(owner["name"]) == canonical(record["name"])
            and owner["version"] == record["version"]
            for owner in owners
        )
    # A tree without metadata, as training scripts put on PYTHONPATH.
    for name in ("/version.py", "/_version.py", "/__init__.py", ".py"):
        source = read_text(os.path.join(entry.path, module + name), problems)
        version = assignments(source).get("__version__")
        if version:
            return bool(version == record["version"])
    return False


def is_shared(module: str, entry: "Entry", claimed_twice: bool, problems: "List[str]") -> bool:
    """Whether the package of an entry is made to be spread over several distributions."""
    path = os.path.join(entry.path, module, "__init__.py")
    if not os.path.isfile(path):
        return False
    source = read_file(path, MAX_SMALL, problems)
    # The nvidia-* wheels share a package whose __init__.py is empty.
    is_empty = claimed_twice and not source.strip()
    return is_empty or b"extend_path" in source or b"declare_namespace" in source


def assignments(source: str) -> "Dict[str, Optional[str]]":
    """Return the names that lines of Python assign a string literal or None, unindented."""
    found = re.findall(
        r"""^(\w+)[ \t]*(?::[^=\n]+)?=[ \t]*(?:None\b|(['"])([^'"\n]*)\2)[ \t]*(?:\#.*)?\r?$""",
        source,
        re.MULTILINE,
    )
    return {name: clean(value) if quote else None for name, quote, value in found}


def folder_of(module: str, entries: "List[Entry]", finders: "Dict[str, str]") -> str:
    """Return the folder of the package that would be imported; empty if there is none."""
    for entry in entries:
        if entry.kind(module) == "module":
            return os.path.join(entry.path, module)
    return finders.get(module, "")


# Of the standard library, nothing that a training imports.
UNUSED = frozenset("antigravity idlelib lib2to3 test this turtle turtledemo".split())  # noqa: SIM905
# What Python itself, NumPy and torch import: without it nothing starts.
VITAL = tuple(
    """
    collections contextlib copy enum functools inspect json logging operator random re types typing
    warnings weakref
    """.split()  # noqa: SIM905
)


def standard_shadows(entries: "List[Entry]") -> "Dict[str, str]":
    """Return the modules that come before those of the same name in the standard library.

    Their places are named. Of the current folder, from which `python -m` and scripts in it import,
    the VITAL ones alone.
    """
    standard = [entry for entry in entries if entry.standard]
    if not standard:
        return {}
    known = {name.partition(".")[0] for entry in standard for name in entry.names}
    found: Dict[str, str] = {}
    for entry in entries[: entries.index(standard[0])]:
        # Another name of this Python's own library, as virtualenv before 20 copied it.
        if os.path.basename(entry.path) == VERSION:
            continue
        for module in sorted(known.intersection(name.partition(".")[0] for name in entry.names)):
            if is_shadowed(module, standard) and entry.kind(module) == "module":
                found.setdefault(module, place_in(entry, module))
    try:
        here = Entry(os.getcwd(), set(), False)
    except OSError:  # it was removed
        return found
    if os.path.isfile(os.path.join(here.path, "os.py")):  # a standard library
        return found
    for module in VITAL:
        if os.path.isfile(os.path.join(here.path, module + ".py")):
            here.names.add(module + ".py")
            if is_shadowed(module, standard):
                found.setdefault(module, place_in(here, module))
    return dict(sorted(found.items())[:MAX_ITEMS])


def is_shadowed(module: str, standard: "List[Entry]") -> bool:
    """Whether an earlier entry of the path serves a module in place of the standard library's."""
    return (
        not module.startswith("_")
        and module not in UNUSED
        and not _imp.is_builtin(module)
        and not _imp.is_frozen(module)
        and any(entry.kind(module) == "module" for entry in standard)
    )


def place_in(entry: "Entry", module: str) -> str:
    """Return the path of a module that an entry serves."""
    names = [module + end for end in SUFFIXES if module + end in entry.names]
    is_folder = is_package(os.path.join(entry.path, module))
    return clean_path(os.path.join(entry.path, module if is_folder else names[0]))


# --- modules without metadata -----------------------------------------------------------------

# Import names of projects whose name says something else.
IMPORT_NAMES = {
    "absl-py": "absl",
    "antlr4-python3-runtime": "antlr4",
    "attrs": "attr",
    "beautifulsoup4": "bs4",
    "dm-tree": "tree",
    "gitpython": "git",
    "grpcio": "grpc",
    "hydra-core": "hydra",
    "lapx": "lap",
    "mmpycocotools": "pycocotools",
    "mmsegmentation": "mmseg",
    "mysqlclient": "MySQLdb",
    "nuscenes-devkit": "nuscenes",
    "nvidia-ml-py": "pynvml",
    "nvidia-ml-py3": "pynvml",
    "openmim": "mim",
    "pillow": "PIL",
    "protobuf": "google.protobuf",
    "pycrypto": "Crypto",
    "pycryptodome": "Crypto",
    "pycryptodomex": "Cryptodome",
    "pyjwt": "jwt",
    "pymupdf": "fitz",
    "pyopengl": "OpenGL",
    "pyopenssl": "OpenSSL",
    "pyserial": "serial",
    "python-docx": "docx",
    "python-pptx": "pptx",
    "pywavelets": "pywt",
    "pyyaml": "yaml",
    "pyzmq": "zmq",
    "scikit-build": "skbuild",
    "scikit-image": "skimage",
    "scikit-learn": "sklearn",
    "tb-nightly": "tensorboard",
    "tensorflow-tensorboard": "tensorboard",
    "tf-nightly": "tensorflow",
}
# The same of families of projects, by the start of their names.
FAMILIES = {
    "cupy-": "cupy",
    "faiss-": "faiss",
    "intel-tensorflow": "tensorflow",
    "mmcv-": "mmcv",
    "onnxruntime-": "onnxruntime",
    "opencv-": "cv2",
    "paddlepaddle": "paddle",
    "pillow-": "PIL",
    "psycopg2-": "psycopg2",
    "tensorflow-": "tensorflow",
    "tf-nightly-": "tensorflow",
}
PREFIX = re.compile(r"^(?:python3?|py)-")
SUFFIX = re.compile(r"-(?:binary|cpu|full|gpu|headless|lite|nightly|py3?|python3?|simd)$")

# The modules of all packages of the matrices.
# The packages whose modules are looked for, {module: [canonical name of a package that brings it]}:
# what the probe is started with.
PROVIDERS = {}  # type: Dict[str, List[str]]


def import_names(project: str) -> "List[str]":
    """Return the modules that a project of this canonical name may bring, the likeliest first.

    Names and modules differ in case and in what says of a name that it is Python's; which of these
    a project brings, its name does not say.
    """
    names = [module for module, projects in PROVIDERS.items() if project in projects]
    names += [IMPORT_NAMES[project]] if project in IMPORT_NAMES else []
    names += [module for start, module in FAMILIES.items() if project.startswith(start)]
    plain = project
    while SUFFIX.search(plain):
        plain = SUFFIX.sub("", plain)
    for stem in (project, plain, PREFIX.sub("", project), PREFIX.sub("", plain)):
        names += [stem.replace("-", "_"), stem.replace("-", ".")]
    return list(dict.fromkeys(names))


def unclaimed(
    found: "List[Json]", entries: "List[Entry]", finders: "Dict[str, str]", problems: "List[str]"
) -> "Dict[str, str]":
    """Return modules that would be imported and belong to no metadata, with their places.

    Source trees and copies on the path are such. Looked for are those of PROVIDERS and those that
    projects may bring which are required and not installed.
    """
    packages = [entry for entry in entries if not entry.standard]
    claims: Dict[str, List[Json]] = {}
    for record in found:
        if not record["name"].startswith("~"):
            # Metadata may name no modules, or not all.
            names = [*record.get("modules", ()), *import_names(canonical(record["name"]))]
            for module in dict.fromkeys(names):
                claims.setdefault(module, []).append(record)
    result = {}
    for module in PROVIDERS:
        entry = next((one for one in packages if one.kind(module) == "module"), None)
        if entry is not None and not any(
            is_home_of(record, module, entry, finders)
            or is_same(record, module, entry, [], problems)
            for record in claims.get(module, ())
        ):
            result[module] = clean_path(os.path.join(entry.path, module))
    wanted = unmet(found)
    lowered: Dict[str, str] = {}
    for entry in entries if wanted else ():
        for name in entry.names:
            lowered.setdefault(name.partition(".")[0].lower(), name.partition(".")[0])
    for project in wanted:
        for name in import_names(project):
            first, _, rest = name.partition(".")
            first = lowered.get(first.lower(), "")
            module = f"{first}.{rest}" if rest else first
            if first and module not in PROVIDERS and module not in claims:
                place = place_of(module, entries, finders)
                if place:
                    result[module] = clean_path(place)
    return dict(list(result.items())[:MAX_ITEMS])


def is_home_of(record: "Json", module: str, entry: "Entry", finders: "Dict[str, str]") -> bool:
    """Whether a distribution has its modules in an entry of the path, or this one there."""
    place, editable = clean_path(entry.path), record.get("editable", "")
    if editable:
        linked = finders.get(module) == os.path.join(entry.path, module)
        return linked or is_inside(place, editable)
    return bool(place == record["search_entry"])


def unmet(found: "List[Json]") -> "List[str]":
    """Return the canonical names of projects that some requirement names and that are not there."""
    there = {canonical(record["name"]) for record in found}
    names: Dict[str, None] = {}
    for record in found:
        for requirement in record["requires"]:
            match = re.match(r"[A-Za-z0-9._-]+", requirement)
            if match:
                names[canonical(match.group())] = None
    return [name for name in names if name not in there][:MAX_UNMET]


def place_of(module: str, entries: "List[Entry]", finders: "Dict[str, str]") -> str:
    """Return where a module lies that may be inside a package; empty if it is nowhere."""
    first, _, rest = module.partition(".")
    if not rest:
        return folder_of(module, entries, finders)
    for entry in entries:
        if entry.kind(first):
            place = os.path.join(entry.path, *module.split("."))
            if is_package(place) or any(os.path.isfile(place + end) for end in SUFFIXES):
                return place
    return ""


# --- modules that this Python no longer has ----------------------------------------------------

# Of the standard library, what Python 3.12 and 3.13 removed.
REMOVED = tuple(
    """
    aifc asynchat asyncore audioop cgi cgitb chunk distutils imghdr imp lib2to3 mailcap nntplib
    pipes smtpd sndhdr sunau telnetlib uu xdrlib
    """.split()  # noqa: SIM905
)
MAX_FOLLOWED = 20  # files of one distribution
MAX_FOLLOWED_IN_ALL = 1000
MAX_DEPTH = 10  # parts of a dotted name
IMPORT = re.compile(
    r"^from[ \t]+([\w.]+)[ \t]+import[ \t]*(\([^)]{0,2000}\)|[^\n#]*)|^import[ \t]+([\w., \t]+)",
    re.MULTILINE,
)


def note_removed(
    found: "List[Json]", entries: "List[Entry]", problems: "List[str]", until: float = FOREVER
) -> None:
    """Set `removed` in records whose import needs what the standard library no longer has.

    Followed are the imports that a module carries out in any case, within its own package.
    """
    lost = removed_modules(entries, problems)
    if not lost:
        return
    homes = {clean_path(entry.path): entry for entry in entries if not entry.standard}
    left = MAX_FOLLOWED_IN_ALL
    for record in found:
        if time.monotonic() > until or left <= 0:
            problems.append("not all imports of packages were followed to removed modules")
            return
        home = homes.get(record["search_entry"])
        if home is None or record.get("editable") or record.get("shadowed_by"):
            continue
        public = [name for name in record.get("modules", ()) if not name.startswith("_")]
        likely = import_names(canonical(record["name"]))
        own = [name for name in public if name in likely or len(public) == 1]
        for module in own[:1]:
            files = followed(home, module, problems)
            left -= len(files)
            for path, (source, outside, chain) in files.items():
                if outside.isdisjoint(lost):
                    continue
                names = {name.partition(".")[0] for name in sure_imports(source)}
                names.intersection_update(lost)
                if names and all(leads_to(files[a][0], b) for a, b in chain):
                    inside = os.path.relpath(path, home.path)
                    record["removed"] = {name: clean(inside) for name in sorted(names)}
                    break


def removed_modules(entries: "List[Entry]", problems: "List[str]") -> "List[str]":
    """Return those of REMOVED that no entry of the path serves.

    setuptools serves distutils: from 60 on by itself, as its .pth file says; without that file it
    is not known.
    """
    if sys.version_info < (3, 12):
        return []
    lost = [name for name in REMOVED if not any(entry.kind(name) for entry in entries)]
    if "distutils" in lost:
        chosen = os.environ.get("SETUPTOOLS_USE_DISTUTILS", "")
        for entry in entries:
            if entry.kind("setuptools") == "module":
                path = os.path.join(entry.path, "distutils-precedence.pth")
                match = re.search(r"get\(var, '(\w+)'\)", read_text(path, problems))
                if (chosen or (match.group(1) if match else "local")) == "local":
                    lost.remove("distutils")
                break
    return lost


def followed(
    home: "Entry", module: str, problems: "List[str]"
) -> "Dict[str, Tuple[str, Set[str], List[Tuple[str, str]]]]":
    """Return the sources that `import module` reads of its package, by path, the first ones.

    With each come the top-level modules that it imports and the links that lead to it: (path of a
    file, dotted name that it imports).
    """
    files: Dict[str, Tuple[str, Set[str], List[Tuple[str, str]]]] = {}
    waiting: List[Tuple[str, List[Tuple[str, str]]]] = [(module, [])]
    while waiting and len(files) < MAX_FOLLOWED:
        name, chain = waiting.pop(0)
        stem = os.path.join(home.path, *name.split("."))
        is_folder = os.path.isfile(os.path.join(stem, "__init__.py"))
        path = os.path.join(stem, "__init__.py") if is_folder else stem + ".py"
        if path in files or not os.path.isfile(path):
            continue
        source = read_text(path, problems)
        package = name if is_folder else name.rpartition(".")[0]
        targets = imports_of(source, package)
        files[path] = (source, {target.partition(".")[0] for target in targets}, chain)
        for target in targets[:MAX_ITEMS]:
            parts = target.split(".", MAX_DEPTH)[:MAX_DEPTH]
            if parts[0] == module:
                link = [*chain, (path, target)]
                waiting += [(".".join(parts[:n]), link) for n in range(2, len(parts) + 1)]
    return files


def imports_of(source: str, package: str) -> "List[str]":
    """Return the dotted names that unindented lines import; also names that may be attributes."""
    targets: List[str] = []
    for origin, names, plain in IMPORT.findall(source):
        if plain:
            targets += [part.split()[0] for part in plain.split(",") if part.split()]
            continue
        base = absolute(origin, package)
        targets.append(base)
        listed = re.sub(r"#[^\n]*", "", names).strip("()").split(",")
        targets += [f"{base}.{part.split()[0]}" for part in listed if part.split()]
    return targets


def absolute(origin: str, package: str) -> str:
    """Return the dotted name of what `from origin import` names in a package."""
    level = len(origin) - len(origin.lstrip("."))
    if not level:
        return origin
    parts = package.split(".")
    parts = parts[: len(parts) - level + 1]
    return ".".join([*parts, origin.lstrip(".")] if origin.lstrip(".") else parts)


def sure_imports(source: str) -> "List[str]":
    """Return the modules that a source imports in any case, as it writes them; none if unparsable.

    `from .a import b` gives ".a" and ".a.b".
    """
    import ast

    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return []
    names: List[str] = []
    waiting: List[ast.AST] = list(reversed(tree.body))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Try) and all(_raises(handler) for handler in node.handlers):
            waiting += reversed(node.body)
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            origin = "." * (node.level or 0) + (node.module or "")
            joint = "" if origin.endswith(".") else "."
            names += [origin, *(f"{origin}{joint}{alias.name}" for alias in node.names)]
    return names


def _raises(handler: "Any") -> bool:
    """Whether a handler of exceptions ends with one, as those that explain a failure do."""
    import ast

    return isinstance(handler.body[-1], ast.Raise)


def leads_to(source: str, target: str) -> bool:
    """Whether a source imports a module of its package in any case, by the end of its name."""
    return any(
        target == name or target.endswith("." + name.lstrip("."))
        for name in sure_imports(source)
        if name.strip(".")
    )


# --- libraries of other Pythons ----------------------------------------------------------------

INSTALLERS = frozenset(["pip", "setuptools", "wheel", "distribute"])


def other_libraries(problems: "List[str]") -> "Dict[str, int]":
    """Return {"python3.8": how many distributions} of an environment's libraries of other Pythons.

    Installers are not counted. A system's prefix is for several Pythons, an environment for one.
    """
    if sys.prefix == sys.base_prefix and not os.path.isdir(os.path.join(sys.prefix, "conda-meta")):
        return {}
    found = {}
    library = os.path.join(sys.prefix, "lib")
    for name in sorted(names_in(library, problems)):
        if name == VERSION or not re.match(r"python[23]\.\d+$", name):
            continue
        folder = os.path.join(library, name)
        if os.path.realpath(folder) == os.path.realpath(os.path.join(library, VERSION)):
            continue
        metadata = re.compile(r"([A-Za-z0-9][\w.]*)-.*\.(?:dist|egg)-info$")
        names = names_in(os.path.join(folder, "site-packages"), problems)
        projects = {canonical(m.group(1)) for m in map(metadata.match, names) if m}
        if projects - INSTALLERS:
            found[name] = len(projects - INSTALLERS)
    return found


# --- what packages say of themselves ----------------------------------------------------------


def note_sources(
    found: "List[Json]", entries: "List[Entry]", finders: "Dict[str, str]", problems: "List[str]"
) -> None:
    """Set `built` of torch's domain libraries and Paddle, `limits` of OpenMMLab's, and `checks`.

    Those files are edited by hand or say more than the metadata.
    """
    for record in found:
        for module in record.get("modules", ())[:MAX_MODULES]:
            if module in ("torchvision", "torchaudio"):
                path = os.path.join(folder_of(module, entries, finders), "version.py")
                built = assignments(read_text(path, problems)).get("__version__") or ""
                if built.startswith(record["version"] + "+"):
                    record["built"] = built
            elif module == "paddle":
                path = os.path.join(folder_of(module, entries, finders), "version", "__init__.py")
                cuda = assignments(read_text(path, problems)).get("cuda_version") or ""
                if re.match(r"\d+\.\d+$", cuda):
                    record["built"] = record["version"] + "+cu" + cuda.replace(".", "")
            elif module.startswith("mm"):
                path = os.path.join(folder_of(module, entries, finders), "__init__.py")
                source = read_text(path, problems)
                limits = asserted(source) if source else None
                if limits is not None:
                    record["limits"] = limits
            elif module == "transformers":
                record["checks"] = checked(folder_of(module, entries, finders), problems)


def asserted(source: str) -> "Optional[Dict[str, str]]":
    """Return the versions of other modules that a module asserts when it is imported.

        mmcv_maximum_version = '1.4.0'
        mmcv_version = digit_version(mmcv.__version__)
        assert mmcv_version <= digit_version(mmcv_maximum_version)

    gives {"mmcv": "<=1.4.0"}; "" stands for a module that is tested in another way. None if it is
    no Python that this interpreter can parse.
    """
    if "__version__" not in source:
        return {}
    import ast

    try:
        tree = ast.parse(source)
        names: Dict[str, Tuple[str, str]] = {}
        limits: Dict[str, List[str]] = {}
        odd: Set[str] = set()
        for node in tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                names[node.targets[0].id] = operand(node.value, names, ast)
            elif isinstance(node, ast.Assert):
                for module, clause in clauses(node.test, names, ast):
                    if clause:
                        limits.setdefault(module, []).append(clause)
                    else:
                        odd.add(module)
            elif not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                odd.update(m for kind, m in operands(node, names, ast) if kind == "module")
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return None
    found = {module: ",".join(limit) for module, limit in limits.items()}
    found.update(dict.fromkeys(odd, ""))
    return {clean(module): clean(limit) for module, limit in list(found.items())[:MAX_ITEMS]}


# The table is written by a script, one pair a line; ast would take 9 ms to import.
PAIR = re.compile(
    r"""^[ \t]*(["'])([^"'\n]+)\1[ \t]*:[ \t]*(["'])([^"'\n]*)\3,?[ \t]*$""", re.MULTILINE
)
LOOKED_UP = re.compile(
    r"""^pkgs_to_check_at_runtime = (\[[^\]]*\]|"[^"\n]*"\.split\(\))""", re.MULTILINE
)


def checked(folder: str, problems: "List[str]") -> "Dict[str, str]":
    """Return the versions of projects that transformers checks when it is imported.

    {"numpy": ">=1.17", "filelock": ""}, of its table and the list of those that are looked up then.
    """
    source = read_text(os.path.join(folder, "dependency_versions_table.py"), problems)
    table = {name: text for _, name, _, text in PAIR.findall(source)}
    source = read_text(os.path.join(folder, "dependency_versions_check.py"), problems)
    match = LOOKED_UP.search(source)
    names = re.sub(r"#.*", "", match.group(1)) if match else ""
    found = {}
    for name in re.findall(r"[A-Za-z0-9][A-Za-z0-9._-]*", names.replace(".split()", ""))[
        :MAX_ITEMS
    ]:
        match = re.match(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?(.*)", table.get(name, ""))
        if match and name != "python":
            found[clean(canonical(match.group(1)))] = clean(match.group(2))
    return found


def operand(node: "Any", names: "Dict[str, Tuple[str, str]]", ast: "Any") -> "Tuple[str, str]":
    """Return ("version", text), ("module", name) whose version it is, or ("", "")."""
    if isinstance(node, ast.Call) and len(node.args) == 1:
        return operand(node.args[0], names, ast)  # digit_version(...), parse(...)
    if isinstance(node, ast.Name):
        return names.get(node.id, ("", ""))
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return ("module", node.value.id) if node.attr == "__version__" else ("", "")
    # Python before 3.8 has ast.Str.
    text = getattr(node, "value" if sys.version_info >= (3, 8) else "s", None)
    return ("version", text) if isinstance(text, str) else ("", "")


def operands(
    node: "Any", names: "Dict[str, Tuple[str, str]]", ast: "Any"
) -> "List[Tuple[str, str]]":
    """Return what stands anywhere in a piece of code."""
    kinds = (ast.Name, ast.Attribute)
    return [operand(part, names, ast) for part in ast.walk(node) if isinstance(part, kinds)]


def clauses(
    test: "Any", names: "Dict[str, Tuple[str, str]]", ast: "Any"
) -> "Iterable[Tuple[str, str]]":
    """Return pairs of a module and what a test asks of it, "" where that is not understood."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return [pair for part in test.values for pair in clauses(part, names, ast)]
    if not isinstance(test, ast.Compare):
        return [(m, "") for kind, m in operands(test, names, ast) if kind == "module"]
    found = []
    signs = {"Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=", "Eq": "==", "NotEq": "!="}
    mirrored = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
    sides = [test.left, *test.comparators]
    for left, sign, right in zip(sides, test.ops, sides[1:]):
        text = signs.get(type(sign).__name__, "")
        one, other = operand(left, names, ast), operand(right, names, ast)
        if (one[0], other[0]) == ("version", "module"):
            one, other, text = other, one, mirrored.get(text, text)
        if text and (one[0], other[0]) == ("module", "version"):
            found.append((one[1], text + other[1]))
        else:
            found += [(m, "") for kind, m in operands(test, names, ast) if kind == "module"]
    return found


# --- torch ------------------------------------------------------------------------------------


def seen(value: "Any", origin: str) -> "Json":
    """An observed value as the records have it."""
    return {"value": value, "origin": clean_path(origin)}


def unseen(why: str) -> "Json":
    """An unknown value as the records have it."""
    return {"unknown": clean(why, 1000)}


def torch_files(
    entries: "List[Entry]", finders: "Dict[str, str]", problems: "List[str]"
) -> "Optional[Json]":
    """Return what the files of the torch that would be imported say; None if there is none."""
    folder = folder_of("torch", entries, finders)
    if not folder:
        return None
    record = {
        "path": clean_path(folder),
        "abi": torch_abi(folder, problems),
        "distutils": uses_distutils(folder, problems),
    }
    version_file = os.path.join(folder, "version.py")
    source = read_text(version_file, problems)
    values = assignments(source)
    if not source:
        nothing = unseen(f"{clean_path(version_file)} cannot be read")
        record.update(version=nothing, cuda=nothing, hip=nothing)
        return record
    version, cuda, hip = (values.get(name) for name in ("__version__", "cuda", "hip"))
    record["version"] = (
        seen(version, version_file)
        if version
        else unseen(f"{clean_path(version_file)} states no __version__")
    )
    # Other platforms have a field of their own beside a cuda that is None.
    others = {
        name: value
        for name, value in values.items()
        if value and name not in ("__version__", "cuda", "hip", "git_version", "debug")
    }
    if cuda:
        record["cuda"] = seen(".".join(cuda.split(".")[:2]), version_file)
    elif hip or others:
        record["cuda"] = unseen(
            "version.py names "
            + ", ".join(
                f"{name} {value}" for name, value in {"hip": hip, **others}.items() if value
            )
        )
    else:
        record["cuda"] = seen("cpu", version_file)
    record["hip"] = seen(hip, version_file) if hip else unseen("version.py names no hip")
    if others:
        record["vendor"] = others
    return record


def uses_distutils(folder: str, problems: "List[str]") -> "Json":
    """Return whether a torch's tensorboard module takes distutils.version from setuptools.

    People mend that by hand: by an import of distutils.version, or of packaging.
    """
    path = os.path.join(folder, "utils", "tensorboard", "__init__.py")
    source = read_text(path, problems)
    if not source:
        return unseen(f"{clean_path(path)} cannot be read")
    code = "\n".join(line.partition("#")[0] for line in source.splitlines())
    imported = re.search(r"^[ \t]*(?:import|from)[ \t]+distutils\.version\b", code, re.MULTILINE)
    return seen(not imported and re.search(r"\bdistutils\.version\b", code) is not None, path)


def torch_abi(folder: str, problems: "List[str]") -> "Json":
    """Return _GLIBCXX_USE_CXX11_ABI of a torch: of its CMake file, else of its symbols."""
    roots = [folder]
    if is_inside(folder, sys.prefix):
        roots.append(sys.prefix)  # conda's libtorch package
    for root in roots:
        path = os.path.join(root, "share", "cmake", "Torch", "TorchConfig.cmake")
        match = re.search(r"_GLIBCXX_USE_CXX11_ABI=([01])\b", read_text(path, problems))
        if match:
            return seen(int(match.group(1)), path)
    for root in roots:
        path = os.path.join(root, "lib", "libc10.so")
        library = read_file(path, MAX_LIBRARY, problems)
        # Constructors of c10::Error take a std::string, whose mangled name tells the ABI.
        for symbol in re.findall(rb"_ZN3c105ErrorC[12]E([0-9A-Za-z_]+)\0", library):
            if b"__cxx11" in symbol:
                return seen(1, path)
            if b"Ss" in symbol:
                return seen(0, path)
    return unseen("neither TorchConfig.cmake nor the symbols of libc10.so tell it")


# --- conda, commands, variables ---------------------------------------------------------------


def conda_packages(problems: "List[str]") -> "List[Json]":
    """Return the packages of conda-meta of the environment, in order of their names."""
    folder = os.path.join(sys.prefix, "conda-meta")
    packages = []
    for name in sorted(names_in(folder, problems)):
        parts = name[: -len(".json")].rsplit("-", 2)
        if name.endswith(".json") and len(parts) == 3:
            package, version, build = map(clean, parts)
            # Records are megabytes of file lists; their keys are sorted, "channel" is an early one.
            text = read_text(os.path.join(folder, name), problems, 1 << 13)
            match = re.search(r'"channel": *"([^"]*)"', text)
            packages.append(
                {
                    "name": package,
                    "version": version,
                    "build": build,
                    "channel": channel_name(match.group(1)) if match else "",
                }
            )
        if len(packages) == MAX_DISTRIBUTIONS:
            break
    return packages


def channel_name(channel: str) -> str:
    """Return a channel without host, token and platform: "conda-forge", "pkgs/main"."""
    path = re.sub(r"^\w+://[^/]*/(?:t/[^/]+/)?", "", channel)
    return clean(re.sub(r"/(?:noarch|linux-\w+|osx-\w+|win-\w+)/?$", "", path))


def commands(problems: "List[str]") -> "List[Json]":
    """Return the commands of COMMANDS that PATH serves and the Python that each starts."""
    found = []
    for name in COMMANDS:
        path = which(name)
        if path:
            start = read_file(path, 4096, problems)
            found.append(
                {
                    "name": name,
                    "path": clean_path(path),
                    "interpreter": clean_path(script_interpreter(start, path)),
                }
            )
    return found


def which(name: str) -> str:
    """Return the file that PATH serves for a command name, empty if it serves none."""
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.abspath(os.path.join(folder, name))
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return ""


def script_interpreter(start: bytes, path: str) -> str:
    """Return the Python that a script starts, by its first bytes; empty if it starts none."""
    if not start.startswith(b"#!"):
        return ""
    lines = os.fsdecode(start[2:]).split("\n")
    words = lines[0].split()
    if not words:
        return ""
    program = os.path.basename(words[0])
    if program == "env":
        # env may have options (-S) and variables before the command.
        names = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
        if names and is_python(names[0]):
            return names[0] if "/" in names[0] else which(names[0])
        return ""
    if program in ("sh", "bash", "dash") and len(lines) > 1:
        # Installers write this where a path is too long for a first line, or holds spaces.
        match = re.match(r"""'''exec'\s+("[^"]*"|\S+)\s+"\$0"\s+"\$@\"""", lines[1])
        if match and "$" not in match.group(1):
            return match.group(1).strip('"')
        # And this where an environment may be moved.
        match = re.match(r"""'''exec' "\$\(dirname .*"\$0".*\)"/'?([\w.]+)'? """, lines[1])
        if match:
            return os.path.join(os.path.dirname(os.path.realpath(path)), match.group(1))
        return ""
    return words[0] if is_python(program) else ""


def is_python(program: str) -> bool:
    """Whether a command's name is that of a Python interpreter."""
    return os.path.basename(program).startswith(("python", "pypy"))


def variables() -> "Dict[str, str]":
    """Return the variables that change imports, linking or builds, without credentials."""
    return {
        clean(name): clean(without_credentials(value), 4096)
        for name, value in sorted(os.environ.items())
        if (name in VARIABLES or name.startswith(VARIABLE_STARTS))
        and not any(word in name for word in SECRETS)
    }


# --- the whole --------------------------------------------------------------------------------


def managed() -> str:
    """Return the file by which pip refuses to install into this interpreter itself (PEP 668)."""
    path = os.path.join(os.path.dirname(os.__file__), "EXTERNALLY-MANAGED")
    alone = sys.prefix == sys.base_prefix
    return clean_path(path) if alone and os.path.isfile(path) else ""


def soabi() -> str:
    """Return the tag of extension modules' file names, "cpython-38-x86_64-linux-gnu"."""
    return _imp.extension_suffixes()[0][1:].rpartition(".")[0]


def limited(problems: "List[str]") -> "List[str]":
    """The first MAX_PROBLEMS of the problems, each once, and how many more there were."""
    unique = list(dict.fromkeys(problems))
    if len(unique) > MAX_PROBLEMS:
        unique[MAX_PROBLEMS:] = [f"and {len(unique) - MAX_PROBLEMS} more that could not be read"]
    return unique


KEPT = ("version", "limits", "has_files")  # fields of a distribution that may be empty


def observe() -> "Json":
    """Return the record of this interpreter's environment."""
    problems: List[str] = []
    until = time.monotonic() + MAX_SECONDS
    path = search_path(problems)
    note_customization(path, problems)
    entries = read_entries(path, problems)
    finders: Dict[str, str] = {}
    for finder in path.finders:
        finders.update(finder_mapping(finder, problems))
    found = distributions(path, entries, problems, until)
    note_doubled(found, problems)
    note_missing(found, entries, finders, problems, until)
    note_shadowing(found, entries, finders, problems, until)
    note_hidden(found, entries, problems)
    note_removed(found, entries, problems, until)
    note_sources(found, entries, finders, problems)
    modules = unclaimed(found, entries, finders, problems)
    resources = folder_of("pkg_resources", entries, finders)  # Debian has it without setuptools
    if resources:
        modules["pkg_resources"] = clean_path(resources)
    target = {
        "python": clean_path(sys.executable),
        "version": sys.version.split()[0].rstrip("+"),
        "implementation": sys.implementation.name,
        "soabi": soabi(),
        "prefix": clean_path(sys.prefix),
        "base_prefix": clean_path(sys.base_prefix),
        "free_threaded": "t" in getattr(sys, "abiflags", ""),
        "path": [clean_path(entry) for entry in path.entries],
        "user_site": clean_path(path.user_site),
        "environ": variables(),
        "distributions": [
            {name: value for name, value in record.items() if value or name in KEPT}
            for record in found
        ],
        "conda": conda_packages(problems),
        "commands": commands(problems),
        "modules": modules,
        "standard": standard_shadows(entries),
        "managed": managed(),
        "leftovers": leftovers(entries),
        "other_libraries": other_libraries(problems),
        "torch": torch_files(entries, finders, problems),
    }
    target["problems"] = limited(problems)
    return target


if __name__ == "__main__":
    if sys.argv[-1].startswith("{"):
        PROVIDERS.update(json.loads(sys.argv[-1]))
    if "--paths" not in sys.argv:
        sys.stdout.write(json.dumps(observe()))
    else:  # behind the answer the paths that it is made of
        note_what_is_looked_at()
        answer = json.dumps(observe()).encode()
        # No file has a name of none or with a null character.
        named = [sign + path for path, sign in LOOKED_AT.items() if path and b"\0" not in path]
        sys.stdout.buffer.write(b"\0".join([answer, *named]))
