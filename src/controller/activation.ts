/**
 * ActivationCondition: on which object it depends whether a kind is watched. `whenServed` is for kinds that a cluster may
 * have or not have, `whenObject` for everything else. The caches evaluate the condition whenever the object changes.
 */
import {
  type Infer,
  type KubeObject,
  type ObjectKey,
  objectKey,
  type Resource,
  resourceName,
  splitKey,
} from "../api/mod.ts";
import type { Activation } from "../cache/mod.ts";
import { errorText } from "../observe/mod.ts";
import { CrdResource, type StoredCrd } from "../schema/mod.ts";
import { isInHub } from "./clusters.ts";
import { TerminalError } from "./request.ts";

/** A condition under which a kind is watched. {@link whenServed} and {@link whenObject} create one. */
export interface ActivationCondition {
  /** The kind of the object that decides. */
  readonly resource: Resource;
  /** The key of the object that decides. */
  readonly key: ObjectKey;
  /** Returns true while the kind is to be watched, otherwise what is missing. It gets undefined if the object does not exist. */
  readonly evaluate: (object: KubeObject | undefined) => true | string;
}

/**
 * Holds while a cluster serves a kind that a CustomResourceDefinition defines: the definition exists, is established, serves
 * the version, and is not being deleted: then the server deletes all objects, and refuses new ones. It watches that one
 * definition, so no request is repeated to find out.
 *
 * @returns The condition, for `activation` of `owns`, `watches` and `dependent`.
 * @example A Certificate for each Namespace, in clusters that have cert-manager
 * ```ts
 * import { controller, defineResource, done, manifest, Namespace, whenServed, z } from "@pintle/controller";
 * import { CrdResource } from "@pintle/controller/schema";
 * import { World } from "@pintle/controller/testing";
 *
 * const Certificate = defineResource({
 *   group: "cert-manager.io",
 *   version: "v1",
 *   kind: "Certificate",
 *   scope: "Namespaced",
 *   spec: z.object({ secretName: z.string() }),
 * });
 * const secured = controller("secured").for(Namespace).owns(Certificate, { activation: whenServed(Certificate) })
 *   .reconcile(async (ctx) => {
 *     const namespace = ctx.object.metadata.name;
 *     if (!ctx.isActive(Certificate)) return done;
 *     await ctx.apply(manifest(Certificate, { metadata: { namespace, name: "tls" }, spec: { secretName: "tls" } }));
 *     return done;
 *   });
 * await using world = await World.start({ controllers: [secured], cluster: false });
 * await world.create(Namespace, { name: "team-a" });
 * await world.settled();
 * await world.client.create(CrdResource, Certificate.crd);
 * await world.settled();
 * console.assert(world.get(Certificate, "team-a/tls").spec.secretName === "tls");
 * ```
 */
export function whenServed(resource: Resource): ActivationCondition {
  const name = resourceName(resource);
  return Object.freeze({
    resource: CrdResource,
    key: objectKey({ name }),
    evaluate: (definition: KubeObject | undefined) => {
      const missing = missingFor(resource, definition as StoredCrd | undefined);
      return missing === undefined ? true : `${name} ${missing}`;
    },
  });
}

/** What a definition lacks for its kind to be served; undefined when it is. */
function missingFor({ version }: Resource, definition: StoredCrd | undefined): string | undefined {
  if (definition === undefined) return "is not installed";
  if (definition.metadata.deletionTimestamp !== undefined) return "is being deleted";
  const isServed = definition.spec.versions.some(({ name, served }) => name === version && served);
  if (!isServed) return `has no version ${version}`;
  const isEstablished = definition.status?.conditions?.some(({ type, status }) =>
    type === "Established" && status === "True"
  );
  return isEstablished === true ? undefined : "is not established";
}

/** True for the condition that a kind is served: then somebody else installs it. */
export function isServedCondition({ resource, key }: ActivationCondition, kind: Resource): boolean {
  return resource === CrdResource && key === resourceName(kind);
}

