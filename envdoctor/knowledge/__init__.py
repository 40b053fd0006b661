"""Loads the matrices into typed, indexed objects and holds their laws."""
