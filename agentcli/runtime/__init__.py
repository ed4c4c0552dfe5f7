"""The one place where the rooms meet: builds, wires, closes."""
