"""The peer of kopf: one program with a module for each case, run by kopf's own command line, which uses uvloop.

It speaks the protocol of bench/protocol.ts: a line on stdout as soon as the measured work is done, then it stays until
its stdin ends.
"""

import sys

from kopf.cli import main

CASES = ("sync", "idle", "reconcile", "latency", "webhook")

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in CASES:
        sys.exit(f"usage: main.py {'|'.join(CASES)} [flags]")
    main(["run", "--all-namespaces", "--quiet", "--module", sys.argv[1]], prog_name="kopf")
