"""A Jupyter kernel provisioner over a fork server that confines student code.

`docs/security.md` lists the guarantees and their mechanisms.
"""

from .host_check import grants, require
from .policy import Policy, SandboxLost, SandboxUnavailable

__all__ = ["Policy", "SandboxLost", "SandboxUnavailable", "grants", "require"]
