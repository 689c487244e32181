# SPDX-License-Identifier: MIT
"""The waits of a trace, as `txtrace waits` finds them: there is one model of waits, that of the tool."""

import errno
import json
import os
import shutil
import subprocess
import warnings
from typing import Any, Dict, Iterator, Optional, Sequence

from ._abi import TraceError, prefix


def find_tool() -> str:
    """Return the path of the tool: $TXTRACE, the one that was installed with this package, or txtrace in PATH."""
    named = os.environ.get("TXTRACE")
    if named:
        return named
    beside = os.path.join(prefix(), "bin", "txtrace")
    if os.access(beside, os.X_OK):
        return beside
    found = shutil.which("txtrace")
    if not found:
        raise FileNotFoundError("the program txtrace is not in PATH; TXTRACE=FILE names it")
    return found


def run_json(arguments: Sequence[str], path: str) -> Any:
    """Run a command of the tool with a file, and return what it prints with --format json."""
    command = [find_tool(), arguments[0], "--format=json", *arguments[1:], "--", path]
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           check=False)
    if ended.returncode != 0:
        why = ended.stderr.decode("utf-8", "replace").strip()
        raise TraceError(errno.EINVAL, why or f"{command[0]} ended with {ended.returncode}", path)
    for line in ended.stderr.decode("utf-8", "replace").splitlines():
        warnings.warn(line, stacklevel=3)  # what the trace lacks
    return json.loads(ended.stdout)


def waits(path: str, expression: Optional[str], tick_ns: Optional[float]) -> Iterator[Dict[str, Any]]:
    """Yield each wait as txtrace-waits(1) describes it."""
    options = [] if expression is None else [f"--filter={expression}"]
    if tick_ns is not None:
        options.append(f"--tick={tick_ns!r}")
    yield from run_json(["waits", *options], path)["waits"]
