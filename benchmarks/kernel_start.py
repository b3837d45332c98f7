"""The cost of a sandboxed kernel, beside an ordinary one in the same run.

    python -m benchmarks.kernel_start [--kernels 10]

Each kernel is started, runs a lesson's first cell (`import torch, …`) as soon as it answers, and is ended.
Wall time is what the grading process waits. Processor time is the sum for the kernel with all its processes, the
fork server's work for it, and the grading process itself. Memory is read from the kernel's smaps_rollup after the
cell: `private` is held by no other process, `share` (PSS) adds a part of the memory that several hold. Figures are
medians over the kernels; the two kinds take turns, so that a busy machine slows both.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import tempfile
import time
from typing import Any

import psutil  # type: ignore[import-untyped, unused-ignore] # its types are a package of their own
from jupyter_client.kernelspec import get_kernel_spec
from jupyter_client.manager import KernelManager
from rich.progress import track

from grading.sandbox import require
from grading.sandbox.launch import server

FIRST_CELL = (
    "import torch\nfrom torch import nn\nimport matplotlib.pyplot as plt\nimport course\ntorch.ones(3) @ torch.ones(3)"
)
KINDS = ("attention-sandbox", "local-provisioner")
SHOWN = ("start", "ready", "first cell", "torn down", "all wall", "all processor", "private MiB", "share MiB")


def manager_of(kind: str) -> Any:
    manager = KernelManager(kernel_name="python3", client_class="jupyter_client.blocking.client.BlockingKernelClient")
    manager._kernel_spec = get_kernel_spec("python3")
    manager._kernel_spec.metadata = {"kernel_provisioner": {"provisioner_name": kind, "config": {}}}
    return manager


def await_reply(client: Any, message: str) -> dict[str, Any]:
    while True:
        reply = client.get_shell_msg(timeout=60)
        if reply["parent_header"].get("msg_id") == message:
            return dict(reply["content"])


def process_of(manager: Any, kind: str) -> psutil.Process:
    if kind == "local-provisioner":
        return psutil.Process(manager.provisioner.process.pid)
    return max(psutil.Process(server().process.pid).children(recursive=True), key=lambda process: process.create_time())


def memory(pid: int) -> tuple[float, float]:
    """(private, share) of a process's memory in MiB, as in the module's docstring."""
    with open(f"/proc/{pid}/smaps_rollup") as stream:
        found = {line.split(":")[0]: int(line.split()[1]) / 1024 for line in list(stream)[1:]}
    return found["Private_Clean"] + found["Private_Dirty"], found["Pss"]


def own_processor_time() -> float:
    """CPU seconds of this process, its ended children and the running fork server."""
    used = sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    inner = psutil.Process(server().process.pid).children()[0].cpu_times()
    return float(used + inner.user + inner.system)


def one(kind: str, directory: str) -> dict[str, float]:
    manager = manager_of(kind)
    manager.transport, manager.ip = "ipc", f"{directory}/k"
    processor, began = own_processor_time(), time.perf_counter()
    manager.start_kernel(cwd=directory)
    started = time.perf_counter()
    client = manager.client()
    client.start_channels(stdin=False, hb=False, control=False)
    await_reply(client, client.kernel_info())
    ready = time.perf_counter()
    reply = await_reply(client, client.execute(FIRST_CELL))
    assert reply["status"] == "ok", reply
    ran = time.perf_counter()
    private, share = memory(process_of(manager, kind).pid)
    ending = time.perf_counter()
    client.stop_channels()
    manager.shutdown_kernel(now=True)
    ended = time.perf_counter()
    of_kernel = getattr(manager.provisioner, "cpu_seconds", None) or 0.0  # an ordinary one is among our children
    return {
        "start": started - began,
        "ready": ready - started,
        "first cell": ran - ready,
        "torn down": ended - ending,
        "all wall": ran - began + ended - ending,
        "all processor": own_processor_time() - processor + of_kernel,
        "private MiB": private,
        "share MiB": share,
    }


def main(arguments: list[str] | None = None) -> list[str]:
    """Measure and print; returns the lines of the summary."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kernels", type=int, default=10, help="how many of each kind")
    count = parser.parse_args(arguments).kernels
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    require()
    began = time.perf_counter()
    running = server()
    took = time.perf_counter() - began
    process = psutil.Process(running.process.pid).children()[0]
    processor = sum(process.cpu_times()[:2])
    print(f"fork server, once a grading process: {took:.2f} s wall, {processor:.2f} s processor")
    with tempfile.TemporaryDirectory() as directory:
        seen: dict[str, list[dict[str, float]]] = {kind: [] for kind in KINDS}
        for _ in track(range(count), f"{count} kernels of each kind"):
            for kind in KINDS:
                seen[kind].append(one(kind, directory))
    print(f"fork server's own memory: {memory(process.pid)[1]:.0f} MiB\n")
    print(f"medians of {count} kernels each   sandboxed   ordinary      ratio")
    found = {name: [statistics.median(kernel[name] for kernel in seen[kind]) for kind in KINDS] for name in SHOWN}
    for name, (ours, theirs) in found.items():
        print(f"{name:<30} {ours:>9.3f} {theirs:>10.3f}   {theirs / ours:>7.1f}x")
    up = [found["start"][i] + found["ready"][i] for i in (0, 1)]
    return [
        f"ready after      {up[0]:6.2f} s, an ordinary one after {up[1]:.2f} s: {up[1] / up[0]:.0f} times as long",
        f"processor time   {found['all processor'][0]:6.2f} s, an ordinary one {found['all processor'][1]:.2f} s",
        f"memory           {found['private MiB'][0]:6.0f} MiB of its own, an ordinary one "
        f"{found['private MiB'][1]:.0f} MiB",
    ]


if __name__ == "__main__":
    main()
