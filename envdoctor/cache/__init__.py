"""What was worked out before, in the user's cache folder: an aid, ignored wherever in doubt."""
