"""A shared object or program, with what the dynamic loader reads of it."""

from __future__ import annotations

from typing import Tuple

from envdoctor.elf.dynamic import VERDEF, Dynamic, read_build_id, read_dynamic, read_interpreter
from envdoctor.elf.image import ET_DYN, ET_EXEC, Image, open_image
from envdoctor.elf.symbols import Symbols, Undefined
from envdoctor.elf.versions import Versions, read_versions


class Library:
    """An ELF file that can be loaded; it keeps the file open. Close it, or use `with`."""

    def __init__(self, image: Image) -> None:
        """Read its dynamic section and versions. Raises ElfError if they cannot be read."""
        self.image = image
        dynamic = read_dynamic(image)
        self.is_static = dynamic is None
        self.dynamic = dynamic or Dynamic()
        self.versions: Versions = read_versions(image, self.dynamic)
        self.symbols = Symbols(image, self.dynamic, self.versions)

    @property
    def machine(self) -> str:
        """The processor that it is for, as `uname -m` calls it."""
        return self.image.machine

    @property
    def bits(self) -> int:
        """32 or 64."""
        return 64 if self.image.layout.wide else 32

    @property
    def is_loadable(self) -> bool:
        """Whether it is a program or a library, and no object file or core dump."""
        return self.image.type in (ET_DYN, ET_EXEC) and not self.is_static

    @property
    def has_versions(self) -> bool:
        """Whether it defines versions, its own name alone perhaps."""
        return VERDEF in self.dynamic.tags

    @property
    def build_id(self) -> str:
        """The build id in hexadecimal digits, "" without one. Raises ElfError."""
        return read_build_id(self.image)

    @property
    def interpreter(self) -> str:
        """The loader that a program asks for, "" of a library. Raises ElfError."""
        return read_interpreter(self.image)

    def undefined(self) -> Tuple[Undefined, ...]:
        """Every symbol that must come from elsewhere. Raises ElfError."""
        return tuple(self.symbols.undefined())

    def close(self) -> None:
        """Close the file."""
        self.image.close()

    def __enter__(self) -> Library:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_library(path: str) -> Library:
    """Open an ELF file. Raises ElfError if it cannot be read, or is no ELF file."""
    image = open_image(path)
    try:
        return Library(image)
    except BaseException:
        image.close()
        raise
