"""Grading on a Dask cluster, when a course outgrows a machine (docs/scale.md)."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from grading.plugin import Plugin

if TYPE_CHECKING:
    from .cluster import Cluster

PLUGIN = Plugin(workers=f"{__name__}:open_workers")


def open_workers(address: str) -> AbstractContextManager[Cluster]:
    """The workers of the scheduler at this address. Raises MissingExtra, ClusterLost."""
    from grading.extras import demand_extra

    demand_extra("cluster", "Grading on a cluster")
    from .cluster import cluster

    return cluster(address)
