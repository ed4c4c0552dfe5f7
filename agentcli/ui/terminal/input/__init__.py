"""What a person types: keys, pastes, history, completion."""
