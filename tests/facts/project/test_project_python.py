"""Python sources: real uses of an interface, and what only looks like one."""

from __future__ import annotations

from pathlib import Path

import pytest
from source_trees import INTERFACES, read_text, tree, uses

from envdoctor.facts.project import read

USED = {
    "an attribute of an import": ("import numpy as np\nx = np.int(3)\n", ["numpy.int 2"]),
    "under its own name": ("import numpy\n\nx = numpy.int\n", ["numpy.int 3"]),
    "imported by itself": ("from numpy import array, int as i\n", ["numpy.int 1"]),
    "over several lines": ("from numpy import (\n    array,  # (\n    int,\n)\n", ["numpy.int 1"]),
    "behind a backslash": ("from numpy import \\\n    int\n", ["numpy.int 1"]),
    "inside of a function": (
        "import numpy as np\ndef f():\n    return [np.bool(x) for x in y]\n",
        ["numpy.bool 3"],
    ),
    "as a default and a decorator's argument": (
        "import numpy as np\n@g(np.int)\ndef f(a=np.bool): pass\n",
        ["numpy.bool 3", "numpy.int 2"],
    ),
    "a module that is gone": ("import torch._six\n", ["torch._six 1"]),
    "a name of a module that is gone": ("from torch._six import inf\n", ["torch._six 1"]),
    "a module as a name": ("from torch import _six\nx = _six.inf\n", ["torch._six 1"]),
    "the longer name": ("from torch._six import container_abcs\n", ["torch._six.container_abcs 1"]),
    "a module within": ("from mmcv.runner.hooks import HOOKS\n", ["mmcv.runner 1"]),
    "of the standard library": ("from collections import Mapping\n", ["collections.Mapping 1"]),
    "where the import may fail, and the attribute is used": (
        "try:\n    import numpy as np\nexcept ImportError:\n    np = None\nx = np.int\n",
        ["numpy.int 5"],
    ),
    "where there is a GPU": (
        "import torch\nif torch.cuda.is_available():\n    torch.symeig(a)\n",
        ["torch.symeig 3"],
    ),
    "a try that catches something else": (
        "import numpy as np\ntry:\n    np.int(x)\nexcept ValueError:\n    pass\n",
        ["numpy.int 3"],
    ),
    "in finally": (
        "import numpy as np\ntry:\n    pass\nexcept Exception:\n    pass\nfinally:\n    np.int\n",
        ["numpy.int 7"],
    ),
    "torch.load as it was": ("import torch\ntorch.load(f, map_location='cpu')\n", ["torch.load 2"]),
    "load by itself": ("from torch import load\nx = load(f)\n", ["torch.load 2"]),
    "a scheduler that is to talk": (
        "from torch.optim import lr_scheduler as s\ns.StepLR(o, 3, verbose=True)\n",
        ["torch.optim.lr_scheduler 2"],
    ),
    "in a build script": (
        "from torch.utils.cpp_extension import CUDAExtension\nargs = {'cxx': ['-std=c++14']}\n",
        ["-std=c++14 2"],
    ),
    "a module that is called": ("import torch\ny = torch.fft(x, 1)\n", ["torch.fft() 2"]),
    "a keyword of a call": (
        "import torch\ntorch.load(f, weights_only=True)\n",
        ["torch.load(weights_only=...) 2"],
    ),
    "a keyword of what is imported by itself": (
        "from asyncio import Queue\nq = Queue(maxsize=3, loop=loop)\n",
        ["asyncio.Queue(loop=...) 2"],
    ),
    "a method of an object": (
        "import numpy as np\na = np.zeros(3)\na.itemset(0, 1.0)\n",
        ["numpy.ndarray.itemset 3"],
    ),
    "of an object's part": (
        "from threading import Thread\nclass A:\n    def f(self):\n"
        "        return self.worker.isAlive()\n",
        ["threading.Thread.isAlive 4"],
    ),
    "the next of an iterator": (
        "import torch\nit = iter(loader)\nx = it.next()\n",
        ["torch.utils.data.DataLoader.next 3"],
    ),
    "the next of one without a name": (
        "import torch\nx = iter(loader).next()\n",
        ["torch.utils.data.DataLoader.next 2"],
    ),
    "the next of one that an object holds": (
        "import torch\nclass A:\n    def __init__(self, loader):\n"
        "        self.it = iter(loader)\n    def f(self):\n        return self.it.next()\n",
        ["torch.utils.data.DataLoader.next 6"],
    ),
    "a function of the old kind": (
        "from torch.autograd import Function\nclass F(Function):\n"
        "    def forward(self, x):\n        return x\n",
        ["torch.autograd.Function.forward 3"],
    ),
    "one of many names": (
        "from transformers import BertModel, TFBertModel\n",
        ["transformers.TF[A-Z]* 1"],
    ),
    "a module of many": (
        "from transformers.models.bert.tokenization_bert_fast import BertTokenizerFast\n",
        ["transformers.models.*.tokenization_*_fast 1"],
    ),
    "a value that is named on the way": ("if (n := len(a)) > 1:\n    pass\n", [":= 1"]),
    "arguments by position only": ("def f(a, b, /, c): pass\n", ["def f(a, /) 1"]),
    "a built-in type with an index": (
        "def f(x: list[int]) -> dict[str, int]:\n    pass\n",
        ["list[...] 1"],
    ),
    "as an alias": ("Pair = tuple[int, int]\n", ["list[...] 1"]),
    "of a class's own": ("class A:\n    x: list[int]\n", ["list[...] 2"]),
    "one of two types": ("def f(x: int | None = None): pass\n", ["X | None 1"]),
    "a flag of the script's own": (
        "import argparse\np = argparse.ArgumentParser()\n"
        "p.add_argument('--local_rank', type=int)\na = p.parse_args()\n",
        ["--local_rank 3"],
    ),
}

