"""The kind Foo, and what all cases need to know of it."""

FOO = ("samplecontroller.k8s.io", "v1alpha1", "foos")
DEPLOYMENT = ("apps", "v1", "deployments")

# kopf calls no handler of a resource before all indices are full. This Namespace exists in each cluster, so the handler
# of its event says when that is.
FIRST_NAMESPACE = {"field": "metadata.name", "value": "default"}
