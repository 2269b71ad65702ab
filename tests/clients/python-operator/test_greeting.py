"""The operator on the server of $KUBECONFIG: what its author would run with `pytest`."""

import pathlib

import kubernetes
import pytest
from kopf.testing import KopfRunner

from greeting import GROUP, PLURAL, VERSION

OPERATOR = str(pathlib.Path(__file__).with_name("greeting.py"))
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"{PLURAL}.{GROUP}"},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {"kind": "Greeting", "plural": PLURAL},
        "versions": [{
            "name": VERSION,
            "served": True,
            "storage": True,
            "subresources": {"status": {}},
            "schema": {"openAPIV3Schema": {
                "type": "object",
                "properties": {
                    "spec": {
                        "type": "object",
                        "required": ["name"],
                        "properties": {"name": {"type": "string", "maxLength": 20}},
                    },
                    "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                },
            }},
        }],
    },
}


def follow(listing, name, is_met, **arguments):
    """Watches from the current objects until one of this name meets the condition."""
    for event in kubernetes.watch.Watch().stream(
        listing, field_selector=f"metadata.name={name}", timeout_seconds=20, **arguments
    ):
        if is_met(event["type"], event["object"]):
            return event["object"]
    raise AssertionError(f"{name} has not changed in 20 s")


@pytest.fixture(scope="module")
def objects():
    kubernetes.config.load_config()
    definitions = kubernetes.client.ApiextensionsV1Api()
    definitions.create_custom_resource_definition(DEFINITION)

    def is_established(_, one):
        return any(it.type == "Established" and it.status == "True" for it in one.status.conditions or [])

    follow(definitions.list_custom_resource_definition, f"{PLURAL}.{GROUP}", is_established)
    return kubernetes.client.CustomObjectsApi()


def greeting(name, text):
    return {"apiVersion": f"{GROUP}/{VERSION}", "kind": "Greeting", "metadata": {"name": name}, "spec": {"name": text}}


def test_a_greeting_has_its_config_map_until_it_is_deleted(objects):
    where = {"group": GROUP, "version": VERSION, "namespace": "default", "plural": PLURAL}
    maps = kubernetes.client.CoreV1Api()

    def text(wanted):
        return lambda kind, one: kind != "DELETED" and one.data == {"text": wanted}

    with KopfRunner(["run", "--all-namespaces", "--quiet", OPERATOR], timeout=60) as runner:
        created = objects.create_namespaced_custom_object(body=greeting("one", "world"), **where)
        first = follow(maps.list_namespaced_config_map, "one", text("Hello, world"), namespace="default")
        assert first.metadata.owner_references[0].uid == created["metadata"]["uid"]

        objects.patch_namespaced_custom_object(name="one", body={"spec": {"name": "moon"}}, **where)
        follow(maps.list_namespaced_config_map, "one", text("Hello, moon"), namespace="default")
        follow(
            objects.list_namespaced_custom_object, "one",
            lambda _, one: one.get("status", {}).get("observedGeneration") == 2, **where,
        )

        deleted = objects.delete_namespaced_custom_object(name="one", **where)
        version = deleted["metadata"]["resourceVersion"]
        follow(
            objects.list_namespaced_custom_object, "one", lambda kind, _: kind == "DELETED",
            resource_version=version, **where,
        )
        assert maps.list_namespaced_config_map("default", field_selector="metadata.name=one").items == []
    assert runner.exit_code == 0, runner.output
    assert runner.exception is None


def test_a_name_that_is_too_long_is_rejected(objects):
    with pytest.raises(kubernetes.client.ApiException) as rejected:
        objects.create_namespaced_custom_object(
            group=GROUP, version=VERSION, namespace="default", plural=PLURAL, body=greeting("long", "a" * 21)
        )
    assert rejected.value.status == 422
    assert "spec.name" in rejected.value.body
