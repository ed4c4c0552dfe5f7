"""The system prompt: named sections with a cache policy each, a boundary, a precedence, and the blocks that are sent.

``section`` (the two factories, resolve, clear) · ``boundary`` · ``static/*.md`` · ``dynamic/`` (a file per section) ·
``assemble`` (the default prompt) · ``effective`` (who wins) · ``head`` (what the first message says) · ``subagent`` ·
``split`` (parts to blocks) · ``environment`` · ``inspect`` · ``source`` (all of it behind one port).  Pure but for
``environment``, which reads the machine once: no SDK, no clock, no module state.
"""
