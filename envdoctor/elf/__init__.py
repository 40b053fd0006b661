"""Reads records out of ELF files; judges nothing."""
