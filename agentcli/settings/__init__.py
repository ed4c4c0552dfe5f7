"""Settings: where each value comes from, which project may bring its own, and which features are on."""
