"""IPython's kernel on sockets that the grading process has already opened.

The grading process listens on the five channels and passes the descriptors on, so a kernel shares no directory with
anybody, and the right to open sockets can be taken from it before it starts.
"""

from __future__ import annotations

import logging
import os
import sys
from typing import Any

import torch
import zmq
from ipykernel import kernelapp
from ipykernel.heartbeat import Heartbeat
from ipykernel.iostream import IOPubThread
from ipykernel.kernelapp import IPKernelApp
from traitlets import Dict
from traitlets.config import Config
from zmq.eventloop.zmqstream import ZMQStream


def _listen(sock: zmq.Socket[Any], descriptor: int) -> None:
    sock.setsockopt(zmq.USE_FD, descriptor)
    sock.bind("ipc:///opened-already")  # never used, because the descriptor is there


class _Heartbeat(Heartbeat):
    descriptor: int

    def _try_bind_socket(self) -> None:
        _listen(self.socket, self.descriptor)


class _Output(IOPubThread):
    """Carries the prints of forked processes through a Unix socket instead of TCP."""

    _here: str

    def _setup_pipe_in(self) -> None:
        self._pipe_uuid = os.urandom(16)
        pipe = self.socket.context.socket(zmq.PULL)
        pipe.linger = 0
        pipe.bind(self._here)
        self._pipe_in = ZMQStream(pipe, self.io_loop)
        self._pipe_in.on_recv(self._handle_pipe_msg)

    def _setup_pipe_out(self) -> tuple[zmq.Context[Any], zmq.Socket[Any]]:
        context = zmq.Context()
        pipe = context.socket(zmq.PUSH)
        pipe.linger = 3000  # ms, as ipykernel has it
        pipe.connect(self._here)
        return context, pipe


vars(kernelapp)["IOPubThread"] = _Output  # IPKernelApp reads it there


class SandboxKernelApp(IPKernelApp):
    """IPKernelApp on open descriptors: no connection file, profile or parent signals."""

    channels: Any = Dict(help="open listening sockets by the name of their channel")

    def init_connection_file(self) -> None: ...

    def write_connection_file(self, **kwargs: Any) -> None: ...

    def log_connection_info(self) -> None: ...

    def _bind_socket(self, sock: zmq.Socket[Any], port: int) -> int:
        name = next(n for n in self.channels if getattr(self, f"{n}_socket", None) is sock)
        _listen(sock, self.channels[name])
        return port

    def init_control(self, context: zmq.Context[Any]) -> None:
        super().init_control(context)  # type: ignore[no-untyped-call] # ipykernel's
        # It would keep trying to connect to the shell's socket, for a debugger that is not there.
        self.debug_shell_socket.close(linger=0)
        self.debug_shell_socket = context.socket(zmq.DEALER)

    def init_heartbeat(self) -> None:
        self.heartbeat = _Heartbeat(zmq.Context(), ("ipc", "", self.hb_port))  # type: ignore[no-untyped-call] # ipykernel's
        self.heartbeat.descriptor = self.channels["hb"]
        self.heartbeat.start()


def initialize(channels: dict[str, int], key: bytes, scheme: str, threads: int, temporary: str) -> SandboxKernelApp:
    """A kernel, ready to be started, on open listening sockets by channel name.

    temporary: the directory for its temporary files
    """
    torch.set_num_threads(threads)
    # On a busy machine it would report in the student's outputs that it looks for fonts
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    sys.argv = ["ipykernel_launcher.py"]
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShellApp.ignore_cwd = True
    config.Session.key = key
    config.Session.signature_scheme = scheme
    _Output._here = f"ipc://{temporary}/.prints"
    app = SandboxKernelApp.instance(
        config=config,
        channels=channels,
        transport="ipc",
        ip="sandbox",
        **{f"{name}_port": n for n, name in enumerate(channels, 1)},
    )
    app.initialize([])  # type: ignore[no-untyped-call] # ipykernel's
    sys.path.append("")  # as in any notebook, but last, so that no file there shadows a module
    return app


#: Modules that a kernel would import at its start, or at its first error, optimizer (`torch._dynamo`, also for
#: `torch.func.grad`, checkpoints and tensors on the meta device: 1 s) or `vmap`, besides this module's imports.
AHEAD = (
    "IPython.core.completerlib",
    "IPython.core.debugger",
    "IPython.core.oinspect",
    "IPython.extensions.storemagic",
    "PIL.BmpImagePlugin",
    "PIL.GifImagePlugin",
    "PIL.JpegImagePlugin",
    "PIL.PngImagePlugin",
    "PIL.PpmImagePlugin",
    "encodings.ascii",
    "encodings.idna",
    "encodings.latin_1",
    "faulthandler",
    "ipykernel.debugger",
    "numpy.random",
    "pdb",
    "psutil",
    "pygments.formatters.html",
    "pygments.formatters.terminal256",
    "pygments.lexers.python",
    "stack_data",
    "tornado.platform.asyncio",
    "torch._dynamo",
    "torch.fx.experimental.symbolic_shapes",
    "tornado.queues",
)
#: Modules that a kernel would import at its first picture: 0.5 s, with matplotlib's search for fonts
DRAWING = (
    "IPython.core.magics.pylab",
    "IPython.core.pylabtools",
    "matplotlib.backends.backend_agg",
    "matplotlib.pyplot",
    "matplotlib_inline.backend_inline",
)
#: Modules that a kernel must not import: a debugger, which listens on TCP and takes half the start.
NEVER = ("debugpy",)
