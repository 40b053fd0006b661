"""Pages as text: prose filled to the width, code as it is."""

from __future__ import annotations

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
