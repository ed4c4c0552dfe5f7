"""The dynamic region: one file per section, each with one function that makes its section from a ``PromptContext``.

``assemble.dynamic_sections`` lists them in order.
"""
