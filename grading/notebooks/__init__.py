"""The notebook that a student handed in: found, read, repaired beside the one that was released, and made harmless.

Here is neither nbgrader nor a kernel: notebooks come in as bytes or JSON, and go out as JSON.
"""
