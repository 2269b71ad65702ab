"""The two sides of bench/protocol.ts: a line out, and waiting for the driver; and the flags of a case."""

import argparse
import json
import os
import sys
import threading
from collections.abc import Callable
from typing import Any


def flags(**defaults: Any) -> argparse.Namespace:
    """The flags after the name of the case, as --cert-dir=PATH for cert_dir."""
    parser = argparse.ArgumentParser()
    for name, default in defaults.items():
        parser.add_argument(f"--{name.replace('_', '-')}", default=default, type=type(default))
    return parser.parse_args(sys.argv[2:])


def report(when_asked: Callable[[], dict[str, Any]] | None = None, **line: Any) -> None:
    """Writes a line, and one more for each line on stdin, with whose end the process ends."""
    write(line)
    threading.Thread(target=follow_stdin, args=(when_asked,), daemon=True).start()


def follow_stdin(when_asked: Callable[[], dict[str, Any]] | None) -> None:
    for _ in sys.stdin:
        if when_asked is not None:
            write(when_asked())
    os._exit(0)  # Nothing is measured after this.


def write(line: dict[str, Any]) -> None:
    print(json.dumps(line), flush=True)
