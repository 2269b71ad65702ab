/**
 * DefaultStorageClass and DefaultIngressClass: a claim or an Ingress that names no class gets the one that is marked as the
 * default, of several the newest. Sources: kubernetes `plugin/pkg/admission/storage/storageclass/setdefault` and
 * `network/defaultingressclass` of 1.36.
 */
import { draftAt, has, nameOf, textAt, textMapAt } from "../kinds/mod.ts";
import type { AdmissionPlugin, JsonObject, ObjectReader } from "../model/mod.ts";
import { readMetadata } from "../registry/mod.ts";
import { created } from "./_request.ts";

/** How a kind names its class, and which class is for all. */
interface Classes {
  readonly name: string;
  readonly collection: string;
  /** The field of the spec. */
  readonly field: string;
  /** The annotation that once named it. */
  readonly annotation: string;
  /** Annotations that mark the default. */
  readonly marks: readonly string[];
}

/** The plugin, for PersistentVolumeClaims. */
export function defaultStorageClass(objects: ObjectReader): AdmissionPlugin {
  return defaulting(objects, {
    name: "DefaultStorageClass",
    collection: "storageclasses.storage.k8s.io",
    field: "storageClassName",
    annotation: "volume.beta.kubernetes.io/storage-class",
    marks: ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"],
  });
}

/** The plugin, for Ingresses. */
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
      const object = created(request);
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
