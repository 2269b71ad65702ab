/**
 * Bad objects as one-field changes of a good one: each becomes a case of a create, and those of `updates` one of an update of
 * the stored good object. Creates are dry runs, so they need no object and no namespace of their own.
 */
import type { CaseRun } from "../case_run.ts";
import { type ConformanceCase, requests, scenario } from "../conformance_case.ts";
import type { Body } from "./_objects.ts";

/** A description, and values by paths like `spec.requests[0].name`; `undefined` removes a field. */
export type Mutation = readonly [string, Readonly<Record<string, unknown>>];

/** A kind with its bad objects. */
export interface MutatedKind {
  /** With its article: `a DeviceClass`. */
  readonly what: string;
  /** `GROUP/VERSION/PLURAL`. */
  readonly resource: string;
  readonly isNamespaced: boolean;
  readonly good: Body;
  readonly creates: readonly Mutation[];
  readonly updates: readonly Mutation[];
  /** Writes of the status, of which each is stored when it is valid. @default none */
  readonly statuses?: readonly Mutation[];
}

/** The cases of a kind. */
export function mutationCases(kind: MutatedKind): readonly ConformanceCase[] {
  const { what, creates, updates, statuses = [] } = kind;
  return [
    ...creates.map(([how, changes]) =>
      requests(`${what} ${how}`, (run) => [{
        path: `${collection(kind, run.namespace)}?dryRun=All`,
        body: mutated(kind.good, changes),
        sortsCauses: true,
      }], { needsNamespace: false })
    ),
    ...updates.map((mutation) => changeCase(kind, mutation, "an update of", "")),
    ...statuses.map((mutation) => changeCase(kind, mutation, "the status of", "/status")),
  ];
}

function changeCase(kind: MutatedKind, [how, changes]: Mutation, verb: string, subresource: string): ConformanceCase {
  return scenario(`${verb} ${kind.what} ${how}`, async (run) => {
    const path = collection(kind, run.namespace);
    const named = nameOf(kind, run, String(Object(kind.good["metadata"]).name));
    const good = mutated(kind.good, { "metadata.name": named });
    const stored = await run.prepare({ path, body: good });
    // Without a version: a controller may have written the object since.
    const body = mutated(Object(stored), { "metadata.resourceVersion": undefined, ...changes });
    await run.call({ method: "PUT", path: `${path}/${named}${subresource}`, body, sortsCauses: true });
    await run.prepare({ method: "DELETE", path: `${path}/${named}` });
  }, { needsNamespace: kind.isNamespaced });
}

/** Objects without a namespace have names that no other case uses. */
function nameOf({ isNamespaced, what }: MutatedKind, run: CaseRun, name: string): string {
  if (isNamespaced || what === "an IPAddress") return name;
  return run.name(name);
}

function collection({ resource, isNamespaced }: MutatedKind, namespace: string): string {
  const slash = resource.lastIndexOf("/");
  const scope = isNamespaced ? `namespaces/${namespace}/` : "";
  return `/apis/${resource.slice(0, slash)}/${scope}${resource.slice(slash + 1)}`;
}

/** A copy with other values at some paths; a path of an absent field adds it. */
export function mutated(good: Body, changes: Readonly<Record<string, unknown>>): Body {
  const copy: Body = structuredClone(good);
  for (const [path, value] of Object.entries(changes)) {
    const steps = path.split(/[.[\]]+/).filter((step) => step !== "");
    const last = steps.pop() ?? "";
    let holder: Body = copy;
    for (const step of steps) holder = Object(holder[step] ??= {});
    if (value === undefined) delete holder[last];
    else holder[last] = value;
  }
  return copy;
}

/** A list of values that are made of their index. */
export function many<Value>(count: number, make: (index: number) => Value): readonly Value[] {
  return Array.from({ length: count }, (_, index) => make(index));
}
