/**
 * The objects of its namespace that a Pod refers to by name. Source: kubernetes `pkg/api/v1/pod/util.go` of 1.36.
 */
import type { JsonObject } from "../../model/mod.ts";
import { findObject, nameOf, objectAt, objectsAt, textAt } from "../types/mod.ts";

/** The lists of containers of a Pod. */
const containerLists = ["initContainers", "containers", "ephemeralContainers"];

/** Volumes whose `secretRef` is a Secret of the namespace. */
const secretVolumes = ["cephfs", "cinder", "flexVolume", "rbd", "scaleIO", "iscsi", "storageos"];

/** The names of the Secrets that the spec of a Pod refers to. */
export function* secretNames(spec: JsonObject): Generator<string, void, void> {
  for (const secret of objectsAt(spec, "imagePullSecrets")) yield* given(textAt(secret, "name"));
  yield* environmentNames(spec, "secretRef", "secretKeyRef");
  for (const volume of objectsAt(spec, "volumes")) {
    yield* given(textAt(objectAt(volume, "azureFile"), "secretName"));
    for (const type of secretVolumes) yield* given(textAt(objectAt(objectAt(volume, type), "secretRef"), "name"));
    yield* projectedNames(volume, "secret");
    yield* given(textAt(objectAt(volume, "secret"), "secretName"));
    yield* given(textAt(objectAt(objectAt(volume, "csi"), "nodePublishSecretRef"), "name"));
  }
}

/** The names of the ConfigMaps that the spec of a Pod refers to. */
export function* configMapNames(spec: JsonObject): Generator<string, void, void> {
  yield* environmentNames(spec, "configMapRef", "configMapKeyRef");
  for (const volume of objectsAt(spec, "volumes")) {
    yield* projectedNames(volume, "configMap");
    yield* given(textAt(objectAt(volume, "configMap"), "name"));
  }
}

/** The names of the PersistentVolumeClaims of a Pod, those of its ephemeral volumes included. */
export function* claimNames(pod: JsonObject): Generator<string, void, void> {
  for (const volume of objectsAt(objectAt(pod, "spec"), "volumes")) {
    const claim = findObject(volume, "persistentVolumeClaim");
    if (claim !== undefined) yield textAt(claim, "claimName");
    else if (findObject(volume, "ephemeral") !== undefined) yield `${nameOf(pod)}-${textAt(volume, "name")}`;
  }
}

function* environmentNames(spec: JsonObject, all: string, key: string): Generator<string, void, void> {
  for (const container of containerLists.flatMap((list) => objectsAt(spec, list))) {
    for (const source of objectsAt(container, "envFrom")) yield* given(textAt(objectAt(source, all), "name"));
    for (const variable of objectsAt(container, "env")) {
      yield* given(textAt(objectAt(objectAt(variable, "valueFrom"), key), "name"));
    }
  }
}

function* projectedNames(volume: JsonObject, type: string): Generator<string, void, void> {
  for (const source of objectsAt(objectAt(volume, "projected"), "sources")) {
    yield* given(textAt(objectAt(source, type), "name"));
  }
}

function* given(name: string): Generator<string, void, void> {
  if (name !== "") yield name;
}
