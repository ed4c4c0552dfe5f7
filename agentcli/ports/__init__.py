"""The Protocols through which the rooms see each other, and the values that pass through them.

Rooms on one storey never import each other; each imports the port it needs from here, and ``runtime/`` brings them
together.  One module per seam: ``model`` · ``prompt`` · ``tools`` · ``jobs`` · ``skills`` · ``permissions`` ·
``elicitation`` · ``sessions`` · ``frontend`` · ``display``.
"""
