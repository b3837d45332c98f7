"""Student code that can reach nothing: a Jupyter kernel provisioner over a fork server.

`docs/security.md` says what is promised and by which mechanism.
"""

from .policy import Policy, SandboxLost, SandboxUnavailable
from .system import doctor, grants, require

__all__ = ["Policy", "SandboxLost", "SandboxUnavailable", "doctor", "grants", "require"]
