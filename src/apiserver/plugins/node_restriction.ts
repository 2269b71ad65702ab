/**
 * NodeRestriction: a kubelet writes only its own Node, the Pods on it, and what belongs to them. Source: kubernetes
 * `plugin/pkg/admission/noderestriction` of 1.36.
 *
 * Assumptions: the NodeAuthorizer has decided which objects a kubelet may read and write at all.
 * Caveats: volumes of types that Kubernetes migrates to CSI count as volumes without a driver.
 */
import {
  type AdmissionPlugin,
  type AdmissionRequest,
  type Authorizer,
  goAggregate,
  isSameJson,
  type Json,
  type JsonObject,
  nodeNameOf,
  notFound,
  type ObjectReader,
} from "../model/mod.ts";
import {
  booleanAt,
  certificateSubject,
  claimNames,
  configMapNames,
  findObject,
  has,
  nameOf,
  objectAt,
  objectsAt,
  secretNames,
  textAt,
  textMapAt,
  textsAt,
} from "../kinds/mod.ts";
import { readMetadata } from "../registry/mod.ts";
import { forbiddenError } from "./_request.ts";

const mirror = "kubernetes.io/config.mirror";
const nodeLeases = "kube-node-lease";
const nodeSigners = ["kubernetes.io/kubelet-serving", "kubernetes.io/kube-apiserver-client-kubelet"];

/** The dependencies of the plugin. */
export interface NodeRestrictionParts {
  readonly objects: ObjectReader;
  /** Decides whether a kubelet may request tokens for other audiences than those of its Pods. */
  readonly authorizer: Authorizer;
}

/** A request of a kubelet. */
interface NodeRequest extends NodeRestrictionParts {
  readonly node: string;
  readonly request: AdmissionRequest;
  /** @throws StatusError 403 */
  refuse(why: string): never;
}

/** The plugin for all kinds. */
export function nodeRestriction(parts: NodeRestrictionParts): AdmissionPlugin {
  const admit = (request: AdmissionRequest) => {
    const node = nodeNameOf(request.user);
    if (node === undefined || request.operation === "CONNECT") return;
    const refuse = (why: string): never => {
      throw forbiddenError(request, why);
    };
    if (node === "") refuse(`could not determine node from user ${JSON.stringify(request.user.name)}`);
    checks.get(request.kind.collection)?.({ ...parts, node, request, refuse });
  };
  return { name: "NodeRestriction", admit, admitAction: admit };
}

type Check = (context: NodeRequest) => void;

const checkPod: Check = (context) => {
  const { request, node, refuse } = context;
  const { subresource, operation, oldObject = {} } = request;
  switch (subresource) {
    case "":
      if (operation === "CREATE") return checkNewPod(context);
      if (operation === "DELETE") {
        if (nodeOfPod(oldObject) === node) return;
        return refuse(`node "${node}" can only delete pods with spec.nodeName set to itself`);
      }
      return refuse(`unexpected operation "${operation}", node "${node}" can only create and delete mirror pods`);
    case "status":
      if (operation !== "UPDATE") return refuse(`unexpected operation "${operation}"`);
      return checkPodStatus(context, oldObject, request.object ?? {});
    case "eviction":
      return checkEviction(context);
    default:
      return refuse(`unexpected pod subresource "${subresource}", only 'status' and 'eviction' are allowed`);
  }
};

function nodeOfPod(pod: JsonObject): string {
  return textAt(objectAt(pod, "spec"), "nodeName");
}

function checkNewPod({ request, node, objects, refuse }: NodeRequest): void {
  const pod = request.object ?? {};
  const metadata = readMetadata(pod);
  if (!textMapAt(metadata, "annotations").has(mirror)) {
    refuse(`pod does not have "${mirror}" annotation, node "${node}" can only create mirror pods`);
  }
  const only = `node "${node}" can only create pods with`;
  if (nodeOfPod(pod) !== node) refuse(`${only} spec.nodeName set to itself`);
  const [owner = {}, ...more] = objectsAt(metadata, "ownerReferences");
  if (more.length > 0) refuse(`${only} a single owner reference set to itself`);
  if (textAt(owner, "apiVersion") !== "v1" || textAt(owner, "kind") !== "Node" || textAt(owner, "name") !== node) {
    refuse(`${only} an owner reference set to itself`);
  }
  if (!booleanAt(owner, "controller")) refuse(`${only} a controller owner reference set to itself`);
  if (booleanAt(owner, "blockOwnerDeletion")) {
    refuse(`node "${node}" must not set blockOwnerDeletion on an owner reference`);
  }
  const stored = objects.get("nodes", "", node);
  // As a lister of client-go says it.
  if (stored === undefined) throw notFound({ group: "", resource: "node", name: node });
  const [expected, uid] = [textAt(owner, "uid"), textAt(readMetadata(stored), "uid")];
  if (expected !== uid) refuse(`node ${node} UID mismatch: expected ${expected} got ${uid}`);
  const reference = referenceOf(pod);
  if (reference !== undefined) refuse(`node "${node}" can not create pods that reference ${reference}`);
}

