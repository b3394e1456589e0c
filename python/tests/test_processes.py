# ===- test_processes.py - Ctrl-C, progress, fork ------------------------=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #
"""What concerns the whole process is tried in one of its own."""

import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import time

import pytest

LONG = """
import numpy as np, fa
q = np.ones((1, 8, 8192, 64), np.float16)
out = np.full(q.shape, 7, np.float16)
fa.attention(q[:, :, :4], q[:, :, :4], q[:, :, :4])  # compiled
"""


def run(code, **options):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, **options
    )


INTERRUPT = (
    LONG
    + """
import signal, sys, time
late = []
def handler(number, frame):
    late.append(time.monotonic())
    raise KeyboardInterrupt
signal.signal(signal.SIGINT, handler)
print("ready", flush=True)
try:
    fa.attention(q, q, q, out=out)
except KeyboardInterrupt:
    print("stopped", time.monotonic() - late[0], (out == 7).all(), flush=True)
# And the process goes on as before.
small = q[:, :, :4]
assert np.array_equal(fa.attention(small, small, small), small)
print("alive")
"""
)


def test_ctrl_c_stops_a_launch():
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPT], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    sent = time.monotonic()
    process.send_signal(signal.SIGINT)
    words = process.stdout.readline().split()
    took = time.monotonic() - sent
    rest = process.stdout.read()
    assert process.wait() == 0
    assert words[0] == "stopped" and words[2] == "True", words
    assert took < 1, took
    assert rest == "alive\n"


def open_terminal():
    """Both ends of one with 80 columns; a bar in none is empty."""
    primary, secondary = pty.openpty()
    fcntl.ioctl(secondary, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
    return primary, secondary


def test_progress_on_a_terminal():
    """A bar after a while, on a terminal only."""
    pytest.importorskip("tqdm")
    code = LONG.replace("8192", "1024") + (
        "import fa._launch; fa._launch.QUIET_SECONDS = 0\nfa.attention(q, q, q)\n"
    )
    primary, secondary = open_terminal()
    process = subprocess.Popen([sys.executable, "-c", code], stderr=secondary)
    os.close(secondary)
    shown = b""
    try:
        while chunk := os.read(primary, 4096):
            shown += chunk
    except OSError:
        pass  # the terminal is closed when the process ends
    os.close(primary)
    assert process.wait() == 0
    assert b"fa:" in shown and b"/64" in shown, shown
    assert run(code, check=True).stderr == ""


def test_short_runs_show_nothing():
    code = LONG + "fa.attention(q[:, :, :9], q[:, :, :9], q[:, :, :9])\n"
    primary, secondary = open_terminal()
    process = subprocess.Popen([sys.executable, "-c", code], stderr=secondary)
    assert process.wait() == 0
    os.write(secondary, b".")
    assert os.read(primary, 4096) == b"."
    os.close(primary)
    os.close(secondary)


def test_an_error_in_the_progress_reaches_the_caller():
    code = LONG.replace("8192", "1024") + (
        "import fa._launch\n"
        "def fail(self, done, total): raise OSError('no more terminal')\n"
        "fa._launch._Progress.update = fail\n"
        "try: fa.attention(q, q, q, out=out)\n"
        "except OSError as error: print(error, (out == 7).all())\n"
    )
    assert run(code, check=True).stdout == "no more terminal True\n"


FORK = """
import os, sys, warnings
warnings.simplefilter("ignore")
import numpy as np, fa
q = np.ones((1, 1, 3, 16), np.float16)
fa.attention(q, q, q)
child = os.fork()
if child == 0:
    try:
        fa.attention(q, q, q, out_dtype="f32")
    except RuntimeError as error:
        print(type(error).__name__, error, flush=True)
        os._exit(5)
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5
fa.attention(q, q, q)  # the parent is as before
"""


def test_fork_after_use():
    result = run(FORK, check=True)
    assert "fork" in result.stdout and "spawn" in result.stdout, result.stdout


def test_fork_before_use():
    code = FORK.replace("fa.attention(q, q, q)\nchild", "child").replace("== 5", "== 0")
    assert run(code, check=True).stdout == ""


SPAWN = """
import multiprocessing
import numpy as np
import fa

def work(n):
    q = np.full((1, 1, 3, 16), n, np.float16)
    return float(fa.attention(q, q, q)[0, 0, 0, 0])

if __name__ == "__main__":
    work(1)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        print(pool.map(work, [1, 2, 3]))
"""


def test_spawn_after_use(tmp_path):
    script = tmp_path / "spawned.py"
    script.write_text(SPAWN)
    result = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=True
    )
    assert result.stdout == "[1.0, 2.0, 3.0]\n"


def test_fa_alone_imports_neither_torch_nor_tqdm():
    code = "import sys, fa\nprint({'torch', 'tqdm', 'matplotlib'} & set(sys.modules))"
    assert run(code, check=True).stdout == "set()\n"


def test_without_its_library(tmp_path):
    result = run("import fa", env={**os.environ, "FA_LIBRARY": "/nowhere/libFA-C.so"})
    assert result.returncode == 1
    assert "ImportError: fa could not load its library /nowhere" in result.stderr
