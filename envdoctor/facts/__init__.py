"""What is: observes a machine and a Python environment. Reads only."""
