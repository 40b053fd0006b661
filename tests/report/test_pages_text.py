"""Pages as text: prose filled to the width, code as it is."""

from __future__ import annotations

from rich.cells import cell_len

from envdoctor.report.pages import explanation_text, listing_text
from envdoctor.report.view import View
from envdoctor.rules.page import Page

PAGE = Page(
    code="ED412",
    name="torch-abi-mismatch",
    severity="error",
    severities=("error", "warning"),
    phase="import",
    title="A compiled extension was built against another torch",
    body="""\
# Symptom

`import mmcv.ops` ends in `undefined symbol: _ZN2at...`, for instance
after an upgrade.

- first, `python -m pip install
  x`
- second

```sh
python -c 'import torch; print(torch.__version__, torch.version.cuda, torch.cuda.is_available())'
```
""",
)


def test_page() -> None:
    assert explanation_text(PAGE, View(width=60)) == (
        """\
ED412 torch-abi-mismatch (error or warning, phase import)
A compiled extension was built against another torch

# Symptom

`import mmcv.ops` ends in `undefined symbol: _ZN2at...`, for
instance after an upgrade.

- first, `python -m pip install x`
- second

```sh
python -c 'import torch; print(torch.__version__, torch.version.cuda, torch.cuda.is_available())'
```
"""
    )


def test_page_in_chinese() -> None:
    page = Page(
        code="ED412",
        name="torch-abi-mismatch",
        severity="error",
        severities=("error", "warning"),
        phase="import",
        title="A compiled extension was built against another torch",
        title_zh="编译扩展是针对另一个 torch 构建的",
        body="## Symptom\n\nNone.\n",
        body_zh="## 症状\n运行 `import mmcv.ops` 时报错，\n报错信息为\n`undefined symbol`。\n"
        "\n- 重装\n",
    )
    told = explanation_text(page, View(width=30), "zh")
    assert told == (
        "ED412 torch-abi-mismatch（错误或警告，导入阶段）\n"
        "编译扩展是针对另一个 torch 构\n"
        "建的\n"
        "\n"
        "## 症状\n"
        "运行 `import mmcv.ops` 时报\n"
        "错，报错信息为\n"
        "`undefined symbol`。\n"
        "\n"
        "- 重装\n"
    )
    assert max(cell_len(line) for line in told.splitlines()[1:]) <= 30
    assert listing_text([page], View(width=80), "zh") == (
        "ED412 torch-abi-mismatch（错误或警告，导入阶段）\n"
        "      编译扩展是针对另一个 torch 构建的\n"
    )
    untold = PAGE
    assert explanation_text(untold, View(), "zh").splitlines()[1] == PAGE.title


def test_inline_code_is_not_broken() -> None:
    page = Page(
        "ED100", "a", "error", "run", "t", body="word " * 9 + "`pip install torch==2.4.1`\n"
    )
    assert "`pip install torch==2.4.1`" in explanation_text(page, View(width=60)).splitlines()


def test_list() -> None:
    assert listing_text([PAGE], View(width=50)) == (
        "ED412 torch-abi-mismatch (error or warning, import)\n"
        "      A compiled extension was built against\n"
        "      another torch\n"
    )
