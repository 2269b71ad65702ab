/**
 * NodeAuthorizer: what the kubelet of a Node may do. It reads Secrets, ConfigMaps, claims, volumes and ServiceAccounts only
 * if a Pod on its Node refers to them, and writes its own Lease, CSINode and ResourceSlices. Source: kubernetes
 * `plugin/pkg/auth/authorizer/node` of 1.36.
 *
 * Guarantees: it allows nothing to other users. What a kubelet writes is checked by the plugin NodeRestriction.
 */
import { isAllowedBy, type PolicyRule } from "../../api/mod.ts";
import {
  type Attributes,
  type Authorizer,
  type Decision,
  type JsonObject,
  nodeNameOf,
  type ObjectReader,
  type User,
} from "../model/mod.ts";
import { claimNames, configMapNames, findObject, objectAt, objectsAt, secretNames, textAt } from "../kinds/mod.ts";
import { bootstrapRbac } from "./bootstrap_rbac.ts";
import { rulesOf } from "./rbac.ts";

const mirror = "kubernetes.io/config.mirror";
const leaseNamespace = "kube-node-lease";
const allowed: Decision = { isAllowed: true, reason: "" };
const denied: Decision = { isAllowed: false, reason: "" };

/** Decides about requests of kubelets. */
export class NodeAuthorizer implements Authorizer {
  readonly #objects: ObjectReader;

  constructor(objects: ObjectReader) {
    this.#objects = objects;
  }

  /** True for users whose permissions depend on the Pods of a Node. */
  decidesAbout(user: User): boolean {
    return nodeNameOf(user) !== undefined;
  }

