/**
 * takeSnapshot(): reads the objects of the planned kinds from the cluster, page by page, with the time of its server and the
 * definitions of the custom kinds.
 *
 * Guarantees: it sends GET and LIST requests and no other; the snapshot is bounded in size; a missing permission or a missing
 * kind is an error that says which rule or which command helps.
 *
 * Caveats: the kinds are read one after the other, so a change during the snapshot can be in one and not in another.
 */
import {
  apiVersionOf,
  builtin,
  keyOf,
  type KubeObject,
  PageTokens,
  printExactJson,
  type Resource,
  resourceName,
} from "../../api/mod.ts";
import { type Client, isForbidden, isGone, isNotFound, type Transport } from "../../client/mod.ts";
import { isCustomResource } from "../../manager/mod.ts";
import { CrdResource, type StoredCrd } from "../../schema/mod.ts";
import { CommandError, exitCode } from "../command/mod.ts";
import { permissionAdvice, unknownKindError } from "../connection/mod.ts";
import { count } from "../output/mod.ts";
import type { PlannedKind } from "./planned_kinds.ts";

/** An object of the cluster, in the version in which it was read. */
export interface SnapshotObject {
  /** `deployments.apps`. */
  readonly collection: string;
  readonly object: KubeObject;
}

/** The state of a cluster. */
export interface Snapshot {
  /** The time of the server in milliseconds since 1970. */
  readonly takenAt: number;
  readonly objects: readonly SnapshotObject[];
  /** The definitions of the custom kinds, by name. Absent: it does not exist, or may not be read. */
  readonly definitions: ReadonlyMap<string, StoredCrd>;
  /** Names of definitions that this user may not read. */
  readonly unreadable: readonly string[];
  /** True when the Namespaces of the cluster are in it; else only those that objects are in. */
  readonly hasNamespaces: boolean;
}

/** Options of {@link takeSnapshot}. */
export interface SnapshotOptions {
  readonly kinds: readonly PlannedKind[];
  /** Objects that are read one by one, because no kind above has them. */
  readonly single: readonly { readonly resource: Resource<KubeObject>; readonly key: string }[];
  /** True when definitions that are missing will be installed. */
  readonly installsDefinitions: boolean;
  readonly operatorName: string;
  /** Characters of JSON in all objects. @default 201326592 (192 MiB; they need about five times as much memory) */
  readonly maxCharacters?: number;
  /** The time when the server does not say it, in milliseconds since 1970. */
  readonly now: number;
  readonly onProgress: (text: string) => void;
  readonly signal: AbortSignal;
}

/** Objects per request. */
const pageSize = 500;

/** Reads the state of a cluster. @throws CommandError when something may not be read, does not exist, or is too large */
export async function takeSnapshot(client: Client, options: SnapshotOptions): Promise<Snapshot> {
  const reader = new SnapshotReader(client, options);
  return await reader.read();
}

class SnapshotReader {
  readonly #client: Client;
  readonly #options: SnapshotOptions;
  readonly #objects = new Map<string, SnapshotObject>();
  readonly #definitions = new Map<string, StoredCrd>();
  readonly #unreadable: string[] = [];
  #characters = 0;
  #serverTime: number | undefined;

  constructor(client: Client, options: SnapshotOptions) {
    this.#client = client.withTransport((next) => this.#readOnly(next));
    this.#options = options;
  }

