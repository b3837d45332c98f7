"""Student code that can reach nothing: a Jupyter kernel provisioner over a fork server.

`docs/security.md` says what is promised and by which mechanism.
"""

from .system import doctor, grants, require
from .policy import Policy, SandboxUnavailable

__all__ = ["Policy", "SandboxUnavailable", "doctor", "grants", "require"]