QUIET = {
    "strings and comments": 'import numpy as np\n# np.int\nx = \'np.int\'\n"""np.bool"""\n',
    "other names": "import numpy as np\nx = np.int_, np.int64, np.bool_, np.integer, np.intp\n",
    "a method of that name": "import numpy as np\nx = y.int() + z.np.int\n",
    "another package under that name": "import cupy as np\nx = np.int\n",
    "one of two packages": (
        "try:\n    import cupy as np\nexcept ImportError:\n    import numpy as np\nx = np.int\n"
    ),
    "an argument of that name": "import numpy as np\ndef f(np):\n    return np.int\n",
    "a variable of that name": "import numpy as np\nnp = load()\nx = np.int\n",
    "caught": "try:\n    from torch._six import inf\nexcept ImportError:\n    inf = None\n",
    "the way back": "try:\n    from math import inf\nexcept ImportError:\n    import torch._six\n",
    "caught among others": (
        "import numpy as np\ntry:\n    np.int\nexcept (TypeError, AttributeError):\n    pass\n"
    ),
    "caught by everything": "try:\n    import imp\nexcept:\n    imp = None\n",
    "an import that is caught, used later": (
        "try:\n    import imp\nexcept ImportError:\n    imp = None\nif imp:\n    imp.reload(x)\n"
    ),
    "suppressed": "import contextlib\nwith contextlib.suppress(ImportError):\n    import imp\n",
    "a test of the version": (
        "import sys\nif sys.version_info < (3, 12):\n    import imp\nelse:\n    import importlib\n"
    ),
    "of torch's version": (
        "import torch\nif digit_version(torch.__version__) < (2, 0):\n    import torch._six\n"
    ),
    "a constant that was made of it": (
        "import torch\nif TORCH_1_9:\n    import torch._six\nelif IS_OLD:\n    torch.symeig(a)\n"
    ),
    "a return before": (
        "import sys\ndef f():\n"
        "    if sys.version_info >= (3, 12):\n        return\n    import imp\n"
    ),
    "asked for": "import numpy as np\nx = np.int if hasattr(np, 'int') else int\n",
    "asked for in an expression": "import numpy as np\nx = hasattr(np, 'int') and np.int\n",
    "while types are checked": (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from collections import Mapping\n"
    ),
    "set by itself": "import numpy as np\nnp.int = int\nx = np.int(3)\n",
    "set otherwise": "import numpy as np\nsetattr(np, 'int', int)\nx = np.int(3)\n",
    "put in place": "import sys\nimport x\nsys.modules['torch._six'] = x\nimport torch._six\n",
    "its own module": "from .imp import load\nfrom . import imp\nfrom .numpy import int\n",
    "weights_only perhaps given": "import torch\ntorch.load(f, **options)\ntorch.load(*all)\n",
    "torch.load passed on": "import torch\nf = torch.load\n",
    "another load": "import json\njson.load(f)\n",
    "a silent scheduler": "from torch.optim import lr_scheduler as s\ns.StepLR(o, 3)\n",
    "a flag in another script": "x = ['-std=c++14']\n",
    "a flag that is asked for": (
        "import torch.utils.cpp_extension\nif '-std=c++14' in a:\n    a.remove('-std=c++14')\n"
    ),
    "a flag by version": (
        "from torch.utils.cpp_extension import CUDAExtension\n"
        "if torch.__version__ >= '2.1':\n    f = '-std=c++17'\nelse:\n    f = '-std=c++14'\n"
    ),
    "both spellings": (
        "import argparse\np.add_argument('--local_rank', '--local-rank')\np.parse_args()\n"
    ),
    "unknown flags are passed over": (
        "import argparse\np.add_argument('--local_rank')\np.parse_known_args()\n"
    ),
    "a function of a module": "import torch\nx = torch.fft.fft(a)\nf = torch.fft\n",
    "a call without the keyword": "import asyncio\nq = asyncio.Queue(maxsize=3)\n",
    "a keyword where it is asked for": (
        "import torch\nif digit_version(torch.__version__) >= (1, 13):\n"
        "    torch.load(f, weights_only=True)\n"
    ),
    "a keyword that is tried": (
        "import torch\ntry:\n    torch.load(f, weights_only=False)\nexcept TypeError:\n    pass\n"
    ),
    "a keyword that is caught": (
        "import asyncio\ntry:\n    q = asyncio.Queue(loop=loop)\nexcept:\n    q = None\n"
    ),
    "a method where nothing is of that module": "a.itemset(0, 1.0)\nb.isAlive()\n",
    "a function of that name in a module": "import numpy as np, mine\nmine.itemset(0, 1)\n",
    "a method of its own": (
        "import numpy as np\nclass A:\n    def itemset(self, i, x): pass\nA().itemset(0, 1)\n"
    ),
    "a method where it is asked for": (
        "import numpy as np\nif hasattr(a, 'itemset'):\n    a.itemset(0, 1)\n"
    ),
    "the next of something else": "import torch\nx = prefetcher.next()\n",
    "the next of what is an iterator in one place only": (
        "import torch\nit = iter(loader)\nit = Prefetcher(loader)\nx = it.next()\n"
    ),
    "a function of the new kind": (
        "import torch\nclass F(torch.autograd.Function):\n"
        "    @staticmethod\n    def forward(ctx, x):\n        return x\n"
    ),
    "one that is made static below": (
        "import torch\nclass F(torch.autograd.Function):\n"
        "    def forward(ctx, x):\n        return x\n    forward = staticmethod(forward)\n"
    ),
    "another class with forward": (
        "import torch\nclass F(torch.nn.Module):\n    def forward(self, x):\n        return x\n"
    ),
    "other names of many": "from transformers import BertModel, TF2_WEIGHTS_NAME\n",
    "a module of many that is there": (
        "from transformers.models.cpm.tokenization_cpm_fast import CpmTokenizerFast\n"
    ),
    "annotations that nobody evaluates": (
        "from __future__ import annotations\ndef f(x: list[int] | None) -> dict[str, int]: pass\n"
    ),
    "annotations of a function's own variables": "def f():\n    x: list[int] = []\n",
    "annotations as texts": "def f(x: 'list[int]'): pass\n",
    "types for a checker": (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    Pair = tuple[int, int]\n"
    ),
    "types where they are asked for": (
        "import sys\nif sys.version_info >= (3, 9):\n    Pair = tuple[int, int]\n"
    ),
    "an item of a list": "def f(list):\n    return list[0]\n",
    "a type of the name": "from typing import List as list\nx: list[int] = []\n",
    "a sum of numbers": "FLAG = 1 | 2\ndef f(x=A | B): pass\nx = int | None\n",
    "a division": "x = f(a, b / c)\n",
    "nothing at all": "",
}


