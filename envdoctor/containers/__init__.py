"""What an answer becomes in an image: sources that are patched there."""
