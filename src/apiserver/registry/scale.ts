/**
 * The scale subresource: autoscaling/v1 Scale, read from and written to the fields that a kind names, so that HPAs and
 * `kubectl scale` need not know the kind. Who owns the replicas is kept in the object's own managedFields.
 */
import { apiVersionOf } from "../../api/mod.ts";
import {
  badRequest,
  conflict,
  draftOf,
  type FieldError,
  invalid,
  isJsonObject,
  type Json,
  type JsonObject,
  type Kind,
  notFound,
  read,
  type Refusal,
  type ScalePaths,
} from "../model/mod.ts";
import {
  applyConfiguration,
  managedFieldsAfterScale,
  managedFieldsOf,
  type ReplicasPaths,
  scaleManagedFields,
  updateManagedFields,
} from "../patch/mod.ts";
import { scaleOf, scaleSchema, setPath } from "./_scale_object.ts";
import { type Answer, type Body, type Call, represented } from "./call.ts";
import { type Engine, subjectOf } from "./engine.ts";
import { setManagedFields } from "./fields.ts";
import { metadataText } from "./metadata.ts";
import { appliedPatch, configurationOf, merged, type PatchBody } from "./patch.ts";
import { get } from "./read.ts";
import { modifiedText, update } from "./update.ts";

/** The Scale of an object. @throws Refusal 404 */
export async function getScale(engine: Engine, call: Call, name: string, version: string): Promise<JsonObject> {
  const { object } = await get(engine, call, name, version);
  return scaleOf(object, pathsOf(call, name));
}

/** Writes the replicas of a Scale into its object. @throws Refusal */
export function putScale(engine: Engine, call: Call, name: string, body: Body): Promise<Answer> {
  return changeScale(engine, call, name, async (live) => {
    const scale = body();
    const fields = await updateManagedFields({ ...scaleContext(engine, call), live, updated: scale });
    setManagedFields(scale, fields);
    return scale;
  });
}

/** Patches the Scale of an object. @throws Refusal */
export function patchScale(engine: Engine, call: Call, name: string, body: PatchBody): Promise<Answer> {
  return changeScale(engine, call, name, async (live) => {
    const context = scaleContext(engine, call);
    if (body.type === "application/apply-patch+yaml") {
      const request = { ...context, live, applied: configurationOf(body), kind: "Scale", isForced: body.isForced };
      const { object, managedFields } = merged(await applyConfiguration(request));
      const applied = draftOf(object);
      setManagedFields(applied, managedFields);
      return applied;
    }
    // A Scale has no lists, so a strategic merge patch is a merge patch.
    const plain = body.type === "application/json-patch+json" ? body.type : "application/merge-patch+json";
    const result = appliedPatch(live, { ...body, type: plain }, call.fieldValidation);
    const scale = result?.object ?? draftOf(live);
    setManagedFields(scale, await updateManagedFields({ ...context, live, updated: scale }));
    return scale;
  });
}

/** Makes the next Scale of the present one; both carry the managedFields of the replicas. */
type NextScale = (live: JsonObject) => Promise<JsonObject>;

async function changeScale(engine: Engine, call: Call, name: string, next: NextScale): Promise<Answer> {
  const paths = pathsOf(call, name);
  const { kind } = call;
  const answer = await update(engine, { ...call, subresource: "scale" }, {
    name,
    mayCreate: false,
    uid: "",
    next: async (old) => {
      if (old === undefined) throw notFound(subjectOf(kind, name));
      const books = replicasPaths(call);
      const before = managedFieldsOf(old);
      const live = withBooks(scaleOf(old, paths), scaleManagedFields(before, books));
      const scale = await next(live);
      checkScale(call, old, scale);
      const draft = draftOf(old);
      setPath(draft, paths.specReplicas, replicasOf(kind, paths, scale, name));
      const write = {
        managedFields: before,
        scale: managedFieldsOf(scale),
        apiVersion: apiVersionOf(kind),
        paths: books,
      };
      setManagedFields(draft, managedFieldsAfterScale(write));
      return draft;
    },
  });
  return { code: answer.code, result: represented(scaleOf(answer.result.object, paths)) };
}

function scaleContext(engine: Engine, call: Call) {
  return {
    type: scaleSchema,
    apiVersion: "autoscaling/v1",
    subresource: "scale",
    manager: call.fieldManager,
    now: engine.clock.now(),
  };
}

function withBooks(scale: JsonObject, fields: readonly Json[] | undefined): JsonObject {
  const metadata = read(scale, "metadata");
  if (fields === undefined || !isJsonObject(metadata)) return scale;
  return { ...scale, metadata: { ...metadata, managedFields: fields } };
}

/** Where each version of the kind has its replicas. */
function replicasPaths(call: Call): ReplicasPaths {
  return new Map(call.family.served.map((kind) => {
    const path = kind.subresources.get("scale")?.scale?.specReplicas;
    const parts = path?.split(".").filter((part) => part !== "").map((part) => `f:${part}`);
    return [apiVersionOf(kind), parts];
  }));
}

function checkScale(call: Call, old: JsonObject, scale: JsonObject): void {
  const name = metadataText(old, "name");
  const subject = subjectOf(call.kind, name);
  if (read(scale, "kind") !== "Scale") {
    throw badRequest(`the API version in the data (${String(read(scale, "apiVersion"))}) does not match`);
  }
  const own = metadataText(scale, "name");
  if (own !== name) {
    throw badRequest(`the name of the object (${own}) does not match the name on the URL (${name})`);
  }
  const [uid, version] = [metadataText(scale, "uid"), metadataText(scale, "resourceVersion")];
  if (uid !== "" && uid !== metadataText(old, "uid")) {
    const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadataText(old, "uid")}`;
    throw conflict(subject, why);
  }
  if (version !== "" && version !== metadataText(old, "resourceVersion")) throw conflict(subject, modifiedText);
}

function replicasOf(kind: Kind, paths: ScalePaths, scale: JsonObject, name: string): number {
  const spec = read(scale, "spec");
  const replicas = isJsonObject(spec) ? read(spec, "replicas") ?? 0 : 0;
  if (typeof replicas !== "number" || !Number.isInteger(replicas)) {
    throw badRequest(
      'Scale in version "v1" cannot be handled as a Scale: json: cannot unmarshal ' +
        `${typeof replicas} into Go struct field ScaleSpec.spec.replicas of type int32`,
    );
  }
  if (replicas >= 0) return replicas;
  throw negative(kind, paths, replicas, name);
}

function negative(kind: Kind, paths: ScalePaths, replicas: number, name: string): Refusal {
  if (!kind.hasStrategicMerge) {
    const detail = "should be a non-negative integer";
    const error: FieldError = { type: "Invalid", field: paths.specReplicas, value: replicas, detail };
    return invalid({ group: kind.group, resource: kind.kind, name }, [error]);
  }
  const detail = "must be greater than or equal to 0";
  const error: FieldError = { type: "Invalid", field: "spec.replicas", value: replicas, detail };
  return invalid({ group: "autoscaling", resource: "Scale", name }, [error]);
}

function pathsOf(call: Call, name: string): ScalePaths {
  const paths = call.kind.subresources.get("scale")?.scale;
  if (paths === undefined) throw notFound(subjectOf(call.kind, name));
  return paths;
}