#: What holds the answer to a test of versions, and a use that it guards.
GUARDED = {
    "Python's version": "OLD = sys.version_info < (3, 12)\nif OLD:\n    import imp\n",
    "the other branch": (
        "OLD = sys.version_info >= (3, 12)\nif not OLD:\n    import imp\nelse:\n    np.int\n"
    ),
    "hasattr": "THERE = hasattr(np, 'int')\nif THERE:\n    np.int\n",
    "a version as a text": "T = torch.__version__ < '1.9'\nif T:\n    from torch._six import inf\n",
    "tried": (
        "try:\n    np.int\n    OK = True\nexcept AttributeError:\n    OK = False\n"
        "if OK:\n    np.int\n"
    ),
    "tried, whatever fails": (
        "try:\n    import imp\n    OK = True\nexcept:\n    OK = False\nif OK:\n    np.int\n"
    ),
    "under another name": (
        "from sys import version_info as v\nif v < (3, 4):\n    import imp\nwhile v:\n    np.int\n"
    ),
    "a digit": "NP1 = np.__version__[0] == '1'\nx = np.int if NP1 else int\ny = NP1 and np.int\n",
    "numbers": (
        "V = tuple(int(x) for x in np.__version__.split('.')[:2])\nif V < (2, 0):\n    np.int\n"
    ),
    "two names": (
        "major, minor = map(int, np.__version__.split('.')[:2])\nif minor < 24:\n    np.int\n"
    ),
    "a function": (
        "def old():\n    return NumpyVersion(np.__version__) < '2.0.0'\nif old():\n    np.int\n"
    ),
    "a function that tries": (
        "def old():\n    try:\n        import imp\n        return True\n"
        "    except ImportError:\n        return False\nif old():\n    import imp\n"
    ),
    "a function that compares": (
        "def below(v):\n    return Version(np.__version__) < Version(v)\n"
        "if below('1.24'):\n    np.int\n"
    ),
    "find_spec": "Y = importlib.util.find_spec('imp') is not None\nif Y:\n    import imp\n",
    "made of another": (
        "def f():\n    if OLD:\n        return np.int\n"
        "OLD = bool(V < (1, 24))\nV = tuple(map(int, W))\nW = np.__version__.split('.')\n"
    ),
    "a return behind it": (
        "def f():\n    new = sys.version_info >= (3, 12)\n    if new:\n        return\n"
        "    import imp\n"
    ),
    "an attribute": (
        "class A:\n    def __init__(self):\n        self.old = torch.__version__ < '2'\n"
        "    def f(self):\n        if self.old:\n            torch.symeig(a)\n"
    ),
    "set in a branch": (
        "OLD = False\nif sys.version_info < (3, 12):\n    OLD = True\nif OLD:\n    import imp\n"
    ),
    "the metadata's version": (
        "from packaging.version import parse\nfrom importlib import metadata\n"
        "V = metadata.version('numpy')\nif parse(V) < parse('1.24'):\n    np.int\n"
    ),
}