/**
 * Holds while a function of one object says so. It is called again whenever the object changes.
 *
 * @param resource The kind of the object.
 * @param key "namespace/name", or "name" if the kind is cluster-scoped.
 * @param holds Gets the object, undefined if there is none. Instead of false it may return a text that says what is missing.
 * @returns The condition, for `activation` of `owns`, `watches` and `dependent`.
 * @throws TypeError when the key has another form, or the kind is one of the hub.
 * @example Secrets are watched as long as a setting says so
 * ```ts
 * import { ConfigMap, controller, done, Namespace, Secret, whenObject } from "@pintle/controller";
 *
 * const checksSecrets = whenObject(ConfigMap, "operators/features", (map) => map?.data?.secrets === "on" || "is off");
 * const checker = controller("checker").for(Namespace)
 *   .watches(Secret, { activation: checksSecrets, to: ({ metadata }) => [metadata.namespace ?? ""] })
 *   .reconcile(() => Promise.resolve(done));
 * console.assert(checker.watches[1]?.activation === checksSecrets);
 * ```
 */
export function whenObject<R extends Resource>(
  resource: R,
  key: string,
  holds: (object: Infer<R> | undefined) => boolean | string,
): ActivationCondition {
  const parts = splitKey(key);
  if ((parts.namespace !== undefined) !== (resource.scope === "Namespaced") || parts.name === "") {
    const form = resource.scope === "Namespaced" ? "namespace/name" : "name";
    throw new TypeError(`Cannot depend on ${resource.kind} "${key}": its keys have the form ${form}`);
  }
  if (isInHub(resource)) throw new TypeError(`Cannot depend on ${resource.kind} "${key}": it is in the hub`);
  const evaluate = (object: KubeObject | undefined) => {
    try {
      const answer = holds(object as Infer<R> | undefined);
      if (answer === true) return true;
      return `${resource.kind} "${key}" ${answer === false ? "does not meet the condition" : answer}`;
    } catch (error) {
      return `the condition on ${resource.kind} "${key}" failed: ${errorText(error)}`;
    }
  };
  return Object.freeze({ resource, key: objectKey(parts), evaluate });
}

/** Why the cache of a kind has no objects, as the end of a sentence; undefined when it has. */
export function inactivityOf(activation: Activation | undefined): string | undefined {
  if (activation === undefined) return undefined;
  const { state } = activation;
  switch (state.kind) {
    case "active":
      return undefined;
    case "inactive":
      return state.reason;
    case "syncing":
      return "its objects are being read";
    case "unknown":
      return "its condition is not known yet";
    default:
      return state satisfies never;
  }
}

/** Calls `onChange` when a kind of a controller becomes active or ceases to be. Dispose the result to end that. */
export function listenToActivations(
  { watches }: {
    readonly watches: readonly { readonly resource: Resource; readonly activation?: ActivationCondition }[];
  },
  caches: { informer(resource: Resource): { readonly activation: Activation | undefined } },
  onChange: (resource: Resource, inactivity: string | undefined) => void,
): Disposable {
  const listening = watches.flatMap(({ resource, activation: condition }) => {
    const activation = condition && caches.informer(resource).activation;
    return activation === undefined ? [] : [activation.listen(() => onChange(resource, inactivityOf(activation)))];
  });
  return {
    [Symbol.dispose]: () => {
      for (const one of listening) one[Symbol.dispose]();
    },
  };
}

/** @throws TerminalError when the kind is not active: the change of the condition brings the key back */
export function assertActive(resource: Resource, key: string, inactivity: string | undefined): void {
  if (inactivity === undefined) return;
  throw new TerminalError(
    `Cannot apply ${resource.kind} "${key}": ${resourceName(resource)} is not active: ${inactivity}. ` +
      `Call ctx.isActive(${resource.kind}) before`,
  );
}
