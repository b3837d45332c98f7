"""Student code that can reach nothing: a Jupyter kernel provisioner over a fork server.

`docs/security.md` says what is promised and by which mechanism.
"""

from .host_check import grants, require
from .policy import Policy, SandboxLost, SandboxUnavailable

__all__ = ["Policy", "SandboxLost", "SandboxUnavailable", "grants", "require"]