#: What only looks like it.
UNGUARDED = {
    "a module that may be absent": (
        "try:\n    import wandb\nexcept ImportError:\n    wandb = None\nif wandb:\n    np.int\n"
    ),
    "NumPy itself": (
        "try:\n    import numpy as np\nexcept ImportError:\n    np = None\n"
        "if isinstance(x, np.ndarray):\n    np.int\n"
    ),
    "an option named version": "net = build(args.version)\nif net.training:\n    np.int\n",
    "what is chosen by a version": (
        "f = np.prod if hasattr(np, 'prod') else np.product\nif f(x) > 1:\n    np.int\n"
    ),
    "what is computed with a test": (
        "OLD = sys.version_info < (3, 8)\nx = compute(data, OLD)\nif x:\n    np.int\n"
    ),
    "a report": "env = {'numpy': np.__version__}\nif env:\n    np.int\n",
    "a loading that may fail": (
        "try:\n    n = 0\n    load(x)\nexcept Exception:\n    n = 1\nif n:\n    np.int\n"
    ),
    "no condition": "OLD = sys.version_info < (3, 12)\nprint(OLD)\nnp.int\n",
}

IMPORTS = "import sys, importlib.util, torch\nimport numpy as np\n"


@pytest.mark.parametrize("case", GUARDED)
def test_a_name_that_holds_the_answer_is_a_test(case: str, tmp_path: Path) -> None:
    assert read_text(tmp_path, "net.py", IMPORTS + GUARDED[case]) == ([], ())


