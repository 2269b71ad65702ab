/**
 * Cases from a valid object and a table of changes: each change makes one case, which creates the changed object, or updates
 * the valid one to it. All requests are dry runs, except for the create before an update.
 */
import type { CaseRun } from "../case_run.ts";
import { type CaseTraits, type ConformanceCase, requests, scenario } from "../conformance_case.ts";
import type { Body } from "./_objects.ts";

/** A path of fields and indexes, and the value to set there; undefined removes the field. */
export type Change = readonly [path: string, value?: unknown];

/** The changes of one case: one, or several with a description. */
export type Mutation = Change | { readonly what: string; readonly changes: readonly Change[] };

/** A valid object and how its kind's cases change it. */
export interface Mutated {
  /** `a CSIDriver`. */
  readonly what: string;
  /** The path of the collection. */
  path(run: CaseRun): string;
  /** A valid object. Its name is that of the run, because objects may be cluster-scoped. */
  good(run: CaseRun): Body;
  readonly creates: readonly Mutation[];
  readonly updates?: readonly Mutation[];
  readonly statusUpdates?: readonly Mutation[];
  /** True for an object that no controller will change any more. @default always */
  readonly isSettled?: (object: Body) => boolean;
  /** Picks what of an accepted object is compared. @default all, or spec and status with {@link isSettled} */
  // deno-lint-ignore no-explicit-any
  readonly pick?: (body: any) => unknown;
  /** The real server finds errors in the order of a Go map. @default false */
  readonly sortsCauses?: boolean;
  readonly traits?: CaseTraits;
}

/** Characters of a value in the name of a case. */
const maxTitleLength = 150;

/** Makes the cases. */
export function mutationCases(subject: Mutated): readonly ConformanceCase[] {
  const { what, sortsCauses = false, traits = {}, updates = [], statusUpdates = [] } = subject;
  return [
    ...subject.creates.map((mutation) =>
      requests(`create ${what} with ${nameOf(mutation)}`, (run) => [{
        path: `${subject.path(run)}?dryRun=All`,
        body: mutated(subject.good(run), mutation),
        sortsCauses,
        ...(subject.pick === undefined ? {} : { pick: subject.pick }),
      }], traits)
    ),
    ...updates.map((mutation) => updateCase(subject, `update ${what} to ${nameOf(mutation)}`, mutation, "")),
    ...statusUpdates.map((mutation) =>
      updateCase(subject, `update the status of ${what} to ${nameOf(mutation)}`, mutation, "/status")
    ),
  ];
}

// Controllers have other names as managers on the two servers.
// deno-lint-ignore no-explicit-any
const pickFields = ({ spec, status }: any) => ({ spec, status });

function updateCase(subject: Mutated, title: string, mutation: Mutation, subresource: string): ConformanceCase {
  const pick = subject.pick ?? (subject.isSettled === undefined ? undefined : pickFields);
  return scenario(title, async (run) => {
    const [path, good] = [subject.path(run), subject.good(run)];
    const name = String(Object(good.metadata).name);
    await run.prepare({ path, body: good });
    try {
      await run.until(`${path}/${name}`, (object, code) => code === 200 && (subject.isSettled?.(object) ?? true));
      const made = await run.prepare({ path: `${path}/${name}` });
      await run.call({
        method: "PUT",
        path: `${path}/${name}${subresource}?dryRun=All`,
        body: mutated(made, mutation),
        sortsCauses: subject.sortsCauses === true,
        ...(pick === undefined ? {} : { pick }),
      });
    } finally {
      await run.prepare({ method: "DELETE", path: `${path}/${name}` });
    }
  }, subject.traits);
}

function nameOf(mutation: Mutation): string {
  if ("what" in mutation) return mutation.what;
  const [path, value] = mutation;
  return value === undefined ? `no ${path}` : shortened(`${path} ${JSON.stringify(value)}`);
}

function shortened(text: string): string {
  return text.length <= maxTitleLength ? text : `${text.slice(0, maxTitleLength)}... (${text.length})`;
}

function mutated(good: Body, mutation: Mutation): Body {
  const changed: Body = structuredClone(good);
  for (const [path, value] of "what" in mutation ? mutation.changes : [mutation]) setAt(changed, path, value);
  return changed;
}

function setAt(object: Body, path: string, value: unknown): void {
  const steps = path.split(".");
  const last = steps.pop() ?? "";
  let holder = object;
  for (const step of steps) {
    holder[step] ??= {};
    holder = Object(holder[step]);
  }
  if (value === undefined) delete holder[last];
  else holder[last] = value;
}
