"""Demangles the lines of standard input, in a process of its own; the standard library only.

A line that cannot be demangled comes back empty.
"""

import ctypes
import sys


def main() -> None:
    """Answer line by line."""
    library = ctypes.CDLL("libstdc++.so.6")
    demangle = library["__cxa_demangle"]
    demangle.restype = ctypes.c_void_p
    demangle.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    status = ctypes.c_int(0)
    for line in sys.stdin.buffer.read().split(b"\n"):
        # What it returns is never freed: the process ends.
        found = demangle(line, None, None, ctypes.byref(status))
        text = ctypes.string_at(found) if found and status.value == 0 else b""
        sys.stdout.buffer.write(text.replace(b"\n", b" ") + b"\n")


main()