@pytest.mark.parametrize("case", UNGUARDED)
def test_another_name_is_no_test(case: str, tmp_path: Path) -> None:
    text = IMPORTS + UNGUARDED[case]
    assert read_text(tmp_path, "net.py", text) == ([f"numpy.int {text.count(chr(10))}"], ())


def test_names_that_are_made_of_names_a_long_way_are_read(tmp_path: Path) -> None:
    chain = "".join(f"a{i} = a{i + 1}\n" for i in range(20_000))
    text = f"import numpy as np\n{chain}a20000 = np.__version__\nif b:\n    np.int\n"
    assert read_text(tmp_path, "net.py", text) == (["numpy.int 20004"], ())


@pytest.mark.parametrize("case", USED)
def test_a_use_is_found(case: str, tmp_path: Path) -> None:
    text, wanted = USED[case]
    assert read_text(tmp_path, "net.py", text) == (wanted, ())


@pytest.mark.parametrize("case", QUIET)
def test_what_is_no_use_is_passed_over(case: str, tmp_path: Path) -> None:
    assert read_text(tmp_path, "net.py", QUIET[case]) == ([], ())


def test_what_a_project_sets_in_one_file_it_has_in_all(tmp_path: Path) -> None:
    files = {
        "compat.py": "import numpy\nnumpy.int = int\n",
        "net.py": "import numpy as np\nx = np.int(3), np.bool(3)\n",
    }
    assert uses(read(str(tree(tmp_path, files)), INTERFACES)) == ["numpy.bool net.py:2"]


def test_a_module_of_the_project_is_not_the_other(tmp_path: Path) -> None:
    files = {
        "mmcv/__init__.py": "from mmcv.runner import x\n",
        "tools/imp.py": "",
        "tools/train.py": "import imp\nimport torch._six\n",
        "inner/setup.py": "",
        "inner/numpy/__init__.py": "import numpy as np\nnp.int\n",
    }
    assert uses(read(str(tree(tmp_path, files)), INTERFACES)) == ["torch._six tools/train.py:2"]


UNCLEAR = "some Python files have a syntax that is not understood here"


def test_python_2_is_read_roughly(tmp_path: Path) -> None:
    text = "import numpy as np\nprint 'np.bool'  # np.bool\nx = np.int(3)\ny = torch.load(f)\n"
    assert read_text(tmp_path, "net.py", text) == (["numpy.int 3"], (UNCLEAR,))


def test_of_python_2_that_may_choose_nothing_is_said(tmp_path: Path) -> None:
    text = "import numpy as np\nprint 1\ntry:\n    np.int\nexcept AttributeError:\n    pass\n"
    assert read_text(tmp_path, "net.py", text) == ([], (UNCLEAR,))


@pytest.mark.parametrize("data", [b"import numpy as np\n# \xff\xe9\nnp.int\n", b"\xef\xbb\xbf\n"])
def test_bytes_that_are_no_utf8(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_bytes(data)
    project = read(str(tmp_path), INTERFACES)
    assert (project.files, project.problems) == (1, ())
    assert uses(project) == (["numpy.int net.py:3"] if b"np" in data else [])
