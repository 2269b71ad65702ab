/**
 * assertCompatible(): whether a definition may take the place of the one in the cluster. First the two schemas are
 * compared; where the new one is narrower, every stored object is looked at, and only what is really there counts.
 *
 * Guarantees: nothing is written; a change that no stored object feels is no obstacle; an object that did not fit the old
 * schema either is not held against the new one. CEL rules are not evaluated: the server does, and lets parts of stored
 * objects be that do not change (ratcheting, on since Kubernetes 1.30).
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
  nameOf,
  storageVersionOf,
  storedKindOf,
  storedObjects,
} from "./crd_context.ts";

/** An object that does not fit. */
interface IncompatibleObject {
  readonly object: KubeObject;
  /** The first thing that is wrong with it. */
  readonly problem: string;
}

/** How many objects a message names. */
const named = 3;

/** @throws CommandError that names what would break: objects and fields, or who uses the kind */
export async function assertCompatible(live: StoredCrd, next: Crd, work: CrdContext): Promise<void> {
  const changes = compareCrds(live, next, { storedVersions: [] }); // what is stored is rewritten, see migrate_storage.ts
  const forbidding = changes.find(({ kind }) => kind === "identity" || kind === "version");
  if (forbidding !== undefined) throw refusal(next, forbidding.message, adviceOn(forbidding));
  for (const change of changes.filter(isWarningOnly)) work.session.say(`${nameOf(next)}: ${warningText(change)}`);
  const schemas = schemasToFit(live, next);
  if (schemas.length === 0) return;
  const { incompatible, examined } = await findIncompatibleObjects(live, schemas, work);
  if (incompatible.length === 0) return;
  const list = incompatible.slice(0, named).map(({ object, problem }) => `${keyOf(object)}: ${problem}`).join("; ");
  const more = incompatible.length > named ? `; and ${incompatible.length - named} more` : "";
  const state = `${incompatible.length} of ${count(examined, "stored object")} would break: ${list}${more}`;
  throw refusal(next, state, `Change them first, e.g.: ${editCommand(live, incompatible)}`);
}

/** What would break, without a look at any object: what is told where breaking is allowed. */
export function breakingMessages(live: StoredCrd, next: Crd): readonly string[] {
  return compareCrds(live, next, { storedVersions: [] }).map(({ message }) => message);
}

/** Defaults only matter to objects older than the default, which cannot be told from others; rules are the server's. */
function isWarningOnly({ kind }: BreakingChange): boolean {
  return kind === "default" || kind === "rule";
}

function warningText({ kind, message }: BreakingChange): string {
  return kind === "rule" ? `${message}, against which only the server holds objects, when they change` : message;
}

function adviceOn({ kind }: BreakingChange): string {
  return kind === "identity"
    ? "That makes it another kind: uninstall the old one first, with all its objects"
    : "Keep that version and mark it deprecated for a release";
}

function refusal(next: Crd, state: string, advice: string): Error {
  return commandFailure(`Cannot install ${nameOf(next)}: ${state}`, `${advice}; or --allow-breaking`);
}

/** A schema that stored objects have to fit, and the one that they were written with. */
interface SchemaPair {
  readonly old: StructuralSchema;
  readonly next: StructuralSchema;
  /** Whether what the new schema does not know is lost, or only not shown in this version. */
  readonly prunes: boolean;
}

/**
 * The new schemas that are narrower than the old ones: that of the storage version, and those of versions that clients
 * write objects through. A webhook that converts knows more than can be seen from here, so that then only the version
 * counts that objects are read in.
 */
function schemasToFit(live: StoredCrd, next: Crd): readonly SchemaPair[] {
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
    // Whose version was there before may still come from objects that are stored in another one.
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
  work: CrdContext,
): Promise<{ readonly incompatible: readonly IncompatibleObject[]; readonly examined: number }> {
  const kind = storedKindOf(live);
  const incompatible = new Map<string, IncompatibleObject>();
  let examined = 0;
  if (kind === undefined) return { incompatible: [], examined };
  using progress = work.session.progress();
  for await (const page of storedObjects(work, kind)) {
    for (const object of page) {
      const problem = problemOf(object, schemas);
      if (problem !== undefined) incompatible.set(keyOf(object), { object, problem });
    }
    examined += page.length;
    progress.report(`looking at stored objects of ${nameOf(live)}: ${count(examined, "object")}`);
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
  return `kubectl edit ${nameOf(live)} ${name}${where}`;
}