/** What a Pod refers to, which a mirror Pod must not. */
function referenceOf(pod: JsonObject): string | undefined {
  const spec = objectAt(pod, "spec");
  if (textAt(spec, "serviceAccountName") !== "") return "serviceaccounts";
  if (secretNames(spec).next().done !== true) return "secrets";
  if (configMapNames(spec).next().done !== true) return "configmaps";
  if (objectsAt(spec, "resourceClaims").length > 0) return "resourceclaims";
  for (const volume of objectsAt(spec, "volumes")) {
    const found = Object.keys(volumeReferences).find((type) => has(volume, type));
    if (found !== undefined) return volumeReferences[found];
    for (const source of objectsAt(objectAt(volume, "projected"), "sources")) {
      const kind = Object.keys(projectedReferences).find((type) => has(source, type));
      if (kind !== undefined) return projectedReferences[kind];
    }
  }
  return undefined;
}

const volumeReferences: Readonly<Record<string, string>> = {
  configMap: "configmaps (via configmap volumes)",
  secret: "secrets (via secret volumes)",
  csi: "csidrivers (via CSI volumes)",
  glusterfs: "endpoints (via glusterFS volumes)",
  persistentVolumeClaim: "persistentvolumeclaims",
  ephemeral: "persistentvolumeclaims (via ephemeral volumes)",
  azureFile: "secrets (via azureFile volumes)",
};

const projectedReferences: Readonly<Record<string, string>> = {
  configMap: "configmaps (via projected volumes)",
  secret: "secrets (via projected volumes)",
  serviceAccountToken: "serviceaccounts (via projected volumes)",
  clusterTrustBundle: "clustertrustbundles",
  podCertificate: "podcertificates",
};

function checkPodStatus({ node, refuse }: NodeRequest, old: JsonObject, next: JsonObject): void {
  if (nodeOfPod(old) !== node) {
    refuse(`node "${node}" can only update pod status for pods with spec.nodeName set to itself`);
  }
  if (!isSameJson(objectAt(readMetadata(old), "labels"), objectAt(readMetadata(next), "labels"))) {
    refuse(`node "${node}" cannot update labels through pod status`);
  }
  const [before, after] = [objectAt(old, "status"), objectAt(next, "status")];
  const claims = (status: JsonObject) => objectsAt(status, "resourceClaimStatuses");
  if (!isSameJson(claims(before), claims(after))) refuse(`node "${node}" cannot update resource claim statues`);
  const extended = (status: JsonObject) => objectAt(status, "extendedResourceClaimStatus");
  if (!isSameJson(extended(before), extended(after))) {
    refuse(`node "${node}" cannot update extended resource claim status`);
  }
}

function checkEviction({ request, node, objects, refuse }: NodeRequest): void {
  const pod = objects.get("pods", request.namespace, request.name);
  if (pod === undefined) throw notFound({ group: "", resource: "pod", name: request.name });
  if (nodeOfPod(pod) !== node) refuse(`node ${node} can only evict pods with spec.nodeName set to itself`);
}

const checkNode: Check = ({ request, node, refuse }) => {
  const { operation, name, object = {}, oldObject = {} } = request;
  if (name !== node) refuse(`node "${node}" is not allowed to modify node "${name}"`);
  const labels = forbiddenLabels(labelsOf(object), operation === "UPDATE" ? labelsOf(oldObject) : new Map());
  const [spec, before] = [objectAt(object, "spec"), objectAt(oldObject, "spec")];
  const config = findObject(spec, "configSource");
  if (operation === "CREATE") {
    if (config !== undefined) refuse(`node "${node}" is not allowed to create pods with a non-nil configSource`);
    if (labels !== "") refuse(`node "${node}" is not allowed to set the following labels: ${labels}`);
  }
  if (operation !== "UPDATE") return;
  if (config !== undefined && !isSameJson(config, objectAt(before, "configSource"))) {
    refuse(`node "${node}" is not allowed to update configSource to a new non-nil configSource`);
  }
  if (!isSameJson(objectsAt(spec, "taints"), objectsAt(before, "taints"))) {
    refuse(`node "${node}" is not allowed to modify taints`);
  }
  const owners = (of: JsonObject) => objectsAt(readMetadata(of), "ownerReferences");
  if (!isSameJson(owners(object), owners(oldObject))) refuse(`node "${node}" is not allowed to modify ownerReferences`);
  if (labels !== "") refuse(`is not allowed to modify labels: ${labels}`);
};

