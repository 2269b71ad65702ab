/**
 * Words for the parts of entries: an object, a changed field, who changed it, a time. `chains.ts` and `why_not.ts` make
 * sentences of them.
 *
 * Guarantees: every text that a cluster or a user sent is on one line, without control characters, and bounded.
 */
import { type ChangeEntry, type FieldChange, type ObjectRef, type Plain, printable } from "../observe/mod.ts";

/** Who owns fields of an object. */
export type FieldManager = NonNullable<ChangeEntry["by"]>[number];

/** The longest text of others inside of a sentence. */
const maxText = 400;
const maxValue = 80;
/** Most changed fields in one sentence. */
const maxFields = 4;

/** A text of others, safe inside of a sentence. */
export function shown(text: string): string {
  return printable(text, maxText);
}

/** `Deployment default/web`, or `deployments.apps` for a collection. */
export function objectText({ kind, resource, key }: ObjectRef): string {
  return key === undefined ? shown(resource) : `${shown(kind)} ${shown(key)}`;
}

/** `spec.replicas 2 → 5`. */
export function fieldText({ path, from, to }: FieldChange): string {
  const field = shown(path);
  if (to === undefined) return from === undefined ? `${field} removed` : `${field} removed (it was ${valueText(from)})`;
  return from === undefined ? `${field} set to ${valueText(to)}` : `${field} ${valueText(from)} → ${valueText(to)}`;
}

/** The first changed fields, and how many more there are. */
export function fieldsText(all: readonly FieldChange[], more = 0): string {
  // kubectl apply keeps there what it has sent: a copy of the other changes.
  const important = all.filter(({ path }) => !path.includes("kubectl.kubernetes.io/last-applied-configuration"));
  const fields = important.length > 0 ? important : all;
  const listed = fields.slice(0, maxFields).map(fieldText);
  const left = fields.length - listed.length + more;
  return [...listed, ...(left > 0 ? [`${left} more ${left === 1 ? "field" : "fields"}`] : [])].join(", ");
}

function valueText(value: Plain): string {
  return printable(JSON.stringify(value) ?? "", maxValue);
}

/** ` by kubectl (kubectl-edit)`; nothing if the server did not say who it was. */
export function byText(by: readonly FieldManager[] = []): string {
  const names = by.flatMap(({ manager, subresource }) =>
    manager === undefined ? [] : managerText(manager, subresource)
  );
  return names.length === 0 ? "" : ` by ${[...new Set(names)].join(" or ")}`;
}

/** kubectl names its field managers after its commands. */
function managerText(manager: string, subresource: string | undefined): string {
  const name = shown(manager);
  const program = /^kubectl-/.test(name) ? `kubectl (${name})` : name;
  return subresource === undefined ? program : `${program} through the subresource ${shown(subresource)}`;
}

/** `3 ms`, `1.2 s`, `5 min`, `2 h`. */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `${Math.round(ms / 100) / 10} s`;
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`;
  return `${Math.round(ms / 3_600_000)} h`;
}

/** `09:12:03` in UTC, as in logs; with the date if it is not the day of `now`. */
export function timeText(at: number, now: number): string {
  const text = instantText(at);
  return text.slice(0, 10) === instantText(now).slice(0, 10)
    ? text.slice(11, 19)
    : `${text.slice(0, 10)} ${text.slice(11, 19)}`;
}

function instantText(at: number): string {
  return Math.abs(at) <= 8.64e15 ? new Date(at).toISOString() : "at an unknown time";
}

/** `a, b and c`. */
export function joined(texts: readonly string[]): string {
  return texts.length < 2 ? texts.join("") : `${texts.slice(0, -1).join(", ")} and ${texts.at(-1)}`;
}
