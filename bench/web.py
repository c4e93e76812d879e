"""How many requests a second the synthetic web serves: ``python -m bench.web [--seconds 3]``.

The server runs in a process of its own; two raw-socket clients on keep-alive connections ask for every page of the web
in turn and only count bytes. Two rows: `drawn` (a web so large that each page is drawn anew) and `kept` (a web that the
server's page cache holds). Reported: requests/s as seen by the clients, and the server's own CPU time a request, which
says what one core can serve when the clients do not compete for it.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.ending import end_with
from bench.process import cpu_s
from tests.web.paths import Resource
from tests.web.web import Web, load_web


def client(web: Web, number: int, clients: int, seconds: float) -> tuple[int, int]:
    """(answers, bytes) that one client got; it pipelines nothing and parses no more than the length."""
    connections: dict[int, socket.socket] = {}
    targets = []
    for site in web.sites[number::clients]:
        connections[site.index] = socket.create_connection((site.address, site.port))
        for i in range(site.pages):
            target = web.paths.path(Resource(site.index, "page", i))
            head = f"GET {target} HTTP/1.1\r\nHost: {site.host}\r\nUser-Agent: bench/0\r\n\r\n"
            targets.append((site.index, head.encode()))
    targets.sort(key=lambda pair: hash(pair[1]))
    answers = size = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for index, request in targets:
            connections[index].sendall(request)
            size += _answer(connections[index])
            answers += 1
            if not answers % 64 and time.monotonic() > end:
                break
    return answers, size


def _answer(connection: socket.socket) -> int:
    data = connection.recv(1 << 18)
    place = data.find(b"Content-Length: ")
    length = int(data[place + 16 : data.find(b"\r\n", place)])
    left = data.find(b"\r\n\r\n") + 4 + length - len(data)
    while left > 0:
        left -= len(connection.recv(left))
    return length


def _run(folder: Path, number: int, clients: int, seconds: float) -> tuple[int, int]:
    return client(load_web(folder), number, clients, seconds)


def measure(hosts: int, pages: int, clients: int, seconds: float) -> dict[str, float]:
    """Serve a calm web and ask; the figures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = [sys.executable, "-m", "tests.web", "serve", "--mood", "calm", "--dir", name]
        command += ["--hosts", str(hosts), "--pages", str(pages)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as server:
            try:
                assert server.stdout is not None
                server.stdout.readline()
                with multiprocessing.get_context("spawn").Pool(clients) as pool:
                    pool.starmap(_run, [(folder, n, clients, 2.5) for n in range(clients)])  # warm
                    before_s = cpu_s(server.pid)
                    counts = pool.starmap(_run, [(folder, n, clients, seconds) for n in range(clients)])
                    used_s = cpu_s(server.pid) - before_s
                memory = int(Path(f"/proc/{server.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
            finally:
                server.terminate()
        answers, size = sum(n for n, _ in counts), sum(b for _, b in counts)
        return {
            "requests": answers,
            "requests_per_s": round(answers / seconds),
            "mean_page_bytes": round(size / answers),
            "server_cpu_us_per_request": round(used_s / answers * 1e6, 1),
            "requests_per_server_core_s": round(answers / used_s),
            "server_rss_mib": round(memory / 2**20),
        }


def main() -> int:
    """Print the figures, a JSON line a web."""
    parser = argparse.ArgumentParser(prog="python -m bench.web", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--hosts", type=int, default=40)
    parser.add_argument("--clients", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=3.0)
    arguments = parser.parse_args()
    for name, pages in (("drawn", 8_000), ("kept", 1_500)):
        print(json.dumps({"web": name, **measure(arguments.hosts, pages, arguments.clients, arguments.seconds)}))
    return 0


if __name__ == "__main__":
    end_with(main)
