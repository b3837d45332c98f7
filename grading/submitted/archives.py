"""List and read files in folders and archives, within a budget per submission.

**The bound.** A `Budget` counts names (files, folders, headers), stored and unpacked bytes, bytes of the name lists in
zips, and nested archives. Each step is charged before it is taken, so the budget bounds the work on any input. With the
default budget, a submission takes a few seconds of processor time, less than 64 MiB of memory (its names, and blocks of
`CHUNK` bytes) and at most 512 MiB of temporary files, deleted before the next submission. The name list of a downloaded
zip itself is the platform's. It takes about 1 KiB of memory per name, and is not read if it is longer than
`DOWNLOAD_LIST`.

Names are only labels: no path from an archive is written to, no link is followed, no device is opened.

Not used: `tarfile`, because its reader of extended headers takes quadratic time in Python before 3.11.10 and 3.12.6
(CVE-2024-6232) and unbounded memory; LZMA and bzip2 in zips, because no platform writes them (and with LZMA, the
archive decides how much memory it takes).
"""

from __future__ import annotations

import io
import os
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, cast

from ..errors import ArchiveError, OverBudget
from .file_names import printable

CHUNK = 2**16  # bytes in memory at a time
DOWNLOAD_LIST = 2**26  # bytes of the name list in a downloaded zip: half a million files
LONGEST_PATH, LONGEST_NAME = 1024, 255  # characters
LONGEST_HEADER = 2**16  # bytes of a long name, or of extended headers, in a tar archive
INSTALLED = frozenset(["venv", ".venv", "site-packages", "node_modules", ".git", "__pycache__"])  # never searched
FOLDER = "it is a folder"  # why an entry is not a file; not reported
BLOCK = 512  # bytes of a tar archive's block

Names = tuple[str, ...]  # path of folders, archives and a file, outermost first


@dataclass
class Budget:
    """Limits for one submission, and its use so far: `size`, `files`, `listed`.

    Once exceeded, it stays exceeded.
    """

    max_bytes: int = 2**29
    max_files: int = 2_000
    max_depth: int = 3
    max_listed: int = 2**20  # bytes of name lists: room for 2,000 files with names of 250 letters
    size: int = 0
    files: int = 0
    listed: int = 0

    def pay(self, size: int = 0, files: int = 0, listed: int = 0) -> None:
        self.size += size
        self.files += files
        self.listed += listed
        if self.listed > self.max_listed:
            raise OverBudget(f"its lists of names are longer than {self.max_listed / 2**20:,.0f} MiB")
        if self.files > self.max_files:
            raise OverBudget(f"it holds more than {self.max_files:,} files and folders")
        if self.size > self.max_bytes:
            raise OverBudget(f"reading it takes more than {self.max_bytes / 2**20:,.0f} MiB")


@dataclass(frozen=True)
class Entry:
    """A file or folder in a listing.

    It can be opened once, before the next entry is read.
    """

    path: Names
    unfit: str = ""  # why it cannot be read; `FOLDER` for a folder
    size: int = 0  # bytes as stored
    open: Callable[[], IO[bytes]] = io.BytesIO


def named(name: str, unfit: str = "", **how: Any) -> Entry:
    """Make the entry for a name in an archive.

    Backslashes become slashes. A name that leads out of the archive becomes one unfit label.
    """
    name = name.replace("\\", "/")
    parts = [part for part in name[: LONGEST_PATH + 1].split("/") if part not in ("", ".")]
    if name.startswith("/") or ".." in parts or name[1:3] == ":/":
        return Entry((name[:LONGEST_NAME],), "its path leads outside the archive")
    if len(name) > LONGEST_PATH or any(len(part) > LONGEST_NAME for part in parts):
        return Entry(tuple(part[:LONGEST_NAME] for part in parts), "its name is too long")
    if name.endswith("/") or not parts:
        unfit = FOLDER
    return Entry(tuple(parts) or (".",), unfit, **how)


def is_junk(path: Names) -> bool:
    """Whether an operating system or editor created it."""
    return above_junk(path) != path


def above_junk(path: Names) -> Names:
    """The folders above the first part that an operating system or editor created.

    The whole path if there is no such part.
    """
    made = (part in ("__MACOSX", ".ipynb_checkpoints") or part.startswith(("._", ".DS_Store")) for part in path)
    return path[: next((at for at, is_made in enumerate(made) if is_made), len(path))]


def installed(path: Names) -> str:
    """The folder of installed programs that a file is in, or "".

    Ignores the outermost name.
    """
    return next((part for part in path[1:] if part in INSTALLED), "")


