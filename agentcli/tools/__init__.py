"""The built-in tools: a file of code and a file of words for each, and the registry that lists them."""
