"""reconcile: a Deployment, an Event and a status for each new Foo, with the client that kopf's documentation uses.

kopf writes the status after the handler, and a fourth request for each Foo: its annotation with what was handled last.
A Foo counts as finished when its status comes back.
"""

import datetime
from typing import Any

import kopf
import kubernetes

from foo import DEPLOYMENT, FOO
from stdio import flags, report

options = flags(objects=0, workers=2)
finished: set[str] = set()
reconciles = 0


@kopf.on.startup()
def configure(settings: kopf.OperatorSettings, **_: Any) -> None:
    settings.execution.max_workers = options.workers
    kubernetes.config.load_config()


@kopf.index(*DEPLOYMENT)
async def deployments(name: str, namespace: str | None, spec: kopf.Spec, **_: Any) -> Any:
    return {(namespace, name): spec["replicas"]}


@kopf.on.create(*FOO)
@kopf.on.update(*FOO, field="spec")
def reconcile(
    body: kopf.Body, spec: kopf.Spec, namespace: str, patch: kopf.Patch, deployments: kopf.Index, **_: Any
) -> None:
    global reconciles
    reconciles += 1
    key = (namespace, spec["deploymentName"])
    if spec["replicas"] not in deployments.get(key, ()):
        write_deployment(namespace, desired_deployment(body), is_new=key not in deployments)
    kubernetes.client.CoreV1Api().create_namespaced_event(namespace, synced_event(body))
    patch.status["availableReplicas"] = spec["replicas"]


@kopf.on.event(*FOO)
async def count(uid: str, spec: kopf.Spec, status: kopf.Status, **_: Any) -> None:
    if status.get("availableReplicas") != spec["replicas"] or uid in finished:
        return
    finished.add(uid)
    if len(finished) == options.objects:
        report(kind="reconciled", objects=len(finished), reconciles=reconciles)


def write_deployment(namespace: str, deployment: dict[str, Any], is_new: bool) -> None:
    api = kubernetes.client.AppsV1Api()
    if is_new:
        api.create_namespaced_deployment(namespace, deployment)
    else:
        api.patch_namespaced_deployment(deployment["metadata"]["name"], namespace, deployment)


def desired_deployment(foo: kopf.Body) -> dict[str, Any]:
    labels = {"app": "nginx", "controller": foo.meta.name}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": foo.spec["deploymentName"]},
        "spec": {
            "replicas": foo.spec["replicas"],
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "nginx", "image": "nginx:latest"}]},
            },
        },
    }
    kopf.adopt(deployment, owner=foo)
    return deployment


def synced_event(foo: kopf.Body) -> dict[str, Any]:
    """A plain write, as in the other programs."""
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    meta = foo["metadata"]
    named = {"name": meta["name"], "namespace": meta["namespace"]}
    return {
        "metadata": {**named, "name": f"{meta['name']}.{meta['resourceVersion']}"},
        "involvedObject": {
            "apiVersion": foo["apiVersion"],
            "kind": foo["kind"],
            "uid": meta["uid"],
            "resourceVersion": meta["resourceVersion"],
            **named,
        },
        "reason": "Synced",
        "message": "Foo synced successfully",
        "type": "Normal",
        "source": {"component": "bench"},
        "firstTimestamp": now,
        "lastTimestamp": now,
        "count": 1,
    }
