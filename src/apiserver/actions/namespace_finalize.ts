/**
 * `namespaces/finalize`: sets the finalizers in the spec of a Namespace, which the namespace controller removes last. A
 * deleted Namespace without finalizers in spec and metadata is removed.
 */
import {
  badRequest,
  conflict,
  type Draft,
  invalid,
  isJsonObject,
  type Json,
  type JsonObject,
  read,
} from "../model/mod.ts";
import { draftAt, objectAt, textAt } from "../kinds/mod.ts";
import { type ActionCall, checkUid, type SubresourceHandler } from "../registry/mod.ts";
import { changeStored } from "./_change.ts";

export const namespaceFinalizeHandler: SubresourceHandler = {
  collection: "namespaces",
  subresource: "finalize",
  handle(call) {
    const desired = call.body === undefined ? undefined : read<Json>(call.body, "spec");
    const finalizers = isJsonObject(desired) && Array.isArray(desired.finalizers) ? desired.finalizers.map(String) : [];
    const named = { ...call, namespace: "" };
    const given = call.body === undefined ? {} : objectAt(call.body, "metadata");
    checkName(textAt(given, "name"), call.name);
    const object = changeStored(named, (namespace, live) => {
      checkUid(named, textAt(given, "uid"), live);
      checkVersion(given, live);
      setFinalizers(namespace, finalizers);
      checkFinalizers(call, namespace, live);
    });
    if (!call.isDryRun && canBeRemoved(object)) {
      const stored = call.registry.storage.find("namespaces", "", call.name);
      if (stored !== undefined) call.registry.storage.delete("namespaces", stored);
    }
    return { kind: "object", code: 200, object };
  },
};

/** The name in the body must be the one in the URL. */
function checkName(own: string, name: string): void {
  if (own === "") {
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  }
  if (own !== name) {
    throw badRequest(`the name of the object (${own}) does not match the name on the URL (${name})`);
  }
}

/** The version in the body, if there is one, must be that of the object. */
function checkVersion(given: JsonObject, live: JsonObject): void {
  const known = objectAt(live, "metadata");
  const subject = { group: "", resource: "namespaces", name: textAt(known, "name") };
  const version = textAt(given, "resourceVersion");
  if (version !== "" && version !== "0" && version !== textAt(known, "resourceVersion")) {
    throw conflict(
      subject,
      "the object has been modified; please apply your changes to the latest version and try again",
    );
  }
}

/** @throws StatusError 422 */
function checkFinalizers({ kind, name, user, registry, subresource }: ActionCall, namespace: Draft, live: JsonObject) {
  const objects = registry.storage;
  const context = { subresource, userName: user.name, user, now: 0, random: () => 0, objects };
  const errors = kind.validateUpdate(namespace, live, context);
  if (errors.length > 0) throw invalid({ group: "", resource: kind.kind, name }, errors);
}

function setFinalizers(namespace: Draft, finalizers: string[]): void {
  const spec = draftAt(namespace, "spec");
  if (finalizers.length > 0) spec.finalizers = finalizers;
  else delete spec.finalizers;
}

function canBeRemoved(namespace: JsonObject): boolean {
  const metadata = read<Json>(namespace, "metadata");
  const spec = read<Json>(namespace, "spec");
  if (!isJsonObject(metadata) || metadata.deletionTimestamp === undefined) return false;
  const all = [metadata.finalizers, isJsonObject(spec) ? spec.finalizers : undefined];
  return all.every((finalizers) => !Array.isArray(finalizers) || finalizers.length === 0);
}
