/**
 * Plugins that only set fields of new objects: DefaultTolerationSeconds, TaintNodesByCondition, StorageObjectInUseProtection,
 * DefaultStorageClass and DefaultIngressClass. Sources: the packages of these names in kubernetes `plugin/pkg/admission` of
 * 1.36.
 */
import { draftAt, draftsAt, has, nameOf, textAt, textMapAt, textsAt } from "../kinds/mod.ts";
import type { AdmissionPlugin, JsonObject, ObjectReader } from "../model/mod.ts";
import { readMetadata } from "../registry/mod.ts";
import { newObject } from "./_request.ts";

const notReady = "node.kubernetes.io/not-ready";
const toleratedTaints = [notReady, "node.kubernetes.io/unreachable"];
const tolerationSeconds = 300;

/** The plugin for Pods: tolerates nodes that are not ready or unreachable for five minutes. */
export const defaultTolerations: AdmissionPlugin = {
  name: "DefaultTolerationSeconds",
  admit({ operation, subresource, object }) {
    if (object === undefined || subresource !== "" || operation === "DELETE") return;
    const spec = draftAt(object, "spec");
    const own = draftsAt(spec, "tolerations");
    const missing = toleratedTaints.filter((taint) => !own.some((toleration) => tolerates(toleration, taint)));
    if (missing.length === 0) return;
    const added = missing.map((key) => ({
      key,
      operator: "Exists",
      effect: "NoExecute",
      tolerationSeconds,
    }));
    spec["tolerations"] = [...own, ...added];
  },
};

function tolerates(toleration: JsonObject, taint: string): boolean {
  const [key, effect] = [textAt(toleration, "key"), textAt(toleration, "effect")];
  return (key === "" || key === taint) && (effect === "" || effect === "NoExecute");
}

/** The plugin for Nodes: a new node is tainted as not ready. */
export const taintNewNodes: AdmissionPlugin = {
  name: "TaintNodesByCondition",
  admit(request) {
    const node = newObject(request);
    if (node === undefined) return;
    const spec = draftAt(node, "spec");
    const taints = draftsAt(spec, "taints");
    if (taints.some((taint) => textAt(taint, "key") === notReady && textAt(taint, "effect") === "NoSchedule")) return;
    spec["taints"] = [...taints, { key: notReady, effect: "NoSchedule" }];
  },
};

/** The plugin for PersistentVolumes and claims: adds the finalizer that keeps an object while it is in use. */
export function volumeProtection(finalizer: string): AdmissionPlugin {
  return {
    name: "StorageObjectInUseProtection",
    admit(request) {
      const object = newObject(request);
      if (object === undefined) return;
      const metadata = draftAt(object, "metadata");
      const finalizers = textsAt(metadata, "finalizers");
      if (!finalizers.includes(finalizer)) metadata["finalizers"] = [...finalizers, finalizer];
    },
  };
}

/** Where a kind names its class, and how a class is marked as the default. */
interface Classes {
  readonly name: string;
  readonly collection: string;
  /** The field of the spec. */
  readonly field: string;
  /** The deprecated annotation. */
  readonly annotation: string;
  /** Annotations that mark the default. */
  readonly marks: readonly string[];
}

/** The plugin for PersistentVolumeClaims. */
export function defaultStorageClass(objects: ObjectReader): AdmissionPlugin {
  return defaulting(objects, {
    name: "DefaultStorageClass",
    collection: "storageclasses.storage.k8s.io",
    field: "storageClassName",
    annotation: "volume.beta.kubernetes.io/storage-class",
    marks: ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"],
  });
}

/** The plugin for Ingresses. */
export function defaultIngressClass(objects: ObjectReader): AdmissionPlugin {
  return defaulting(objects, {
    name: "DefaultIngressClass",
    collection: "ingressclasses.networking.k8s.io",
    field: "ingressClassName",
    annotation: "kubernetes.io/ingress.class",
    marks: ["ingressclass.kubernetes.io/is-default-class"],
  });
}

function defaulting(objects: ObjectReader, { name, collection, field, annotation, marks }: Classes): AdmissionPlugin {
  return {
    name,
    admit(request) {
      const object = newObject(request);
      if (object === undefined || textMapAt(readMetadata(object), "annotations").has(annotation)) return;
      const spec = draftAt(object, "spec");
      if (has(spec, field)) return;
      const [newest] = [...objects.list(collection)].filter((each) => isMarked(each, marks)).toSorted(newestFirst);
      if (newest !== undefined) spec[field] = nameOf(newest);
    },
  };
}

function isMarked(object: JsonObject, marks: readonly string[]): boolean {
  const annotations = textMapAt(readMetadata(object), "annotations");
  return marks.some((mark) => annotations.get(mark) === "true");
}

function newestFirst(left: JsonObject, right: JsonObject): number {
  const time = (object: JsonObject) => textAt(readMetadata(object), "creationTimestamp");
  if (time(left) !== time(right)) return time(left) > time(right) ? -1 : 1;
  return nameOf(left) < nameOf(right) ? -1 : 1;
}
