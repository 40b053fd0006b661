"""What tells the content of a file from another's, without reading all of it."""

from __future__ import annotations

import zlib

from envdoctor.elf.image import ElfError, Image, open_image
from envdoctor.elf.library import Library

#: Bytes that are read at each end of a file without a build id.
_END = 1 << 16


def content_key(path: str) -> str:
    """A text that is equal for equal files, wherever they lie and whenever they were written.

    The build id, which the linker makes of all that it writes, where there is one; and with it what
    the dynamic section says, for auditwheel and conda change SONAME, NEEDED and RUNPATH in files
    that keep their id. Of other files the size, and a checksum of both ends. Inodes and times play
    no part: those of an overlay or of an NFS mount differ from one mount to the next, and pip gives
    all files of a wheel one time. Raises ElfError if the file cannot be read.
    """
    with open_image(path) as image:
        return _of(image)


def _of(image: Image) -> str:
    try:
        library = Library(image)
        dynamic, build_id = library.dynamic, library.build_id
    except ElfError:
        build_id = ""
    if build_id:
        said = (
            dynamic.soname,
            dynamic.needed,
            dynamic.rpath,
            dynamic.runpath,
            dynamic.flags,
            library.versions.needs,
        )
        return f"{build_id} {image.size} {zlib.crc32(repr(said).encode('utf-8', 'replace')):08x}"
    head = image.read(0, _END)
    tail = image.read(max(0, image.size - _END), _END)
    return f"{image.size} {zlib.crc32(head):08x} {zlib.crc32(tail):08x}"
