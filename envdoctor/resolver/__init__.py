"""From relations to stacks. Knows no package's name."""
