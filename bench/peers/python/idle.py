"""idle: the operator of the case reconcile on an empty cluster."""

from typing import Any

import kopf

import reconcile  # registers its handlers
from foo import FIRST_NAMESPACE
from stdio import report


@kopf.on.event("v1", "namespaces", **FIRST_NAMESPACE)
async def synced(type: str | None, **_: Any) -> None:
    if type is None:
        report(kind="synced", objects=0)