@contextmanager
def reading() -> Iterator[None]:
    """Turn any exception from a damaged, forged or locked file into `ArchiveError`."""
    try:
        yield
    except ArchiveError:
        raise
    except Exception as error:  # zipfile and zlib raise almost any exception
        raise ArchiveError(f"it could not be read ({type(error).__name__}: {printable(str(error))})") from error


def copy(entry: Entry, into: IO[bytes], budget: Budget) -> None:
    """Write the entry's bytes to a file. Raises ArchiveError if it cannot be read."""
    if entry.unfit:
        raise ArchiveError(entry.unfit)
    budget.pay(size=entry.size)
    with reading(), entry.open() as stream:
        while chunk := stream.read(CHUNK):
            budget.pay(size=len(chunk))
            into.write(chunk)


def unpacked(
    entries: Iterable[Entry], budget: Budget, tell: Callable[[Names, str], None], depth: int = 0
) -> Iterator[Entry]:
    """Yield the entries, with archives replaced by their contents.

    Calls `tell(path, why)` for unreadable archives. Raises OverBudget.
    """
    for entry in entries:
        unpack = None if entry.unfit else archive_kind(entry.path[-1])
        if is_junk(entry.path) or (installed(entry.path) and entry.unfit != FOLDER):
            continue
        if unpack is None:
            yield entry
            continue
        try:
            if depth == budget.max_depth:
                raise ArchiveError("it is nested too deeply, in archives within archives")
            with tempfile.TemporaryFile() as file:
                copy(entry, file, budget)
                file.seek(0)
                with reading():
                    yield from unpacked(unpack(file, entry.path, budget), budget, tell, depth + 1)
        except OverBudget:
            raise
        except ArchiveError as why:
            tell(entry.path, str(why))


def archive_kind(name: str) -> Callable[[IO[bytes], Names, Budget], Iterable[Entry]] | None:
    """The function that lists archives with such a name; None if no archive has it."""
    name = name.lower()
    if name.endswith(".zip"):
        return in_nested_zip
    if name.endswith(".tar"):
        return in_tar
    if name.endswith((".tar.gz", ".tgz")):
        return in_gzipped_tar
    return None


def in_folder(folder: Path, root: Path) -> Iterator[Entry]:
    """Everything below a folder, with paths relative to `root`.

    A generator, since the folder may be huge.
    """
    waiting = [folder]
    while waiting:
        at = waiting.pop()
        try:
            items = os.scandir(at)
        except OSError as error:
            yield Entry(at.relative_to(root).parts, f"it could not be read ({error.strerror})")
            continue
        with items:
            for item in items:
                if item.is_dir(follow_symlinks=False) and item.name not in INSTALLED:
                    waiting.append(Path(item.path))
                yield on_disk(Path(item.path), root)


def on_disk(path: Path, root: Path) -> Entry:
    """The entry of a path, relative to `root`."""
    names = path.relative_to(root).parts
    try:
        status = path.lstat()
    except OSError as error:
        return Entry(names, f"it could not be read ({error.strerror})")
    if stat.S_ISDIR(status.st_mode):
        return Entry(names, FOLDER)
    if not stat.S_ISREG(status.st_mode):
        return Entry(names, "it is a link or a device")
    return Entry(names, size=status.st_size, open=lambda: path.open("rb"))


class _Listing:
    """A file that charges reads to the budget until `done`.

    `zipfile` reads the name list through it.
    """

    def __init__(self, file: IO[bytes], budget: Budget) -> None:
        self._file, self._budget = file, budget
        self._size = file.seek(0, os.SEEK_END)
        self.done = False
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        rest = max(0, self._size - self._file.tell())
        size = rest if size < 0 else min(size, rest)
        if not self.done:
            self._budget.pay(listed=size)
        return self._file.read(size)


def in_zip(file: IO[bytes], budget: Budget, within: Names = ()) -> list[Entry]:
    """The entries of a zip; only its name list is charged. Raises ArchiveError."""
    with reading():
        listing = _Listing(file, budget)
        archive = zipfile.ZipFile(cast(Any, listing))
        listing.done = True
        return [_zip_entry(archive, info, within) for info in archive.infolist()]


def _zip_entry(archive: zipfile.ZipFile, info: zipfile.ZipInfo, within: Names) -> Entry:
    unfit = ""
    if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
        unfit = "it is a link or a device"
    elif info.flag_bits & 1:
        unfit = "it is encrypted"
    elif info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        unfit = "it is compressed in an unusual way"
    entry = named(info.filename, unfit, size=info.compress_size, open=partial(archive.open, info))
    return Entry(within + entry.path, entry.unfit, entry.size, entry.open)


