"""Lines for jupyterhub_config.py: grade submissions of a course as they arrive, as a service of the hub (docs/hub.md).

The hub starts the service, and stops it. Adapt the command's path, the course and the account.
"""

c = get_config()  # noqa: F821  # JupyterHub defines it

c.JupyterHub.services = [
    {
        "name": "grading-watch",
        "command": ["/opt/course/bin/grading", "watch", "--course", "/srv/course"],
        "url": "http://127.0.0.1:10101",  # a free port of this machine, for the page with its state
        "user": "grader",  # a Unix account; without this line, the hub's own
    }
]
