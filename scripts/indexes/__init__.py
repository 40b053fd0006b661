"""Reads public indexes and writes what they list into the files of the matrices."""
