"""sync: every Foo kept by a handler of its events.

An index (@kopf.index) would be the obvious cache, but each object that kopf indexes at its start wakes all those that wait
for the others. kopf does not say when it has seen all objects, so it is told how many there are.
"""

from typing import Any

import kopf

from foo import FOO
from stdio import flags, report

options = flags(objects=0)
foos: dict[tuple[str | None, str], kopf.Body] = {}


@kopf.on.event(*FOO)
async def keep(name: str, namespace: str | None, body: kopf.Body, **_: Any) -> None:
    foos[namespace, name] = body
    if len(foos) == options.objects:
        report(kind="synced", objects=len(foos))