  authorize(attributes: Attributes): Decision {
    const node = nodeNameOf(attributes.user);
    if (node === undefined) return denied;
    if (node === "") return deny(`unknown node for user ${JSON.stringify(attributes.user.name)}`);
    const { isResourceRequest, group, resource } = attributes;
    const decide = isResourceRequest ? deciders.get(group === "" ? resource : `${resource}.${group}`) : undefined;
    if (decide !== undefined) return decide(attributes, node, this.#objects);
    return nodeRules().some((rule) => isAllowedBy(rule, attributes)) ? allowed : denied;
  }
}

function deny(reason: string): Decision {
  return { isAllowed: false, reason };
}

type Decide = (attributes: Attributes, node: string, objects: ObjectReader) => Decision;

/** True if a node may read the object, because it is on the node or needed there. */
type IsRelated = (objects: ObjectReader, node: string, namespace: string, name: string) => boolean;

let rules: readonly PolicyRule[] | undefined;

/** The rules of the ClusterRole `system:node` of a new cluster. */
function nodeRules(): readonly PolicyRule[] {
  rules ??= bootstrapRbac(() => ({})).filter(([collection, { metadata }]) =>
    collection === "clusterroles.rbac.authorization.k8s.io" && metadata.name === "system:node"
  ).flatMap(([, role]) => rulesOf(role));
  return rules;
}

function related(isRelated: IsRelated, { namespace, name }: Attributes, node: string, objects: ObjectReader): Decision {
  if (name === "") return deny("No Object name found");
  if (isRelated(objects, node, namespace, name)) return allowed;
  return deny(`no relationship found between node '${node}' and this object`);
}

/** Only `get`, of single objects. */
function getOf(isRelated: IsRelated): Decide {
  return (attributes, node, objects) => {
    if (attributes.verb !== "get") return deny("can only get individual resources of this type");
    if (attributes.subresource !== "") return deny("cannot get subresource");
    return related(isRelated, attributes, node, objects);
  };
}

/** `get`, and `list` and `watch` of a single object. */
function readOf(isRelated: IsRelated): Decide {
  return (attributes, node, objects) => {
    const { verb, subresource, namespace } = attributes;
    if (!["get", "list", "watch"].includes(verb)) return deny("can only read resources of this type");
    if (subresource !== "") return deny("cannot read subresource");
    if (namespace === "") return deny("can only read namespaced object of this type");
    return related(isRelated, attributes, node, objects);
  };
}

const decideClaim: Decide = (attributes, node, objects) => {
  if (attributes.subresource !== "status") return getOf(isClaimRelated)(attributes, node, objects);
  if (!["update", "patch"].includes(attributes.verb)) return deny("can only get/update/patch this type");
  return related(isClaimRelated, attributes, node, objects);
};

const decideServiceAccount: Decide = (attributes, node, objects) => {
  const { verb, subresource, name } = attributes;
  if (verb === "get" && subresource === "") return readOf(isAccountRelated)(attributes, node, objects);
  if (verb !== "create" || name === "") return deny("can only create tokens for individual service accounts");
  if (subresource !== "token") return deny("can only create token subresource of serviceaccount");
  return related(isAccountRelated, attributes, node, objects);
};

const ownVerbs = ["get", "create", "update", "patch", "delete"];

const decideLease: Decide = ({ verb, namespace, name }, node) => {
  if (!ownVerbs.includes(verb)) return deny("can only get, create, update, patch, or delete a node lease");
  if (namespace !== leaseNamespace) return deny(`can only access leases in the "${leaseNamespace}" system namespace`);
  if (verb === "create" || name === node) return allowed;
  return deny("can only access node lease with the same name as the requesting node");
};

const decideCsiNode: Decide = ({ verb, subresource, name }, node) => {
  if (!ownVerbs.includes(verb)) return deny("can only get, create, update, patch, or delete a CSINode");
  if (subresource !== "") return deny("cannot authorize CSINode subresources");
  if (verb === "create" || name === node) return allowed;
  return deny("can only access CSINode with the same name as the requesting node");
};

const decideResourceSlice: Decide = (attributes, node, objects) => {
  if (attributes.subresource !== "") return deny("cannot authorize ResourceSlice subresources");
  switch (attributes.verb) {
    case "create":
      return allowed;
    case "get":
    case "update":
    case "patch":
    case "delete":
      return related(isSliceRelated, attributes, node, objects);
    case "watch":
    case "list":
    case "deletecollection":
      if (selectsNode(attributes, node)) return allowed;
      return deny("can only list/watch/deletecollection resourceslices with nodeName field selector");
    default:
      return deny(
        "only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, " +
          "deletecollection",
      );
  }
};

const decideNode: Decide = ({ verb, subresource, name }, node) => {
  if (subresource === "status") return ["update", "patch"].includes(verb) ? allowed : denied;
  if (subresource !== "") return denied;
  if (["create", "update", "patch"].includes(verb)) return allowed;
  if (!["get", "list", "watch"].includes(verb)) return denied;
  if (name === node) return allowed;
  const what = name === "" ? "all nodes" : `'${name}'`;
  return deny(`node '${node}' cannot read ${what}, only its own Node object`);
};

const decidePod: Decide = (attributes, node, objects) => {
  const { verb, subresource, name } = attributes;
  switch (subresource) {
    case "":
      if (verb === "get") return getOf(isPodRelated)(attributes, node, objects);
      if (verb === "create" || verb === "delete") return allowed;
      if (verb !== "list" && verb !== "watch") return denied;
      if (selectsNode(attributes, node)) return allowed;
      if (name !== "") return related(isPodRelated, attributes, node, objects);
      return deny("can only list/watch pods with spec.nodeName field selector");
    case "status":
      return verb === "update" || verb === "patch" ? allowed : denied;
    case "eviction":
      return verb === "create" ? allowed : denied;
    default:
      return denied;
  }
};

function selectsNode({ requiredFields = [] }: Attributes, node: string): boolean {
  return requiredFields.some(({ field, value }) => field === "spec.nodeName" && value === node);
}

/** The Pods on a Node; mirror Pods are created by the kubelet, and so give it nothing. */
function* podsOn(objects: ObjectReader, node: string, namespace: string): Generator<JsonObject, void, void> {
  for (const pod of objects.list("pods", namespace)) {
    if (textAt(objectAt(pod, "spec"), "nodeName") !== node) continue;
    if (findObject(objectAt(pod, "metadata"), "annotations")?.[mirror] === undefined) yield pod;
  }
}

/** True if a Pod on the Node has the name in what `namesIn` finds. */
function isNamedByPod(namesIn: (pod: JsonObject) => Iterable<string>): IsRelated {
  return (objects, node, namespace, name) => {
    for (const pod of podsOn(objects, node, namespace)) {
      for (const known of namesIn(pod)) if (known === name) return true;
    }
    return false;
  };
}

const isClaimRelated = isNamedByPod(claimNames);
const isConfigMapRelated = isNamedByPod((pod) => configMapNames(objectAt(pod, "spec")));
const isAccountRelated = isNamedByPod((pod) => [textAt(objectAt(pod, "spec"), "serviceAccountName")]);
const isNamedSecret = isNamedByPod((pod) => secretNames(objectAt(pod, "spec")));
const isResourceClaimRelated = isNamedByPod(resourceClaimNames);

const isSecretRelated: IsRelated = (objects, node, namespace, name) => {
  if (isNamedSecret(objects, node, namespace, name)) return true;
  for (const volume of objects.list("persistentvolumes")) {
    for (const secret of volumeSecrets(volume)) {
      if (secret.name === name && secret.namespace === namespace && isVolumeOn(objects, node, volume)) return true;
    }
  }
  return false;
};

const isVolumeRelated: IsRelated = (objects, node, _namespace, name) => {
  const volume = objects.get("persistentvolumes", "", name);
  return volume !== undefined && isVolumeOn(objects, node, volume);
};

/** True if the claim of the volume is that of a Pod on the Node. */
function isVolumeOn(objects: ObjectReader, node: string, volume: JsonObject): boolean {
  const claim = findObject(objectAt(volume, "spec"), "claimRef");
  return claim !== undefined && isClaimRelated(objects, node, textAt(claim, "namespace"), textAt(claim, "name"));
}

const isPodRelated: IsRelated = (objects, node, namespace, name) => {
  const pod = objects.get("pods", namespace, name);
  return pod !== undefined && textAt(objectAt(pod, "spec"), "nodeName") === node;
};

const isAttachmentRelated: IsRelated = (objects, node, _namespace, name) => isOnNode(objects, attachments, node, name);
const isSliceRelated: IsRelated = (objects, node, _namespace, name) => isOnNode(objects, slices, node, name);
const attachments = "volumeattachments.storage.k8s.io";
const slices = "resourceslices.resource.k8s.io";

function isOnNode(objects: ObjectReader, collection: string, node: string, name: string): boolean {
  const object = objects.get(collection, "", name);
  return object !== undefined && textAt(objectAt(object, "spec"), "nodeName") === node;
}

/** The Secrets of a PersistentVolume that its kubelet reads. */
function* volumeSecrets(volume: JsonObject): Generator<{ readonly namespace: string; readonly name: string }> {
  const spec = objectAt(volume, "spec");
  const own = textAt(objectAt(spec, "claimRef"), "namespace");
  const file = findObject(spec, "azureFile");
  if (file !== undefined) yield { namespace: textAt(file, "secretNamespace") || own, name: textAt(file, "secretName") };
  for (const type of ["cephfs", "cinder", "flexVolume", "rbd", "scaleIO", "iscsi", "storageos"]) {
    const secret = findObject(objectAt(spec, type), "secretRef");
    if (secret !== undefined) yield { namespace: textAt(secret, "namespace") || own, name: textAt(secret, "name") };
  }
  for (const key of ["nodePublishSecretRef", "nodeStageSecretRef", "nodeExpandSecretRef"]) {
    const secret = findObject(objectAt(spec, "csi"), key);
    if (secret !== undefined) yield { namespace: textAt(secret, "namespace"), name: textAt(secret, "name") };
  }
}

function* resourceClaimNames(pod: JsonObject): Generator<string, void, void> {
  const status = objectAt(pod, "status");
  for (const claim of objectsAt(objectAt(pod, "spec"), "resourceClaims")) {
    const name = textAt(claim, "resourceClaimName");
    if (name !== "") yield name;
  }
  for (const claim of objectsAt(status, "resourceClaimStatuses")) yield textAt(claim, "resourceClaimName");
  const extended = textAt(objectAt(status, "extendedResourceClaimStatus"), "resourceClaimName");
  if (extended !== "") yield extended;
}

const deciders: ReadonlyMap<string, Decide> = new Map<string, Decide>([
  ["secrets", readOf(isSecretRelated)],
  ["configmaps", readOf(isConfigMapRelated)],
  ["persistentvolumeclaims", decideClaim],
  ["persistentvolumes", getOf(isVolumeRelated)],
  ["resourceclaims.resource.k8s.io", getOf(isResourceClaimRelated)],
  ["volumeattachments.storage.k8s.io", getOf(isAttachmentRelated)],
  ["serviceaccounts", decideServiceAccount],
  ["leases.coordination.k8s.io", decideLease],
  ["csinodes.storage.k8s.io", decideCsiNode],
  ["resourceslices.resource.k8s.io", decideResourceSlice],
  ["nodes", decideNode],
  ["pods", decidePod],
  // Its feature gate is off by default.
  ["podcertificaterequests.certificates.k8s.io", () => denied],
]);
