"""A submitted notebook: found, read, repaired against the release, sanitized.

This uses neither nbgrader nor a kernel: notebooks come in as bytes or JSON, and go out as JSON.
"""
