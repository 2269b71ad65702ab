"""An operator as users of kopf write it: a Greeting has a ConfigMap with its text, which its finalizer removes, because an
API server alone collects no garbage."""

import kopf
import kubernetes

GROUP, VERSION, PLURAL = "python.pintle.dev", "v1", "greetings"


@kopf.on.startup()
def configure(settings: kopf.OperatorSettings, **_):
    kubernetes.config.load_config()
    settings.posting.level = 30
    settings.persistence.finalizer = f"{GROUP}/text"


@kopf.on.create(GROUP, VERSION, PLURAL)
@kopf.on.update(GROUP, VERSION, PLURAL)
def write_text(spec, name, namespace, meta, patch, **_):
    text = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"text": f"Hello, {spec['name']}"}}
    kopf.adopt(text)
    api = kubernetes.client.CoreV1Api()
    try:
        api.create_namespaced_config_map(namespace, text)
    except kubernetes.client.ApiException as error:
        if error.status != 409:
            raise
        api.patch_namespaced_config_map(name, namespace, text)
    patch.status["observedGeneration"] = meta["generation"]


@kopf.on.delete(GROUP, VERSION, PLURAL)
def remove_text(name, namespace, **_):
    try:
        kubernetes.client.CoreV1Api().delete_namespaced_config_map(name, namespace)
    except kubernetes.client.ApiException as error:
        if error.status != 404:
            raise
