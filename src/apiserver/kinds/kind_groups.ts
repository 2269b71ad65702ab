/** The groups of built-in kinds joined: rules, defaults, tables and quota meters of every kind. */
import type { Column, KindNames, Table } from "../model/mod.ts";
import { admissionKinds } from "./admissionregistration/mod.ts";
import { appsKinds } from "./apps/mod.ts";
import { autoscalingKinds } from "./autoscaling/mod.ts";
import { batchKinds } from "./batch/mod.ts";
import { certificateKinds } from "./certificates/mod.ts";
import { coreKinds } from "./core/mod.ts";
import { columns } from "./generated/columns.ts";
import { networkingKinds } from "./networking/mod.ts";
import { otherKinds } from "./other_groups/mod.ts";
import { podConditions, podKinds } from "./pods/mod.ts";
import { policyKinds } from "./policy/mod.ts";
import { rbacKinds } from "./rbac/mod.ts";
import { resourceKinds } from "./resource/mod.ts";
import {
  countMeter,
  createdAtCell,
  type KindGroup,
  nameCell,
  type QuotaMeter,
  type Row,
  rowOf,
  type RuleBook,
} from "./rules/mod.ts";
import { storageKinds } from "./storage/mod.ts";
import type { DefaultingFunctions } from "./types/mod.ts";

const groups: readonly KindGroup[] = [
  podKinds,
  coreKinds,
  appsKinds,
  batchKinds,
  autoscalingKinds,
  networkingKinds,
  policyKinds,
  storageKinds,
  rbacKinds,
  certificateKinds,
  admissionKinds,
  resourceKinds,
  otherKinds,
];

function merged<Value>(partOf: (group: KindGroup) => Readonly<Record<string, Value>>): ReadonlyMap<string, Value> {
  return new Map(groups.flatMap((group) => Object.entries(partOf(group))));
}

/** The rules of all kinds that have rules. */
export const ruleBook: RuleBook = merged(({ rules }) => rules);

/** The defaulting functions of all types that have one. */
export const defaultingFunctions: DefaultingFunctions = merged(({ defaults = {} }) => defaults);

const rows: ReadonlyMap<string, Row> = merged((group) => group.rows);
const defaultRow = rowOf(nameCell, createdAtCell);

/**
 * The table of a kind: what `kubectl get` shows. The columns are data of a real server; the cells are what kubernetes
 * `pkg/printers/internalversion` prints for the same object.
 *
 * Guarantees: as many cells as columns, whatever the object holds; nothing is thrown.
 *
 * @param names of a built-in kind
 */
export function builtinTable(names: KindNames): Table {
  const { group, plural } = names;
  const title = group === "" ? plural : `${plural}.${group}`;
  const table: Table = { columns: columnsOf(names), cells: rows.get(title) ?? defaultRow };
  return title === "pods" ? { ...table, conditions: podConditions } : table;
}

/** Name, type, format, priority. */
type PublishedColumn = readonly [string, Column["type"], string, number];

type PublishedColumns = Readonly<Record<string, readonly PublishedColumn[]>>;

let published: PublishedColumns | undefined;

/** The columns of a kind in one of its versions. Descriptions are left out: they are texts of the real server. */
function columnsOf({ group, version, plural }: Pick<KindNames, "group" | "version" | "plural">): readonly Column[] {
  published ??= parsedColumns();
  const found = published[`${group}/${version}/${plural}`] ?? published["/v1/limitranges"] ?? [];
  return found.map(([title, type, format, priority]) => ({ name: title, type, format, description: "", priority }));
}

function parsedColumns(): PublishedColumns {
  const parsed: PublishedColumns = JSON.parse(columns);
  return parsed;
}

const meters: ReadonlyMap<string, QuotaMeter> = merged(({ quotaMeters = {} }) => quotaMeters);

/** The quota meter of a kind, e.g. of `deployments.apps`. */
export function meterOf(kind: { readonly plural: string; readonly group: string }): QuotaMeter {
  const collection = kind.group === "" ? kind.plural : `${kind.plural}.${kind.group}`;
  return meters.get(collection) ?? countMeter(collection);
}
