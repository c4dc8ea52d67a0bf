# SPDX-License-Identifier: Apache-2.0
"""Runs commands for the tests, one at a time, and reports how they ended.

A process of its own because Linux counts the memory of the parent at the moment of fork into ru_maxrss of the child:
started from a small interpreter, the figure is that of the command. One JSON request a line on stdin, one answer a line
on stdout.
"""

import json
import os
import resource
import signal
import sys


def child(request):
    """Never returns."""
    try:
        os.setsid()
        os.dup2(os.open(request["stdin"], os.O_RDONLY), 0)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        os.dup2(os.open(request["stdout"], flags, 0o600), 1)
        os.dup2(os.open(request["stderr"], flags, 0o600), 2)
        if request["address_space"]:
            resource.setrlimit(resource.RLIMIT_AS, (request["address_space"],) * 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        if request["cwd"]:
            os.chdir(request["cwd"])
        os.execve(request["args"][0], request["args"], request["env"])
    except OSError as error:
        os.write(2, f"launcher: {request['args'][0]}: {error}\n".encode())
    os._exit(127)


def serve():
    for line in sys.stdin:
        request = json.loads(line)
        pid = os.fork()
        if pid == 0:
            child(request)
        expired = []

        def expire(_signal, _frame, pid=pid, expired=expired):
            expired.append(True)
            os.kill(pid, signal.SIGKILL)

        signal.signal(signal.SIGALRM, expire)
        signal.setitimer(signal.ITIMER_REAL, request["timeout"])
        _, status, usage = os.wait4(pid, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        answer = {
            "code": os.WEXITSTATUS(status) if os.WIFEXITED(status) else None,
            "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else None,
            "timed_out": bool(expired),
            "peak_rss_bytes": usage.ru_maxrss * 1024,
            "cpu_seconds": usage.ru_utime + usage.ru_stime,
        }
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    serve()
