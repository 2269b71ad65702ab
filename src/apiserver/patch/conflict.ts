/**
 * Conflicts: fields that an apply would change and others own, and the Status that says so. Words as apimachinery
 * `managedfields` has them; people paste them into search engines and kubectl shows them as they are.
 */
import type { StatusCause } from "../../api/mod.ts";
import { Refusal } from "../model/mod.ts";
import { type FieldPath, type FieldSet, pathsOf, pathText } from "./field_set.ts";
import { identityText, type Manager, type Managers } from "./managed_fields.ts";

/** A field that somebody else owns. */
export interface FieldConflict {
  readonly manager: Manager;
  /** What tells the manager from others. */
  readonly identity: string;
  readonly path: FieldPath;
}

/** The conflicts of an apply, by manager. */
export function conflictsOf(taken: ReadonlyMap<string, FieldSet>, managers: Managers): readonly FieldConflict[] {
  const conflicts: FieldConflict[] = [];
  for (const { identity, manager } of sorted(managers)) {
    const fields = taken.get(identity);
    if (fields === undefined) continue;
    for (const path of pathsOf(fields)) conflicts.push({ manager, identity, path });
  }
  return conflicts;
}

/** Managers in the order in which the real server names them. */
function sorted(managers: Managers): readonly { readonly identity: string; readonly manager: Manager }[] {
  const all = Array.from(managers, ([identity, manager]) => ({ identity, manager, text: identityText(manager) }));
  return all.sort((left, right) => left.text < right.text ? -1 : 1);
}

/** 409 with a cause for each field. */
export function applyConflict(conflicts: readonly FieldConflict[]): Refusal {
  const causes = conflicts.map(({ manager, path }): StatusCause => ({
    reason: "FieldManagerConflict",
    message: `conflict with ${managerText(manager)}`,
    field: pathText(path),
  }));
  return new Refusal(409, "Conflict", messageOf(conflicts), { causes });
}

function messageOf(conflicts: readonly FieldConflict[]): string {
  const [first] = conflicts;
  if (first !== undefined && conflicts.length === 1) {
    return `Apply failed with 1 conflict: conflict with ${managerText(first.manager)}: ${pathText(first.path)}`;
  }
  const lines: string[] = [];
  let current: string | undefined;
  for (const { manager, identity, path } of conflicts) {
    if (identity !== current) lines.push(`conflicts with ${managerText(manager)}:`);
    current = identity;
    lines.push(`- ${pathText(path)}`);
  }
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join("\n")}`;
}

function managerText({ name, operation, apiVersion, subresource }: Manager): string {
  const who = JSON.stringify(name) + (subresource === "" ? "" : ` with subresource ${JSON.stringify(subresource)}`);
  return operation === "Update" ? `${who} using ${apiVersion}` : who;
}
