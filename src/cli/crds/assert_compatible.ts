/**
 * assertCompatible(): checks whether a definition may replace the live one. It compares the schemas; where the new one is
 * narrower, it reads all stored objects and only reports those that no longer fit.
 *
 * Guarantees: it writes nothing; a change that affects no stored object is allowed; an object that does not fit the old
 * schema either is not reported.
 * Caveats: CEL rules are not evaluated. The server evaluates them when an object changes, and accepts unchanged parts of
 * stored objects (ratcheting, since Kubernetes 1.30).
 */
import { keyOf, type KubeObject } from "../../api/mod.ts";
import {
  type BreakingChange,
  compareCrds,
  compareSchemas,
  type Crd,
  objectProblems,
  type StoredCrd,
  type StructuralSchema,
} from "../../schema/mod.ts";
import { count } from "../output/mod.ts";
import {
  commandFailure,
  type CrdContext,
  definitionName,
  storageVersionOf,
  storedKindOf,
  storedObjects,
} from "./crd_context.ts";

/** A stored object that does not fit the new schema. */
interface IncompatibleObject {
  readonly object: KubeObject;
  /** The first problem. */
  readonly problem: string;
}

/** Objects that a message names. */
const maxNamed = 3;

/** @throws CommandError that names what would break: objects and their fields, or clients of a version */
export async function assertCompatible(live: StoredCrd, next: Crd, context: CrdContext): Promise<void> {
  const changes = compareCrds(live, next, { storedVersions: [] }); // migrateStorage() rewrites stored objects
  const forbidden = changes.find(({ kind }) => kind === "identity" || kind === "version");
  if (forbidden !== undefined) throw incompatibleError(next, forbidden.message, adviceOn(forbidden));
  for (const change of changes.filter(isWarningOnly)) {
    context.session.info(`${definitionName(next)}: ${warningText(change)}`);
  }
  const schemas = narrowerSchemas(live, next);
  if (schemas.length === 0) return;
  const { incompatible, examined } = await findIncompatibleObjects(live, schemas, context);
  if (incompatible.length === 0) return;
  const list = incompatible.slice(0, maxNamed).map(({ object, problem }) => `${keyOf(object)}: ${problem}`).join("; ");
  const more = incompatible.length > maxNamed ? `; and ${incompatible.length - maxNamed} more` : "";
  const state = `${incompatible.length} of ${count(examined, "stored object")} would break: ${list}${more}`;
  throw incompatibleError(next, state, `Change them first, for example: ${editCommand(live, incompatible)}`);
}

/** Returns the breaking changes without reading objects: the warnings of --allow-breaking. */
export function breakingMessages(live: StoredCrd, next: Crd): readonly string[] {
  return compareCrds(live, next, { storedVersions: [] }).map(({ message }) => message);
}

/** A default only affects objects that are older than it, which cannot be recognized; the server evaluates rules. */
function isWarningOnly({ kind }: BreakingChange): boolean {
  return kind === "default" || kind === "rule";
}

function warningText({ kind, message }: BreakingChange): string {
  return kind === "rule" ? `${message}; the server checks it when an object changes` : message;
}

function adviceOn({ kind }: BreakingChange): string {
  return kind === "identity"
    ? "That makes it another kind: uninstall the old one first, with all its objects"
    : "Keep that version and mark it deprecated for a release";
}

function incompatibleError(next: Crd, state: string, advice: string): Error {
  return commandFailure(`Cannot install ${definitionName(next)}: ${state}`, `${advice}; or --allow-breaking`);
}

/** A new schema that stored objects must fit, and the schema they were written with. */
interface SchemaPair {
  readonly old: StructuralSchema;
  readonly next: StructuralSchema;
  /** True when unknown fields are lost; false when only this version does not show them. */
  readonly prunes: boolean;
}

/**
 * Returns the new schemas that are narrower than the old ones: of the storage version, and of the versions that clients
 * write. With a conversion webhook only the version that objects are read in is checked, because the effect of the webhook
 * on other versions is unknown.
 */
function narrowerSchemas(live: StoredCrd, next: Crd): readonly SchemaPair[] {
  const readVersion = storedKindOf(live)?.version;
  const [oldStorage, newStorage] = [storageVersionOf(live), storageVersionOf(next)];
  const isConverted = [live, next].some(({ spec }) => spec.conversion?.strategy === "Webhook");
  const pairs: SchemaPair[] = [];
  for (const { name, schema } of next.spec.versions) {
    const isStorage = name === newStorage;
    if (isConverted && name !== readVersion) continue;
    const counterpart = schemaOf(live, name) ?? (isStorage ? schemaOf(live, oldStorage) : undefined);
    if (counterpart === undefined) continue;
    const pair = { old: counterpart, next: schema.openAPIV3Schema, prunes: isStorage || name === readVersion };
    if (isNarrower(pair)) pairs.push(pair);
    // An object can be stored in the old storage version although this version existed before, too.
    const stored = isStorage && name !== oldStorage && !isConverted ? schemaOf(live, oldStorage) : undefined;
    if (stored !== undefined && stored !== counterpart && isNarrower({ ...pair, old: stored })) {
      pairs.push({ ...pair, old: stored });
    }
  }
  return pairs;
}

function isNarrower({ old, next }: SchemaPair): boolean {
  return compareSchemas(old, next).some((change) => !isWarningOnly(change));
}

function schemaOf(crd: Pick<StoredCrd, "spec">, version: string): StructuralSchema | undefined {
  return crd.spec.versions.find(({ name }) => name === version)?.schema.openAPIV3Schema;
}

async function findIncompatibleObjects(
  live: StoredCrd,
  schemas: readonly SchemaPair[],
  context: CrdContext,
): Promise<{ readonly incompatible: readonly IncompatibleObject[]; readonly examined: number }> {
  const kind = storedKindOf(live);
  const incompatible = new Map<string, IncompatibleObject>();
  let examined = 0;
  if (kind === undefined) return { incompatible: [], examined };
  using progress = context.session.progress();
  for await (const page of storedObjects(context, kind)) {
    for (const object of page) {
      const problem = problemOf(object, schemas);
      if (problem !== undefined) incompatible.set(keyOf(object), { object, problem });
    }
    examined += page.length;
    progress.report(`checking stored objects of ${definitionName(live)}: ${count(examined, "object")}`);
  }
  return { incompatible: [...incompatible.values()], examined };
}

function problemOf(object: KubeObject, schemas: readonly SchemaPair[]): string | undefined {
  for (const { old, next, prunes } of schemas) {
    const problems = objectProblems(next, object).filter(({ kind }) => prunes || kind === "invalid");
    if (problems.length === 0) continue;
    const known = new Set(objectProblems(old, object).map(({ kind, path }) => `${kind} ${path}`));
    const found = problems.find(({ kind, path }) => !known.has(`${kind} ${path}`));
    if (found !== undefined) return found.message;
  }
  return undefined;
}

function editCommand(live: StoredCrd, incompatible: readonly IncompatibleObject[]): string {
  const { namespace, name } = incompatible[0]?.object.metadata ?? {};
  const where = namespace === undefined ? "" : ` -n ${namespace}`;
  return `kubectl edit ${definitionName(live)} ${name}${where}`;
}
