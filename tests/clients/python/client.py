"""The Kubernetes client of Python on the server of $KUBECONFIG. Prints a line for each step; tests/clients/steps.ts has them."""

import json
import time

from kubernetes import client, config, watch
from kubernetes.client.rest import ApiException

NAMESPACE = "python-client"
GROUP = "clients.pintle.dev"

config.load_kube_config()
core = client.CoreV1Api()
apps = client.AppsV1Api()
custom = client.CustomObjectsApi()
definitions = client.ApiextensionsV1Api()


def refused(call):
    """The code and the reason of an error that the server must answer."""
    try:
        call()
    except ApiException as error:
        return f"{error.status} {json.loads(error.body)['reason']}"
    return "accepted"


def until(check):
    """Repeats a check until it gives a value."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        value = check()
        if value:
            return value
        time.sleep(0.05)
    raise TimeoutError("the state did not come within 60 s")


def step(name, value):
    print(f"{name}: {value}", flush=True)


def define():
    schema = {
        "type": "object",
        "properties": {
            "spec": {"type": "object", "properties": {"size": {"type": "integer", "default": 1, "maximum": 9}}},
            "status": {"type": "object", "properties": {"ready": {"type": "boolean"}}},
        },
    }
    version = {"name": "v1", "served": True, "storage": True, "subresources": {"status": {}}}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"pythons.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"plural": "pythons", "kind": "Python"},
            "versions": [{**version, "schema": {"openAPIV3Schema": schema}}],
        },
    }
    definitions.create_custom_resource_definition(definition)

    def established():
        found = definitions.read_custom_resource_definition(f"pythons.{GROUP}")
        return any(one.type == "Established" and one.status == "True" for one in found.status.conditions or [])

    until(established)
    step("definition", "Established")


def custom_objects():
    place = (GROUP, "v1", NAMESPACE, "pythons")

    def monty(size=None):
        spec = {} if size is None else {"size": size}
        return {"apiVersion": f"{GROUP}/v1", "kind": "Python", "metadata": {"name": "monty"}, "spec": spec}

    created = custom.create_namespaced_custom_object(*place, monty())
    step("default", created["spec"]["size"])
    step("invalid", refused(lambda: custom.create_namespaced_custom_object(*place, monty(10))))
    patched = custom.patch_namespaced_custom_object_status(*place, "monty", {"status": {"ready": True}})
    step("status", f"{str(patched['status']['ready']).lower()} generation {patched['metadata']['generation']}")


def objects():
    def config_map(name, **data):
        meta = client.V1ObjectMeta(name=name, labels={"of": "pages"})
        return client.V1ConfigMap(api_version="v1", kind="ConfigMap", metadata=meta, data=data)

    def apply(manager, value):
        desired = client.ApiClient().sanitize_for_serialization(config_map("applied", key=value))
        return core.patch_namespaced_config_map(
            "applied", NAMESPACE, desired, field_manager=manager, _content_type="application/apply-patch+yaml"
        )

    step("apply", apply("left", "1").data["key"])
    step("apply of another manager", refused(lambda: apply("right", "2")))
    for index in range(4):
        core.create_namespaced_config_map(NAMESPACE, config_map(f"page-{index}", key="1"))
    stale = core.read_namespaced_config_map("page-0", NAMESPACE)
    merged = core.patch_namespaced_config_map("page-0", NAMESPACE, {"data": {"more": "ü"}})
    step("patch", f"{merged.data['key']} {merged.data['more']}")
    step("stale replace", refused(lambda: core.replace_namespaced_config_map("page-0", NAMESPACE, stale)))
    sizes, token = [], None
    while token != "":
        page = core.list_namespaced_config_map(NAMESPACE, limit=2, _continue=token, label_selector="of=pages")
        sizes.append(str(len(page.items)))
        token = page.metadata._continue or ""
    step("pages", " ".join(sizes))
    since = core.list_namespaced_config_map(NAMESPACE).metadata.resource_version
    core.create_namespaced_config_map(NAMESPACE, config_map("watched", key="1"))
    core.patch_namespaced_config_map("watched", NAMESPACE, {"data": {"key": "2"}})
    core.delete_namespaced_config_map("watched", NAMESPACE)
    events = []
    watching = watch.Watch()
    for event in watching.stream(core.list_namespaced_config_map, NAMESPACE, resource_version=since):
        events.append(f"{event['type']} {event['object'].data['key']}")
        if len(events) == 3:
            watching.stop()
    step("watch", " ".join(events))
    step("deleted", refused(lambda: core.read_namespaced_config_map("watched", NAMESPACE)))


def workloads():
    labels = {"app": "web"}
    container = client.V1Container(name="main", image="example.invalid/web:1")
    template = client.V1PodTemplateSpec(
        metadata=client.V1ObjectMeta(labels=labels), spec=client.V1PodSpec(containers=[container])
    )
    spec = client.V1DeploymentSpec(replicas=1, selector=client.V1LabelSelector(match_labels=labels), template=template)
    apps.create_namespaced_deployment(
        NAMESPACE, client.V1Deployment(metadata=client.V1ObjectMeta(name="web"), spec=spec)
    )
    scaled = apps.patch_namespaced_deployment_scale("web", NAMESPACE, {"spec": {"replicas": 2}})
    step("scale", scaled.spec.replicas)
    until(lambda: apps.read_namespaced_deployment("web", NAMESPACE).status.ready_replicas == 2)
    pod = core.list_namespaced_pod(NAMESPACE, label_selector="app=web").items[0].metadata.name
    step("logs", "text" if isinstance(core.read_namespaced_pod_log(pod, NAMESPACE), str) else "no text")
    eviction = client.V1Eviction(metadata=client.V1ObjectMeta(name=pod, namespace=NAMESPACE))
    core.create_namespaced_pod_eviction(pod, NAMESPACE, eviction)
    step("eviction", until(lambda: gone(pod)))


def gone(pod):
    try:
        return "evicted" if core.read_namespaced_pod(pod, NAMESPACE).metadata.deletion_timestamp else None
    except ApiException as error:
        return "evicted" if error.status == 404 else None


def token():
    core.create_namespaced_service_account(
        NAMESPACE, client.V1ServiceAccount(metadata=client.V1ObjectMeta(name="robot"))
    )
    request = client.AuthenticationV1TokenRequest(spec=client.V1TokenRequestSpec(audiences=[], expiration_seconds=3600))
    issued = core.create_namespaced_service_account_token("robot", NAMESPACE, request)
    settings = client.Configuration.get_default_copy()
    settings.api_key = {"authorization": f"Bearer {issued.status.token}"}
    settings.refresh_api_key_hook = settings.cert_file = settings.key_file = None
    robot = client.ApiClient(settings)
    review = client.AuthenticationV1Api(robot).create_self_subject_review(client.V1SelfSubjectReview())
    step("token", review.status.user_info.username.replace(NAMESPACE, "NAMESPACE"))
    step("forbidden", refused(lambda: client.CoreV1Api(robot).list_namespaced_secret(NAMESPACE)))


core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name=NAMESPACE)))
define()
custom_objects()
objects()
workloads()
token()