  async read(): Promise<Snapshot> {
    const { kinds, single, signal, now } = this.#options;
    for (const { resource } of kinds) if (isCustomResource(resource)) await this.#readDefinition(resource);
    for (const kind of kinds) await this.#readKind(kind);
    for (const { resource, key } of single) {
      const object = await this.#client.find(resource, key, { signal }).catch((error: unknown) => {
        throw isForbidden(error) ? forbiddenError(resource, { verbs: ["get"], namespace: undefined }, error) : error;
      });
      if (object !== undefined) this.#add(resource, object);
    }
    const hasNamespaces = await this.#readNamespaces(kinds);
    return {
      takenAt: this.#serverTime ?? now,
      objects: [...this.#objects.values()],
      definitions: this.#definitions,
      unreadable: this.#unreadable,
      hasNamespaces,
    };
  }

  /** Refuses every request that could change something, and notes the time of the server. */
  #readOnly(next: Transport): Transport {
    return async (request) => {
      if (request.method !== "GET") throw new TypeError(`Cannot send ${request.method} in a plan: it only reads`);
      const response = await next(request);
      const at = Date.parse(response.headers.get("date") ?? "");
      if (!Number.isNaN(at)) this.#serverTime = at;
      return response;
    };
  }

  async #readDefinition(resource: Resource): Promise<void> {
    const { signal } = this.#options;
    const name = resourceName(resource);
    try {
      const live = await this.#client.find(CrdResource, name, { signal });
      if (live !== undefined) this.#definitions.set(name, live);
    } catch (error) {
      if (!isForbidden(error)) throw error;
      this.#unreadable.push(name);
    }
  }

  async #readKind(kind: PlannedKind): Promise<void> {
    const { installsDefinitions } = this.#options;
    const name = resourceName(kind.resource);
    const live = this.#definitions.get(name);
    if (live === undefined && installsDefinitions && isCustomResource(kind.resource)) {
      if (!this.#unreadable.includes(name)) return; // it will be installed, and has no objects yet
    }
    const resource = installsDefinitions && live !== undefined ? inServedVersion(kind.resource, live) : kind.resource;
    for (const namespace of kind.namespaces.length === 0 ? [undefined] : kind.namespaces) {
      try {
        await this.#readObjects({ ...kind, resource }, namespace);
      } catch (error) {
        if (isForbidden(error)) throw forbiddenError(resource, { ...kind, verbs: ["get", "list"], namespace }, error);
        if (isNotFound(error) && kind.isOptional === true) return;
        if (isNotFound(error)) throw missingKindError(kind, this.#options, error);
        throw error;
      }
    }
  }

  async #readObjects({ resource, metadataOnly }: PlannedKind, namespace: string | undefined): Promise<void> {
    const { signal, onProgress } = this.#options;
    let tokens = new PageTokens();
    for (let next: string | undefined = "";;) {
      const token = next === "" ? undefined : next;
      const page = await this.#client.list(resource, {
        ...{ namespace, metadataOnly, limit: pageSize, continue: token, keepManagedFields: true, signal },
      }).catch((error: unknown) => {
        if (token === undefined || !isGone(error)) throw error;
      });
      if (page === undefined) {
        // The server has forgotten the snapshot of the list: it begins again.
        next = "";
        tokens = new PageTokens();
        continue;
      }
      for (const object of page.items) this.#add(resource, object);
      onProgress(`reading ${resourceName(resource)}: ${count(this.#objects.size, "object")} so far`);
      next = tokens.after(page);
      if (next === undefined) return;
    }
  }

  /** Namespaces say which writes can succeed. Without the permission, those that are in use count as existing. */
  async #readNamespaces(kinds: readonly PlannedKind[]): Promise<boolean> {
    if (kinds.some(({ resource }) => resourceName(resource) === "namespaces")) return true;
    const resource = builtin.Namespace as Resource<KubeObject>;
    try {
      await this.#readObjects({ resource, metadataOnly: false, controller: "", namespaces: [] }, undefined);
      return true;
    } catch (error) {
      if (isForbidden(error)) return false;
      throw error;
    }
  }

  #add(resource: Resource, given: KubeObject): void {
    const { maxCharacters = 192 * 1024 * 1024 } = this.#options;
    const object = { ...given, apiVersion: apiVersionOf(resource), kind: resource.kind };
    const collection = resourceName(resource);
    const id = `${collection} ${keyOf(object)}`;
    if (!this.#objects.has(id)) this.#characters += printExactJson(object).length;
    this.#objects.set(id, { collection, object });
    if (this.#characters <= maxCharacters) return;
    throw new CommandError(
      `Cannot plan: the objects have more than ${Math.floor(maxCharacters / 1024 / 1024)} MiB, ` +
        `after ${count(this.#objects.size, "object")} up to ${collection}`,
      { code: exitCode.failed, advice: "Plan fewer controllers at a time, or one namespace with -n" },
    );
  }
}

/** The kind in its own version if the live definition serves it, else in one that it serves. */
function inServedVersion(resource: Resource<KubeObject>, { spec }: StoredCrd): Resource<KubeObject> {
  const served = spec.versions.filter((version) => version.served);
  if (served.some(({ name }) => name === resource.version)) return resource;
  const version = served.find(({ storage }) => storage) ?? served[0];
  return version === undefined ? resource : { ...resource, version: version.name };
}

function missingKindError(
  { resource, controller }: PlannedKind,
  { operatorName }: SnapshotOptions,
  cause: unknown,
): CommandError {
  const name = resourceName(resource);
  const action = `Cannot plan controller "${controller}"`;
  if (!isCustomResource(resource)) return unknownKindError(action, resource, cause);
  const advice = `Add --crds to plan its installation, or run: ${operatorName} install-crds ${controller}`;
  const message = `${action}: the CustomResourceDefinition ${name} is not installed in version ${resource.version}`;
  return new CommandError(message, { code: exitCode.crdMissing, advice, cause });
}

/** The error for a missing permission, with the RBAC rule as advice. */
function forbiddenError(
  resource: Resource,
  { controller, verbs, namespace }: {
    readonly controller?: string;
    readonly verbs: readonly string[];
    readonly namespace: string | undefined;
  },
  cause: unknown,
): CommandError {
  const action = controller === undefined ? "Cannot plan the files" : `Cannot plan controller "${controller}"`;
  const where = namespace === undefined ? "" : ` in namespace "${namespace}"`;
  return new CommandError(`${action}: this user may not ${verbs.at(-1)} ${resourceName(resource)}${where}`, {
    code: exitCode.permission,
    advice: permissionAdvice(resource, verbs, namespace),
    cause,
  });
}
