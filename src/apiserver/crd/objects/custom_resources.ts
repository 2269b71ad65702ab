/**
 * CustomResources: the controllers of CustomResourceDefinitions. Sets their accepted names and conditions in the same steps
 * as the controllers of the real server, serves the kinds of established definitions, and deletes the objects of deleted
 * definitions.
 *
 * Guarantees: reacts to a write in a microtask after it, never during it; a kind is served before its definition becomes
 * Established; a schema is compiled only once. Its own writes skip admission.
 */
import type { Clock, Random } from "../../../async/mod.ts";
import type { CallWebhook } from "../../admission/mod.ts";
import { draftOf, isSameJson, type JsonObject, read, StatusError } from "../../model/mod.ts";
import { nameOf, objectAt, textAt, textsAt } from "../../kinds/mod.ts";
import { updateManagedFields } from "../../patch/mod.ts";
import { type KindFamily, type KindRegistry, newUid, timestamp } from "../../registry/mod.ts";
import type { Cursor, ObjectStorage, StoredObject } from "../../storage/mod.ts";
import { CompiledSchema } from "./compiled_schema.ts";
import { converterOf } from "./conversion.ts";
import {
  approvalCondition,
  cleanupFinalizer,
  type Condition,
  type CrdSpec,
  definitionCollection,
  ifConditionChanged,
  isConditionTrue,
  namesInUse,
  nextEstablishedCondition,
  readCrd,
  terminatingConditions,
  withAcceptedNames,
  withCondition,
} from "../definition/mod.ts";
import { CustomKind } from "./custom_kind.ts";

/** Options of {@link CustomResources}. */
export interface CustomResourcesOptions {
  readonly storage: ObjectStorage;
  readonly kinds: KindRegistry;
  readonly clock: Clock;
  /** The source of the UIDs of conversion reviews. */
  readonly random: Random;
  /** @default none: objects of other versions cannot be read where a webhook has to convert them */
  readonly callWebhook?: CallWebhook;
  /** Receives unexpected errors. @default they are thrown from a microtask */
  readonly onError?: (error: unknown) => void;
}

/** The kinds of one definition, as they are served. */
interface Served {
  /** The spec of the served kinds. A changed spec gives new kinds. */
  readonly spec: JsonObject;
  readonly acceptedNames: JsonObject;
  readonly isDeleting: boolean;
  /** By version. */
  readonly schemas: ReadonlyMap<string, CompiledSchema>;
  /** True when the definition had another schema before: stored objects may lack defaults of the current one. */
  readonly hasOldObjects: boolean;
}

/** Runs the controllers of CustomResourceDefinitions. */
export class CustomResources implements Disposable {
  readonly #options: CustomResourcesOptions;
  readonly #cursor: Cursor;
  readonly #served = new Map<string, Served>();
  /** Watches the objects of deleted definitions, by definition. */
  readonly #leaving = new Map<string, Cursor>();
  /** Names of definitions to reconcile. */
  readonly #due = new Set<string>();
  #isScheduled = false;
  #isDisposed = false;

  constructor(options: CustomResourcesOptions) {
    this.#options = options;
    const { storage } = options;
    const after = storage.revision;
    this.#cursor = storage.watch(definitionCollection, { namespace: "", after, onChange: () => this.#schedule() });
    this.#addAll();
    this.#schedule();
  }

