"""One module a subcommand; thin."""
