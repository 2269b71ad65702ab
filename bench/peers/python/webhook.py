"""webhook: a defaulting webhook for Foo on kopf's own server, with the certificate of a folder.

It fills in a label and the replicas, as bench/ours/webhook.ts does. kopf knows the kinds of its webhooks from a cluster.
"""

import asyncio
import os
from typing import Any

import kopf

from foo import FIRST_NAMESPACE, FOO
from stdio import flags, report

TIER_LABEL = "example.dev/tier"

options = flags(cert_dir="", port=9443)


@kopf.on.startup()
def configure(settings: kopf.OperatorSettings, **_: Any) -> None:
    settings.admission.server = kopf.WebhookServer(
        addr="127.0.0.1",
        port=options.port,
        certfile=os.path.join(options.cert_dir, "tls.crt"),
        pkeyfile=os.path.join(options.cert_dir, "tls.key"),
    )


@kopf.on.mutate(*FOO, id="mutate-samplecontroller-k8s-io-v1alpha1-foo")
async def fill_in(spec: kopf.Spec, labels: kopf.Labels, patch: kopf.Patch, **_: Any) -> None:
    if not spec.get("replicas"):
        patch.spec["replicas"] = 1
    if TIER_LABEL not in labels:
        patch.metadata.labels[TIER_LABEL] = "web"


@kopf.on.event("v1", "namespaces", **FIRST_NAMESPACE)
async def started(type: str | None, **_: Any) -> None:
    """By now kopf knows the kinds of the cluster; its server listens before or after that."""
    if type is not None:
        return
    while not await is_listening():
        await asyncio.sleep(0.005)
    report(kind="serving")


async def is_listening() -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", options.port)
    except OSError:
        return False
    writer.close()
    return True
