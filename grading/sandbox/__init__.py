"""Student code that can reach nothing: a Jupyter kernel provisioner over a fork server.

`docs/security.md` says what is promised and by which mechanism.
"""

from .policy import Policy, SandboxUnavailable
from .system import doctor, grants, require

__all__ = ["Policy", "SandboxUnavailable", "doctor", "grants", "require"]
