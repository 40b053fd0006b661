"""C++ and CUDA sources: what is compiled for every torch, and what is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from source_trees import INTERFACES, read_text, tree, uses

from envdoctor.facts.project import read

USED = {
    "an include": ("#include <THC/THC.h>\n", ["THC/THC.h 1"]),
    "in quotes and spaces": ('\n  #  include "THC/THC.h"\n', ["THC/THC.h 2"]),
    "of a folder": ("#include <THCUNN/generic/x.h>\n", ["THCUNN/ 1"]),
    "an identifier": ("extern THCState *state;\nAT_CHECK(a, 1);\n", ["AT_CHECK 2", "THCState 1"]),
    "over several lines": (
        "AT_DISPATCH_FLOATING_TYPES(\n    x.type(), name, [&] {});\n",
        ["DISPATCH(type) 1"],
    ),
    "with CUDA": ("#ifdef WITH_CUDA\nAT_CHECK(a);\n#endif\n", ["AT_CHECK 2"]),
    "behind an include guard": (
        "#ifndef TORCH_NET_H_\n#define TORCH_NET_H_\nAT_CHECK(a);\n#endif\n",
        ["AT_CHECK 3"],
    ),
    "after a choice": ("#if TORCH_VERSION_MAJOR < 2\n#endif\nAT_CHECK(a);\n", ["AT_CHECK 3"]),
    "after a comment that looks like a text": ("// don't\nAT_CHECK(a);\n", ["AT_CHECK 2"]),
}

QUIET = {
    "comments": "// AT_CHECK(a)\n/* #include <THC/THC.h>\nTHCState */\n",
    "texts": 'puts("AT_CHECK(a); THCState");\n',
    "other names": "TORCH_CHECK(a); MY_AT_CHECK(a); THCStateful x;\n",
    "a header that stayed": "#include <THC/THCAtomics.cuh>\n",
    "a choice": "#if TORCH_VERSION_MAJOR < 2\n#include <THC/THC.h>\n#else\nAT_CHECK(a);\n#endif\n",
    "a choice in a choice": "#ifdef A\n#if HAS_VERSION\nAT_CHECK(a);\n#endif\n#endif\n",
    "what is there is taken": "#if __has_include(<THC/THC.h>)\n#include <THC/THC.h>\n#endif\n",
    "never compiled": "#if 0\nAT_CHECK(a);\n#endif\n",
    "the new way": "AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), name, [&] {});\n",
    "deprecated, but there": "x.type().is_cuda(); x.data<float>(); AT_ASSERT(a); AT_ERROR(b);\n",
    "a text that is not closed": 'puts("AT_CHECK\n',
}


@pytest.mark.parametrize("case", USED)
def test_a_use_is_found(case: str, tmp_path: Path) -> None:
    text, wanted = USED[case]
    assert read_text(tmp_path, "ops.cu", text) == (wanted, ())


@pytest.mark.parametrize("case", QUIET)
def test_what_is_no_use_is_passed_over(case: str, tmp_path: Path) -> None:
    assert read_text(tmp_path, "ops.cu", QUIET[case]) == ([], ())


def test_what_a_header_of_the_project_defines_is_there(tmp_path: Path) -> None:
    files = {
        "src/compat.h": "#ifndef AT_CHECK\n#define AT_CHECK TORCH_CHECK\n#endif\n",
        "src/ops.cpp": "AT_CHECK(a);\nTHCState *state;\n",
    }
    assert uses(read(str(tree(tmp_path, files)), INTERFACES)) == ["THCState src/ops.cpp:2"]