  /** Stops the controllers. The served kinds stay. */
  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#cursor[Symbol.dispose]();
    for (const cursor of this.#leaving.values()) cursor[Symbol.dispose]();
    this.#leaving.clear();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      if (!this.#isDisposed) this.#run();
    });
  }

  #run(): void {
    do {
      this.#readChanges();
      for (const name of this.#due) {
        this.#due.delete(name);
        try {
          this.#reconcile(name);
        } catch (error) {
          // The storage has no space for the conditions, so the definition stays without them.
          if (error instanceof StatusError) continue;
          const { onError } = this.#options;
          if (onError === undefined) throw error;
          onError(error);
        }
      }
      this.#readChanges();
    } while (this.#due.size > 0);
  }

  #readChanges(): void {
    for (;;) {
      const change = this.#cursor.read();
      if (change === "none") return;
      if (change === "expired") return this.#addAll();
      this.#due.add(change.current.name);
    }
  }

  #addAll(): void {
    for (const definition of this.#options.storage.list(definitionCollection)) this.#due.add(nameOf(definition));
    for (const name of this.#served.keys()) this.#due.add(name);
  }

  /** Does the next step for one definition. A write of the step triggers another call. */
  #reconcile(name: string): void {
    const stored = this.#options.storage.find(definitionCollection, "", name);
    if (stored === undefined) return this.#forget(name);
    if (this.#acceptNames(stored)) return;
    if (this.#setCondition(stored, ifConditionChanged(stored.object, approvalCondition(stored.object)))) return;
    const established = nextEstablishedCondition(stored.object);
    if (established?.status === "True" || isConditionTrue(stored.object, "Established")) this.#serve(stored.object);
    if (this.#setCondition(stored, ifConditionChanged(stored.object, established))) return;
    if (read(objectAt(stored.object, "metadata"), "deletionTimestamp") !== undefined) this.#terminate(stored);
  }

  /** Accepts the names that are free. @returns true when it wrote the definition */
  #acceptNames(stored: StoredObject): boolean {
    const { storage } = this.#options;
    const group = groupOf(stored.object);
    const others = Array.from(storage.list(definitionCollection)).filter((other) => groupOf(other) === group);
    const next = withAcceptedNames(stored.object, namesInUse(others), this.#now());
    if (next === stored.object) return false;
    this.#write(stored, next);
    // The change may have freed a name for another definition.
    for (const other of others) if (nameOf(other) !== stored.name) this.#due.add(nameOf(other));
    return true;
  }

  #setCondition(stored: StoredObject, condition: Condition | undefined): boolean {
    if (condition === undefined) return false;
    this.#write(stored, withCondition(stored.object, condition, this.#now()));
    return true;
  }

  /** Deletes the objects, and then the definition. */
  #terminate(stored: StoredObject): void {
    const finalizers = textsAt(objectAt(stored.object, "metadata"), "finalizers");
    if (!finalizers.includes(cleanupFinalizer)) return;
    const inProgress = ifConditionChanged(stored.object, terminatingConditions.inProgress);
    if (inProgress !== undefined) return void this.#setCondition(stored, inProgress);
    const isEstablished = isConditionTrue(stored.object, "Established");
    if (isEstablished && this.#isOwn(stored.name)) {
      this.#deleteObjects(stored.name);
      if (this.#options.storage.size(stored.name) > 0) return this.#awaitObjects(stored.name);
    }
    this.#leaving.get(stored.name)?.[Symbol.dispose]();
    this.#leaving.delete(stored.name);
    const last = isEstablished ? terminatingConditions.completed : terminatingConditions.neverEstablished;
    this.#release(stored, withCondition(stored.object, last, this.#now()), finalizers);
  }

  #release(stored: StoredObject, next: JsonObject, finalizers: readonly string[]): void {
    const rest = finalizers.filter((name) => name !== cleanupFinalizer);
    if (rest.length === 0) {
      this.#options.storage.delete(definitionCollection, stored);
      return;
    }
    this.#write(stored, { ...next, metadata: { ...objectAt(next, "metadata"), finalizers: rest } });
  }

  #deleteObjects(collection: string): void {
    const { storage } = this.#options;
    for (const object of storage.list(collection)) {
      const metadata = objectAt(object, "metadata");
      const stored = storage.find(collection, textAt(metadata, "namespace"), textAt(metadata, "name"));
      if (stored === undefined || read(metadata, "deletionTimestamp") !== undefined) continue;
      if (textsAt(metadata, "finalizers").length === 0) {
        storage.delete(collection, stored);
        continue;
      }
      const generation = read(metadata, "generation");
      const marked = {
        ...metadata,
        ...(typeof generation === "number" ? { generation: generation + 1 } : {}),
        deletionTimestamp: this.#now(),
        deletionGracePeriodSeconds: 0,
      };
      storage.update(collection, stored, { ...object, metadata: marked });
    }
  }

  /** Reconciles the definition again when its objects change. */
  #awaitObjects(name: string): void {
    if (this.#leaving.has(name)) return;
    const { storage } = this.#options;
    const onChange = (): void => {
      this.#due.add(name);
      this.#schedule();
    };
    const cursor = storage.watch(name, { namespace: "", after: storage.revision, onChange: () => onChange() });
    this.#leaving.set(name, cursor);
    drain(cursor);
  }

  /** True unless a built-in kind has this collection. */
  #isOwn(name: string): boolean {
    return this.#served.has(name) || this.#options.kinds.family(name) === undefined;
  }

  #forget(name: string): void {
    this.#leaving.get(name)?.[Symbol.dispose]();
    this.#leaving.delete(name);
    if (this.#served.delete(name)) this.#options.kinds.delete(name);
    const group = name.slice(name.indexOf(".") + 1);
    // Its names are free now, so other definitions of the group may get them.
    for (const other of this.#options.storage.list(definitionCollection)) {
      if (groupOf(other) === group) this.#due.add(nameOf(other));
    }
  }

  #serve(definition: JsonObject): void {
    const crd = readCrd(definition);
    const { kinds } = this.#options;
    if (!this.#isOwn(crd.name)) return;
    const spec = objectAt(definition, "spec");
    const acceptedNames = objectAt(objectAt(definition, "status"), "acceptedNames");
    const known = this.#served.get(crd.name);
    const isSame = known !== undefined && known.isDeleting === crd.isDeleting && isSameJson(known.spec, spec) &&
      isSameJson(known.acceptedNames, acceptedNames);
    if (isSame) return;
    const schemas = known === undefined ? firstSchemasOf(definition, crd) : schemasOf(crd, known.schemas);
    const isNewSchema = known !== undefined &&
      crd.versions.some(({ name }) => known.schemas.get(name) !== schemas.get(name));
    const hasOldObjects = known?.hasOldObjects === true || isNewSchema;
    const family = this.#familyOf(crd, schemas, hasOldObjects);
    if (family === undefined || hasUrlConflict(family, kinds)) return;
    this.#served.set(crd.name, { spec, acceptedNames, isDeleting: crd.isDeleting, schemas, hasOldObjects });
    kinds.set(family);
  }

  #familyOf(
    crd: CrdSpec,
    schemas: ReadonlyMap<string, CompiledSchema>,
    hasOldObjects: boolean,
  ): KindFamily | undefined {
    const { callWebhook, random } = this.#options;
    const converter = converterOf(crd, { callWebhook, newUid: () => newUid(random) });
    const all = crd.versions.flatMap((version) => {
      const schema = schemas.get(version.name);
      return schema === undefined
        ? []
        : [{ version, kind: new CustomKind({ crd, version, schema, converter, hasOldObjects }) }];
    });
    const storage = all.find(({ version }) => version.isStorage)?.kind;
    if (storage === undefined) return undefined;
    return {
      collection: crd.name,
      served: all.filter(({ version }) => version.isServed).map(({ kind }) => kind),
      storage,
      unserved: all.filter(({ version }) => !version.isServed).map(({ kind }) => kind),
    };
  }

  /** Writes a definition, with kube-apiserver as the manager of its status. */
  #write(stored: StoredObject, next: JsonObject): void {
    const { storage, kinds, clock } = this.#options;
    const kind = kinds.family(definitionCollection)?.storage;
    let object = next;
    if (kind !== undefined) {
      const fields = updateManagedFields({
        type: kind.schema,
        ...(kind.empty === undefined ? {} : { empty: kind.empty }),
        apiVersion: "apiextensions.k8s.io/v1",
        subresource: "status",
        manager: "kube-apiserver",
        now: clock.now(),
        live: stored.object,
        updated: draftOf(next),
      });
      if (fields !== undefined && !(fields instanceof Promise)) {
        object = { ...next, metadata: { ...objectAt(next, "metadata"), managedFields: fields } };
      }
    }
    storage.update(definitionCollection, stored, object);
  }

  #now(): string {
    return timestamp(this.#options.clock.now());
  }
}