function labelsOf(object: JsonObject): ReadonlyMap<string, string> {
  return textMapAt(readMetadata(object), "labels");
}

/** The changed labels that only others may set, as text. */
function forbiddenLabels(now: ReadonlyMap<string, string>, before: ReadonlyMap<string, string>): string {
  const changed = [...new Set([...now.keys(), ...before.keys()])].filter((key) => now.get(key) !== before.get(key));
  return changed.filter(isForbiddenLabel).sort().join(", ");
}

/** The labels that a kubelet sets on its Node. */
const kubeletLabels: ReadonlySet<string> = new Set([
  ...["kubernetes.io/hostname", "kubernetes.io/os", "kubernetes.io/arch"],
  ...["topology.kubernetes.io/zone", "topology.kubernetes.io/region", "node.kubernetes.io/instance-type"],
  ...["failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"],
  ...["beta.kubernetes.io/instance-type", "beta.kubernetes.io/os", "beta.kubernetes.io/arch"],
]);

function isForbiddenLabel(key: string): boolean {
  const slash = key.indexOf("/");
  const domain = slash < 0 ? "" : key.slice(0, slash);
  const isIn = (name: string) => domain === name || domain.endsWith(`.${name}`);
  if (isIn("node-restriction.kubernetes.io")) return true;
  if (!isIn("kubernetes.io") && !isIn("k8s.io")) return false;
  return !kubeletLabels.has(key) && !isIn("kubelet.kubernetes.io") && !isIn("node.kubernetes.io");
}

const checkClaim: Check = ({ request, node, refuse }) => {
  const { subresource, operation, object = {}, oldObject = {} } = request;
  if (subresource !== "status") refuse("may only update PVC status");
  if (operation !== "UPDATE") refuse(`unexpected operation "${operation}"`);
  if (isSameJson(withoutOwnStatus(object), withoutOwnStatus(oldObject))) return;
  refuse(`node "${node}" is not allowed to update fields other than status.quantity and status.conditions`);
};

/** A claim without what its kubelet writes. */
function withoutOwnStatus(claim: JsonObject): JsonObject {
  const { resourceVersion: _version, managedFields: _fields, ...metadata } = readMetadata(claim);
  const {
    capacity: _capacity,
    conditions: _conditions,
    allocatedResourceStatuses: _statuses,
    allocatedResources: _resources,
    ...status
  } = objectAt(claim, "status");
  return { ...claim, metadata, status };
}

const checkToken: Check = (context) => {
  const { request, node, objects, refuse } = context;
  if (request.operation !== "CREATE" || request.subresource !== "token") return;
  const spec = objectAt(request.object ?? {}, "spec");
  const reference = objectAt(spec, "boundObjectRef");
  const [name, uid] = [textAt(reference, "name"), textAt(reference, "uid")];
  if (textAt(reference, "apiVersion") !== "v1" || textAt(reference, "kind") !== "Pod" || name === "") {
    refuse("node requested token not bound to a pod");
  }
  if (uid === "") refuse("node requested token with a pod binding without a uid");
  const pod = objects.get("pods", request.namespace, name);
  if (pod === undefined) throw notFound({ group: "", resource: "pod", name });
  if (uid !== textAt(readMetadata(pod), "uid")) {
    const why = "The object might have been deleted and then recreated";
    refuse(`the UID in the bound object reference (${uid}) does not match the UID in record. ${why}`);
  }
  if (nodeOfPod(pod) !== node) refuse("node requested token bound to a pod scheduled on a different node");
  checkAudience(context, pod, textsAt(spec, "audiences"));
};

function checkAudience(
  { request, objects, authorizer, refuse }: NodeRequest,
  pod: JsonObject,
  audiences: readonly string[],
) {
  const [audience = "", ...more] = audiences;
  if (more.length > 0) refuse("node may only request 0 or 1 audiences");
  const errors: string[] = [];
  if (hasAudience(objects, pod, audience, errors)) return;
  if (errors.length > 0) refuse(`error validating audience ${JSON.stringify(audience)}: ${goAggregate(errors)}`);
  const { user, namespace, name } = request;
  const { isAllowed } = authorizer.authorize({
    user,
    verb: "request-serviceaccounts-token-audience",
    isResourceRequest: true,
    group: "",
    version: "v1",
    resource: audience,
    subresource: "",
    namespace,
    name,
    path: "",
  });
  if (isAllowed) return;
  const who = `${user.name} is not authorized to request tokens for this audience`;
  refuse(`audience ${JSON.stringify(audience)} not found in pod spec volume, ${who}`);
}

