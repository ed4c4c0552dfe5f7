"""The interactive terminal: prompt_toolkit reads, rich draws, the terminal's own scrollback keeps."""
