/**
 * OwnWriteOracle: no read of a process is older than the process's own newest write (behaviour 64). It stands between the
 * reconcilers and their tools: it remembers the version of each object that a write returned, and compares what `find` and
 * `list` return with it.
 */
import { compareResourceVersions, type KubeObject, type Resource, resourceName, splitKey } from "../api/mod.ts";
import { isInHub, type Toolbox } from "../controller/mod.ts";
import type { OperatorController } from "../manager/mod.ts";
import type { SimulatedServer } from "./_simulated_server.ts";
import type { Violation } from "./violation.ts";

/** Violations that are reported for one run. */
const maxReported = 5;

interface Written {
  readonly uid: string;
  readonly version: string;
}

/** Observes all processes of a run. */
export class OwnWriteOracle {
  readonly #server: Pick<SimulatedServer, "find">;
  readonly #problems = new Set<string>();

  /** @param server decides whether an object that a read does not show still exists */
  constructor(server: Pick<SimulatedServer, "find">) {
    this.#server = server;
  }

  /**
   * The controllers for one process.
   *
   * @param isKept Whether a controller of the process caches an object as it is on the server. @default it does
   */
  observed(
    controllers: readonly OperatorController[],
    processId: number,
    isKept: IsKept = () => true,
  ): readonly OperatorController[] {
    const written = new Map<string, Written>();
    return controllers.map((controller) => {
      const of: ProcessWrites = { written, processId, isKept: (...stored) => isKept(controller, ...stored) };
      return {
        ...controller,
        reconciler: (request, toolbox) => controller.reconciler(request, this.#tools(toolbox, of)),
      };
    });
  }

  violations(): readonly Violation[] {
    return [...this.#problems].slice(0, maxReported).map((message) => ({ invariant: "own-writes", message }));
  }

  /** The tools of one attempt. All methods but those below work on the Toolbox itself. */
  #tools(toolbox: Toolbox, of: ProcessWrites): Toolbox {
    const { written } = of;
    const record = (resource: Resource, result: unknown) => {
      const { uid, resourceVersion: version } = (result as KubeObject | undefined)?.metadata ?? {};
      if (uid === undefined || version === undefined) return;
      const id = idOf(resource, result as KubeObject);
      const known = written.get(id);
      if (known?.uid === uid && (compareResourceVersions(version, known.version) ?? 0) < 0) return;
      written.set(id, { uid, version });
    };
    const writing =
      (name: "apply" | "applyFields" | "patch" | "change" | "patchStatus") =>
      async (resource: Resource, ...rest: readonly unknown[]) => {
        const write = toolbox[name] as (this: Toolbox, ...args: readonly unknown[]) => Promise<unknown>;
        const result = await write.call(toolbox, resource, ...rest);
        record(resource, result);
        return result;
      };
    const overrides: Readonly<Record<string, unknown>> = {
      apply: writing("apply"),
      applyFields: writing("applyFields"),
      patch: writing("patch"),
      change: writing("change"),
      patchStatus: writing("patchStatus"),
      find: (resource: Resource, key: string) => {
        const found = toolbox.find(resource, key);
        // Objects of the hub have versions of another server.
        if (!isInHub(resource)) this.#checkFind(resource, key, found as KubeObject | undefined, of);
        return found;
      },
      list: (resource: Resource, filter: Parameters<Toolbox["list"]>[1]) => {
        const found = toolbox.list(resource, filter);
        if (!isInHub(resource)) { for (const one of found) this.#checkVersion(resource, one as KubeObject, of); }
        return found;
      },
    };
    return new Proxy(toolbox, {
      get(target, name) {
        if (typeof name === "string" && Object.hasOwn(overrides, name)) return overrides[name];
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  }

  #checkFind(resource: Resource, key: string, found: KubeObject | undefined, of: ProcessWrites): void {
    if (found !== undefined) return this.#checkVersion(resource, found, of);
    const written = of.written.get(`${resourceName(resource)} ${key}`);
    if (written === undefined) return;
    const { namespace, name } = splitKey(key);
    const stored = this.#server.find(resourceName(resource), namespace ?? "", name);
    if (stored?.metadata.uid !== written.uid || !of.isKept(resource, stored)) return;
    this.#problems.add(`process ${of.processId} does not find ${resourceName(resource)} ${key}, which it wrote`);
  }

  #checkVersion(resource: Resource, found: KubeObject, of: ProcessWrites): void {
    const written = of.written.get(idOf(resource, found));
    const { uid, resourceVersion = "" } = found.metadata;
    if (written === undefined || written.uid !== uid) return;
    if ((compareResourceVersions(resourceVersion, written.version) ?? 0) >= 0) return;
    const id = idOf(resource, found);
    this.#problems.add(
      `process ${of.processId} read ${id} at version ${resourceVersion} after it had written ${written.version}`,
    );
  }
}

/** Whether a controller caches an object. A sharded one caches those of its slots; an object can leave them. */
export type IsKept = (controller: OperatorController, resource: Resource, stored: KubeObject) => boolean;

interface ProcessWrites {
  readonly written: Map<string, Written>;
  readonly processId: number;
  readonly isKept: (resource: Resource, stored: KubeObject) => boolean;
}

function idOf(resource: Resource, { metadata: { namespace, name } }: KubeObject): string {
  return `${resourceName(resource)} ${namespace === undefined ? "" : `${namespace}/`}${name}`;
}