const compiled = new WeakMap<JsonObject, ReadonlyMap<string, CompiledSchema>>();

/** Servers that start from copies of one storage share the compiled schemas of its definitions. */
function firstSchemasOf(definition: JsonObject, crd: CrdSpec): ReadonlyMap<string, CompiledSchema> {
  const schemas = compiled.get(definition) ?? schemasOf(crd, undefined);
  compiled.set(definition, schemas);
  return schemas;
}

/** The schemas of all versions. Unchanged schemas are not compiled again. */
function schemasOf(
  crd: CrdSpec,
  known: ReadonlyMap<string, CompiledSchema> | undefined,
): ReadonlyMap<string, CompiledSchema> {
  const schemas = new Map<string, CompiledSchema>();
  for (const { name, schema } of crd.versions) {
    const json = schema ?? {};
    const before = known?.get(name) ?? [...schemas.values()].find((other) => isSameJson(other.json, json));
    schemas.set(name, before !== undefined && isSameJson(before.json, json) ? before : new CompiledSchema(json));
  }
  return schemas;
}

/** True when another definition already serves the URL of one of the kinds: the older one stays. */
function hasUrlConflict({ served, collection }: KindFamily, kinds: KindRegistry): boolean {
  return served.some((kind) => {
    const other = kinds.find(kind.group, kind.version, kind.plural);
    return other !== undefined && other.family.collection !== collection;
  });
}

/** Reads a cursor to its end, so that it reports the next change. */
function drain(cursor: Cursor): void {
  let change = cursor.read();
  while (change !== "none" && change !== "expired") change = cursor.read();
}

function groupOf(object: JsonObject): string {
  return textAt(objectAt(object, "spec"), "group");
}
