/**
 * Cases from a valid object and tables of mutations: each mutation makes one case, which creates the changed object, updates
 * the valid one to it, or writes its status. All requests are dry runs, except for the create before an update.
 */
import type { CaseRun } from "../case_run.ts";
import { type CaseTraits, type ConformanceCase, requests, scenario } from "../conformance_case.ts";
import type { Body } from "./_objects.ts";

/** Values by paths of fields and indexes, like `spec.requests.0.name`. Undefined removes a field. */
export type Changes = Readonly<Record<string, unknown>>;

/** What one case changes. Without a description, paths and values name the case. */
export type Mutation = Changes | DescribedMutation;
type DescribedMutation = readonly [how: string, changes: Changes];

/** What a case does. */
export type MutationVerb = "create" | "update" | "update the status of";

/** A valid object of a kind, and its mutations. */
export interface MutatedKind {
  /** With its article: `a CSIDriver`. */
  readonly what: string;
  /** The path of the collection. */
  path(run: CaseRun): string;
  /** A valid object. Outside of namespaces its name is that of the run, unless the kind prescribes its form. */
  good(run: CaseRun): Body;
  readonly creates: readonly Mutation[];
  /** @default none */
  readonly updates?: readonly Mutation[];
  /** @default none */
  readonly statusUpdates?: readonly Mutation[];
  /** The name of a case. @default `create a CSIDriver with HOW`, `update a CSIDriver to HOW` */
  readonly title?: (verb: MutationVerb, how: string) => string;
  /** True for an object that no controller will change any more. @default always */
  readonly isSettled?: (object: Body) => boolean;
  /** Updates name no version: a controller may write the object at any time. @default false */
  readonly omitsVersion?: boolean;
  /** Picks what of an accepted object is compared. @default all, or spec and status with {@link isSettled} */
  // deno-lint-ignore no-explicit-any
  readonly pick?: (body: any) => unknown;
  /** The real server finds errors in the order of a Go map. @default false */
  readonly sortsCauses?: boolean;
  readonly traits?: CaseTraits;
}

/** Characters of a value in the name of a case. */
const maxTitleLength = 150;

/** Makes the cases of a kind. */
export function mutationCases(kind: MutatedKind): readonly ConformanceCase[] {
  const { creates, updates = [], statusUpdates = [] } = kind;
  return [
    ...creates.map((mutation) => createCase(kind, mutation)),
    ...updates.map((mutation) => updateCase(kind, "update", mutation)),
    ...statusUpdates.map((mutation) => updateCase(kind, "update the status of", mutation)),
  ];
}

function createCase(kind: MutatedKind, mutation: Mutation): ConformanceCase {
  return requests(titleOf(kind, "create", mutation), (run) => [{
    path: `${kind.path(run)}?dryRun=All`,
    body: mutated(kind.good(run), changesOf(mutation)),
    sortsCauses: kind.sortsCauses === true,
    ...(kind.pick === undefined ? {} : { pick: kind.pick }),
  }], kind.traits);
}

// Controllers have other names as managers on the two servers.
// deno-lint-ignore no-explicit-any
const pickFields = ({ spec, status }: any) => ({ spec, status });

function updateCase(kind: MutatedKind, verb: MutationVerb, mutation: Mutation): ConformanceCase {
  const pick = kind.pick ?? (kind.isSettled === undefined ? undefined : pickFields);
  const changes = {
    ...(kind.omitsVersion === true ? { "metadata.resourceVersion": undefined } : {}),
    ...changesOf(mutation),
  };
  return scenario(titleOf(kind, verb, mutation), async (run) => {
    const [path, good] = [kind.path(run), kind.good(run)];
    const one = `${path}/${Object(good["metadata"]).name}`;
    await run.prepare({ path, body: good });
    try {
      await run.until(one, (object, code) => code === 200 && (kind.isSettled?.(object) ?? true));
      await run.call({
        method: "PUT",
        path: `${one}${verb === "update" ? "" : "/status"}?dryRun=All`,
        body: mutated(await run.prepare({ path: one }), changes),
        sortsCauses: kind.sortsCauses === true,
        ...(pick === undefined ? {} : { pick }),
      });
    } finally {
      await run.prepare({ method: "DELETE", path: one });
    }
  }, kind.traits);
}

function titleOf({ what, title }: MutatedKind, verb: MutationVerb, mutation: Mutation): string {
  const how = isDescribed(mutation) ? mutation[0] : textOf(mutation);
  return title?.(verb, how) ?? `${verb} ${what} ${verb === "create" ? "with" : "to"} ${how}`;
}

function isDescribed(mutation: Mutation): mutation is DescribedMutation {
  return Array.isArray(mutation);
}

function changesOf(mutation: Mutation): Changes {
  return isDescribed(mutation) ? mutation[1] : mutation;
}

function textOf(changes: Changes): string {
  const texts = Object.entries(changes).map(([path, value]) =>
    value === undefined ? `no ${path}` : shortened(`${path} ${JSON.stringify(value)}`)
  );
  return texts.join(" and ");
}

function shortened(text: string): string {
  return text.length <= maxTitleLength ? text : `${text.slice(0, maxTitleLength)}... (${text.length})`;
}

/** A copy with other values at some paths; a path of an absent field adds it. */
function mutated(good: Body, changes: Changes): Body {
  const copy: Body = structuredClone(good);
  for (const [path, value] of Object.entries(changes)) {
    const steps = path.split(".");
    const last = steps.pop() ?? "";
    let holder = copy;
    for (const step of steps) holder = Object(holder[step] ??= {});
    if (value === undefined) delete holder[last];
    else holder[last] = structuredClone(value);
  }
  return copy;
}

/** A list of values that are made of their index. */
export function many<Value>(count: number, make: (index: number) => Value): readonly Value[] {
  return Array.from({ length: count }, (_, index) => make(index));
}