/**
 * True if a volume of the Pod, or the driver of one, needs tokens for the audience.
 *
 * @param errors collects what is not found
 */
function hasAudience(objects: ObjectReader, pod: JsonObject, audience: string, errors: string[]): boolean {
  const namespace = textAt(readMetadata(pod), "namespace");
  for (const volume of objectsAt(objectAt(pod, "spec"), "volumes")) {
    const tokens = objectsAt(objectAt(volume, "projected"), "sources").filter((source) =>
      has(source, "serviceAccountToken")
    );
    if (tokens.some((source) => textAt(objectAt(source, "serviceAccountToken"), "audience") === audience)) return true;
    const [claim] = claimNames({ ...pod, spec: { volumes: [volume] } });
    const driver = claim === undefined
      ? textAt(objectAt(volume, "csi"), "driver")
      : claimDriver(objects, namespace, claim, errors);
    if (driver === "") continue;
    const stored = objects.get("csidrivers.storage.k8s.io", "", driver);
    if (stored === undefined) errors.push(`csidriver.storage.k8s.io ${JSON.stringify(driver)} not found`);
    const requests = objectsAt(objectAt(stored ?? {}, "spec"), "tokenRequests");
    if (requests.some((token) => textAt(token, "audience") === audience)) return true;
  }
  return false;
}

/** The CSI driver of the volume of a claim, or "". */
function claimDriver(objects: ObjectReader, namespace: string, name: string, errors: string[]): string {
  const claim = objects.get("persistentvolumeclaims", namespace, name);
  if (claim === undefined) {
    errors.push(`persistentvolumeclaim ${JSON.stringify(name)} not found`);
    return "";
  }
  const volumeName = textAt(objectAt(claim, "spec"), "volumeName");
  const volume = objects.get("persistentvolumes", "", volumeName);
  if (volume === undefined) errors.push(`persistentvolume ${JSON.stringify(volumeName)} not found`);
  return textAt(objectAt(objectAt(volume ?? {}, "spec"), "csi"), "driver");
}

const checkLease: Check = ({ request, node, refuse }) => {
  if (request.namespace !== nodeLeases) refuse(`can only access leases in the "${nodeLeases}" system namespace`);
  if (namedBy(request) !== node) refuse("can only access node lease with the same name as the requesting node");
};

const checkCsiNode: Check = ({ request, node, refuse }) => {
  if (namedBy(request) !== node) refuse("can only access CSINode with the same name as the requesting node");
};

function namedBy({ operation, object = {}, name }: AdmissionRequest): string {
  return operation === "CREATE" ? nameOf(object) : name;
}

const checkSlice: Check = ({ request, node, refuse }) => {
  const { operation, object, oldObject } = request;
  if (operation === "UPDATE") return;
  const slice = (operation === "CREATE" ? object : oldObject) ?? {};
  const action = operation === "CREATE" ? "create" : "delete";
  const owner: Json | undefined = objectAt(slice, "spec").nodeName;
  if (owner !== node) refuse(`can only ${action} ResourceSlice with the same NodeName as the requesting node`);
};

const checkSigningRequest: Check = ({ request, node, refuse }) => {
  if (request.operation !== "CREATE") return;
  const spec = objectAt(request.object ?? {}, "spec");
  if (!nodeSigners.includes(textAt(spec, "signerName"))) return;
  const subject = certificateSubject(textAt(spec, "request"));
  if (typeof subject === "string") return refuse(`unable to parse csr: ${subject}`);
  const expected = `system:node:${node}`;
  if (subject.commonName !== expected) refuse(`can only create a node CSR with CN=${expected}`);
};

const checks: ReadonlyMap<string, Check> = new Map<string, Check>([
  ["pods", checkPod],
  ["nodes", checkNode],
  ["persistentvolumeclaims", checkClaim],
  ["serviceaccounts", checkToken],
  ["leases.coordination.k8s.io", checkLease],
  ["csinodes.storage.k8s.io", checkCsiNode],
  ["resourceslices.resource.k8s.io", checkSlice],
  ["certificatesigningrequests.certificates.k8s.io", checkSigningRequest],
]);
