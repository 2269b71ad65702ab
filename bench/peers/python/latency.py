"""latency: how long after its update the handler of a Foo begins.

The writer (peers/go/update.go) puts its clock into an annotation; both run on one machine, so it is one clock.
"""

import time
from typing import Any

import kopf

from foo import FOO
from stdio import report

# Holds the nanoseconds since 1970 at which the update was sent.
STAMP_ANNOTATION = "bench.pintle.dev/sent-at"
# kopf writes it after it has handled an object.
HANDLED_ANNOTATION = "kopf.zalando.org/last-handled-configuration"

since = time.time_ns()
handled: set[str] = set()
updates: dict[int, int] = {}


@kopf.on.create(*FOO)
@kopf.on.update(*FOO)
async def measure(annotations: kopf.Annotations, **_: Any) -> None:
    begun_at = time.time_ns()
    sent_at = int(annotations.get(STAMP_ANNOTATION, 0))
    if sent_at >= since:
        updates.setdefault(sent_at // 1000, (begun_at - sent_at) // 1000)


@kopf.index(*FOO)
async def foos(uid: str, **_: Any) -> Any:
    return {uid: None}


@kopf.on.event(*FOO, annotations={HANDLED_ANNOTATION: kopf.PRESENT})
async def synced(uid: str, foos: kopf.Index, **_: Any) -> None:
    """The updates begin when kopf has written its annotation to each Foo, which it does once."""
    if len(handled) == len(foos):
        return
    handled.add(uid)
    if len(handled) == len(foos):
        report(latencies, kind="synced", objects=0)


def latencies() -> dict[str, Any]:
    return {"kind": "latencies", "updates": [{"sentAt": at, "micros": micros} for at, micros in list(updates.items())]}