def in_nested_zip(file: IO[bytes], within: Names, budget: Budget) -> list[Entry]:
    entries = in_zip(file, budget, within)
    budget.pay(files=len(entries))
    return entries


class _GzipStream(io.RawIOBase):
    """The decompressed stream of a gzip file, charged to the budget as it is read."""

    def __init__(self, file: IO[bytes], budget: Budget) -> None:
        self._file, self._budget = file, budget
        self._inflate = zlib.decompressobj(wbits=31)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        out = b""
        while not out and not self._inflate.eof:
            data = self._inflate.unconsumed_tail or self._file.read(CHUNK)
            out = self._inflate.decompress(data, len(buffer))
            if not data and not out:
                raise EOFError("it is cut off")
        self._budget.pay(size=len(out))
        buffer[: len(out)] = out
        return len(out)


class _Part(io.RawIOBase):
    """The next `left` bytes of a stream."""

    def __init__(self, stream: IO[bytes], left: int) -> None:
        self._stream, self.left = stream, left

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = _read_exactly(self._stream, min(len(buffer), self.left))
        buffer[: len(data)] = data
        self.left -= len(data)
        return len(data)


def _read_exactly(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError("it is cut off")
    return data


def in_gzipped_tar(file: IO[bytes], within: Names, budget: Budget) -> Iterator[Entry]:
    return in_tar(cast(IO[bytes], io.BufferedReader(_GzipStream(file, budget), CHUNK)), within, budget)


def in_tar(stream: IO[bytes], within: Names, budget: Budget) -> Iterator[Entry]:
    """The entries of a tar archive (POSIX.1-1988 and 2001, GNU), read sequentially.

    Only ordinary files and folders are fit; sparse files, for example, are not. Raises ArchiveError, and the errors of
    streams.
    """
    attributes: dict[bytes, bytes] = {}  # from extended headers before a file's own header
    while (header := stream.read(BLOCK)).strip(b"\0"):
        budget.pay(files=1)
        kind = header[156:157]
        size = _checked_size(header)
        if kind in b"LKxg":
            if size > LONGEST_HEADER:
                raise ArchiveError("it has a header that is too long")
            body = _read_exactly(stream, size)
            attributes |= _records(body) if kind == b"x" else {b"path": body.split(b"\0")[0]} if kind == b"L" else {}
            _skip(stream, -size % BLOCK)
            continue
        size = 0 if kind in b"123456" else max(0, int(attributes.get(b"size", size)))
        unfit = FOLDER if kind == b"5" else "" if kind in b"07\0" else "it is a link or a device"
        if any(key.startswith(b"GNU.sparse") for key in attributes):
            unfit = "it is a sparse file"
        part = _Part(stream, size)
        entry = named(attributes.get(b"path", _header_name(header)).decode(errors="replace"), unfit)
        yield Entry(within + entry.path, entry.unfit, size, lambda part=part: cast(IO[bytes], part))  # type: ignore[misc]
        _skip(stream, part.left + -size % BLOCK)
        attributes = {}


def _header_name(header: bytes) -> bytes:
    name, folder = (field.split(b"\0")[0] for field in (header[:100], header[345:500]))
    return folder + b"/" + name if folder and header[257:263] == b"ustar\0" else name


def _checked_size(header: bytes) -> int:
    """The size in a tar header. Raises ArchiveError if its checksum is wrong."""
    if len(header) < BLOCK:
        raise ArchiveError("it is cut off")
    if sum(header) - sum(header[148:156]) + 8 * 32 != int(header[148:156].strip(b"\0 "), 8):
        raise ArchiveError("it is damaged, or not a tar archive")
    field = header[124:136]
    return int.from_bytes(field[1:], "big") if field[0] == 0x80 else max(0, int(field.strip(b"\0 ") or b"0", 8))


def _records(body: bytes) -> dict[bytes, bytes]:
    """Parse an extended header: records of `length key=value` and a newline."""
    found, at = {}, 0
    while at < len(body):
        space = body.index(b" ", at, at + 12)
        end = at + int(body[at:space])
        if not space < end <= len(body):
            raise ArchiveError("it has a damaged header")
        key, _, value = body[space + 1 : end - 1].partition(b"=")
        found[key] = value
        at = end
    return found


def _skip(stream: IO[bytes], size: int) -> None:
    while size > 0:
        size -= len(_read_exactly(stream, min(size, CHUNK)))
