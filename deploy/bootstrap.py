"""Makes .venv with the exact versions of requirements.lock; needs nothing but Python itself.

Runs on any Python 3, so that an old one gets a sentence and not a syntax error. Says plainly what it does and what
went wrong. Run by the Makefile; a second run with an unchanged lock does nothing, and one beside another waits for it.
"""

import fcntl
import hashlib
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")
STAMP = os.path.join(VENV, "ulwembu-ready")
LOCK = os.path.join(ROOT, "requirements.lock")


def fail(message, code=1):
    """End with one line."""
    sys.stderr.write("setup: %s\n" % message)
    sys.exit(code)


def wanted():
    """What a finished environment was made from, and where: in another folder its commands would run the old one."""
    digest = hashlib.sha256((sys.version + VENV).encode("utf-8", "surrogateescape"))
    for name in (LOCK, os.path.join(ROOT, "pyproject.toml")):
        with open(name, "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()


def run(command, problem, held):
    """Run `command`; `problem` says what it means when it fails."""
    if subprocess.call(command, cwd=ROOT, pass_fds=[held]) != 0:
        fail(problem)


def alone():
    """Wait for another setup of this folder; what is to be held by all that is started, since a killed one leaves its
    pips at work."""
    held = os.open(ROOT, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("setup: another one is at work in this folder; waiting for it", flush=True)
        fcntl.flock(held, fcntl.LOCK_EX)
    except OSError:  # a file system without locks
        pass
    return held


def is_ready():
    """Whether a finished environment is there, and what it was made from has not changed."""
    if not os.path.exists(STAMP):
        return False
    with open(STAMP) as file:
        return file.read() == wanted()


def halves():
    """The requirements of the lock in two lists that take about equally long."""
    with open(LOCK) as file:
        lines = [line.strip() for line in file]
    lines = [line for line in lines if line and not line.startswith("#")]
    return lines[0::2], lines[1::2]


def main():
    """Create or renew the environment."""
    if sys.version_info < (3, 11):
        fail(
            "Python 3.11 or newer is needed, this is %s (%s); name another one with `make PYTHON=python3.12 ...`"
            % (sys.version.split()[0], sys.executable)
        )
    if is_ready():
        return
    held = alone()
    if is_ready():
        return
    print("setup: making .venv with the packages of requirements.lock (a minute or two)", flush=True)
    run(
        [sys.executable, "-m", "venv", "--clear", VENV],
        "could not make a virtual environment; the lines above say why (Debian, Ubuntu: apt-get install python3-venv?)",
        held,
    )
    pip = [os.path.join(VENV, "bin", "python"), "-m", "pip", "--disable-pip-version-check", "--quiet"]
    # Compiled when it is imported: to compile all, of which most is never used, is a third of the work.
    install = [*pip, "install", "--no-compile"]
    problem = "pip could not install the packages; the lines above say why (is the package registry reachable?)"
    # Two at a time, since one of them keeps one processor busy.
    started = [subprocess.Popen([*install, "--no-deps", *half], cwd=ROOT, pass_fds=[held]) for half in halves()]
    failed = [process for process in started if process.wait() != 0]
    if failed:
        fail(problem)
    run([*install, "-r", LOCK], problem, held)  # what these need beyond the lock on another platform
    run(
        [*pip, "install", "--no-deps", "--no-build-isolation", "-e", ROOT],
        "pip could not install the project itself; the lines above say why",
        held,
    )
    with open(STAMP, "w") as file:
        file.write(wanted())


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        fail("interrupted", 130)
