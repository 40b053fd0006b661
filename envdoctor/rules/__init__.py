"""What is wrong with an environment: relations broken, and rules on paths, files and variables."""
