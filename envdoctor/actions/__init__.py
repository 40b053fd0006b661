"""What touches the world on purpose: processes, installers, the network."""
