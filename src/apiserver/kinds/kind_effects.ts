/** What follows from an object of each built-in kind: who acts on it here. docs/CONFORMANCE.md lists all kinds. */

/** Who acts on the objects of a kind. */
export type KindEffect =
  /** The API server itself. `missing` is what Kubernetes would do besides. */
  | { readonly kind: "server"; readonly does: string; readonly missing?: string }
  /** A controller of the simulated cluster, by its name. Without the cluster, as with a kube-apiserver alone, nobody. */
  | { readonly kind: "cluster"; readonly controllers: readonly string[]; readonly missing?: string }
  /** It answers a request, and stores nothing. */
  | { readonly kind: "request" }
  /** Programs and other objects read it; no part of Kubernetes acts on it by itself. */
  | { readonly kind: "data" }
  /** Not Kubernetes acts on it, but what is installed beside it. */
  | { readonly kind: "addon"; readonly who: string };

const data: KindEffect = { kind: "data" };
const request: KindEffect = { kind: "request" };

function server(does: string): KindEffect {
  return { kind: "server", does };
}

function cluster(...controllers: readonly string[]): KindEffect {
  return { kind: "cluster", controllers };
}

function addon(who: string): KindEffect {
  return { kind: "addon", who };
}

const drivers = addon("drivers of storage");
const priorities = server("queues and refuses requests beyond the seats of their level");

function devices(...controllers: readonly string[]): KindEffect {
  const missing = "sharing, binding conditions, evictions and extended resources";
  return { kind: "cluster", controllers, missing };
}

const rbac = server("authorizes requests");
const webhooks = server("calls webhooks");

/** The effect of each built-in kind, by collection. */
export const kindEffects: Readonly<Record<string, KindEffect>> = {
  "bindings": request,
  "componentstatuses": server("tells the health of scheduler, controller manager and etcd"),
  "configmaps": data,
  "endpoints": cluster("endpointslicemirroring-controller"),
  "events": data,
  "limitranges": server("sets defaults and limits of new Pods and claims"),
  "namespaces": cluster("namespace-controller", "serviceaccount-controller"),
  "nodes": cluster("default-scheduler", "daemonset-controller"),
  "persistentvolumeclaims": cluster("persistentvolume-binder-controller", "local-path-provisioner"),
  "persistentvolumes": cluster("persistentvolume-binder-controller", "persistentvolume-phase-controller"),
  "pods": cluster("default-scheduler", "kubelet"),
  "podtemplates": data,
  "replicationcontrollers": cluster("replicationcontroller-controller"),
  "resourcequotas": cluster("resourcequota-controller"),
  "secrets": data,
  "serviceaccounts": server("issues tokens, and adds them to Pods"),
  "services": cluster("endpoint-controller", "endpointslice-controller", "service-lb-controller"),
  "apiservices.apiregistration.k8s.io": server("passes requests on to other API servers"),
  "controllerrevisions.apps": data,
  "daemonsets.apps": cluster("daemonset-controller"),
  "deployments.apps": cluster("deployment-controller"),
  "replicasets.apps": cluster("replicaset-controller"),
  "statefulsets.apps": cluster("statefulset-controller"),
  "selfsubjectreviews.authentication.k8s.io": request,
  "tokenreviews.authentication.k8s.io": request,
  "localsubjectaccessreviews.authorization.k8s.io": request,
  "selfsubjectaccessreviews.authorization.k8s.io": request,
  "selfsubjectrulesreviews.authorization.k8s.io": request,
  "subjectaccessreviews.authorization.k8s.io": request,
  "horizontalpodautoscalers.autoscaling": cluster("horizontal-pod-autoscaler-controller"),
  "cronjobs.batch": cluster("cronjob-controller"),
  "jobs.batch": cluster("job-controller"),
  "certificatesigningrequests.certificates.k8s.io": cluster(
    "certificatesigningrequest-approving-controller",
    "certificatesigningrequest-signing-controller",
  ),
  "ingressclasses.networking.k8s.io": addon("Ingress controllers"),
  "ingresses.networking.k8s.io": addon("Ingress controllers"),
  "ipaddresses.networking.k8s.io": server("names the cluster IPs of Services"),
  "networkpolicies.networking.k8s.io": addon("network plugins"),
  "servicecidrs.networking.k8s.io": cluster("service-cidr-controller"),
  "poddisruptionbudgets.policy": cluster("disruption-controller"),
  "clusterrolebindings.rbac.authorization.k8s.io": rbac,
  "clusterroles.rbac.authorization.k8s.io": cluster("clusterrole-aggregation-controller"),
  "rolebindings.rbac.authorization.k8s.io": rbac,
  "roles.rbac.authorization.k8s.io": rbac,
  "csidrivers.storage.k8s.io": drivers,
  "csinodes.storage.k8s.io": drivers,
  "csistoragecapacities.storage.k8s.io": drivers,
  "storageclasses.storage.k8s.io": cluster("persistentvolume-binder-controller", "local-path-provisioner"),
  "volumeattachments.storage.k8s.io": drivers,
  "volumeattributesclasses.storage.k8s.io": cluster("volumeattributesclass-protection-controller"),
  "mutatingadmissionpolicies.admissionregistration.k8s.io": server("changes requests by their mutations"),
  "mutatingadmissionpolicybindings.admissionregistration.k8s.io": server("applies the mutations of the policy"),
  "mutatingwebhookconfigurations.admissionregistration.k8s.io": webhooks,
  "validatingadmissionpolicies.admissionregistration.k8s.io": server("evaluates their rules"),
  "validatingadmissionpolicybindings.admissionregistration.k8s.io": server("evaluates the rules of the policy"),
  "validatingwebhookconfigurations.admissionregistration.k8s.io": webhooks,
  "customresourcedefinitions.apiextensions.k8s.io": server("serves their kinds"),
  "priorityclasses.scheduling.k8s.io": server("gives Pods their priority"),
  "leases.coordination.k8s.io": data,
  "runtimeclasses.node.k8s.io": server("gives Pods their overhead and their nodes"),
  "endpointslices.discovery.k8s.io": data,
  "deviceclasses.resource.k8s.io": devices("default-scheduler"),
  "resourceclaims.resource.k8s.io": devices("default-scheduler", "resourceclaim-release-controller"),
  "resourceclaimtemplates.resource.k8s.io": cluster("resourceclaim-controller"),
  "resourceslices.resource.k8s.io": devices("default-scheduler"),
  "flowschemas.flowcontrol.apiserver.k8s.io": priorities,
  "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io": priorities,
};
