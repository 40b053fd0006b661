"""Stacks as files that other tools install: requirements, pylock.toml, a shell script."""
