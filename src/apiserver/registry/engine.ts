/**
 * Engine: what all verbs share. The registry makes one; the verbs are functions of it.
 */
import type { Clock, Random } from "../../async/mod.ts";
import type { AdmissionPlugin, JsonObject, Kind, Subject, WriteContext } from "../model/mod.ts";
import type { ObjectStorage } from "../storage/mod.ts";
import type { Call } from "./call.ts";
import type { KindRegistry } from "./kind_registry.ts";

/** What all verbs share. */
export interface Engine {
  readonly storage: ObjectStorage;
  readonly kinds: KindRegistry;
  readonly clock: Clock;
  readonly random: Random;
  /** In the order they are asked. */
  readonly admission: readonly AdmissionPlugin[];
}

/** What the rules of a kind may know of a write. */
export function writeContext(engine: Engine, call: Call): WriteContext {
  return {
    subresource: call.subresource,
    userName: call.user.name,
    user: call.user,
    now: engine.clock.now(),
    random: () => engine.random.next(),
    objects: engine.storage,
  };
}

/** What a refusal of this call is about. */
export function subjectOf(kind: Kind, name: string): Subject {
  return { group: kind.group, resource: kind.plural, name };
}

/** The same for 422, which names the kind. */
export function kindSubject(kind: Kind, name: string): Subject {
  return { group: kind.errorGroup ?? kind.group, resource: kind.kind, name };
}

/** Where the objects of a call are: cluster-scoped ones have no namespace. */
export function storageNamespace(call: Call): string {
  return call.kind.scope === "Cluster" ? "" : call.namespace;
}

/** The name an object says it has. */
export function nameOf(object: JsonObject): string {
  const metadata = object["metadata"];
  if (typeof metadata !== "object" || metadata === null || !("name" in metadata)) return "";
  return typeof metadata.name === "string" ? metadata.name : "";
}
