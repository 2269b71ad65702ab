/**
 * builtinTable(): what `kubectl get` shows of a built-in kind. The columns are data from a real server; the cells are made
 * by the rows of each group, which print what kubernetes `pkg/printers/internalversion` prints of the same object.
 *
 * Guarantees: as many cells as columns, whatever the object is; nothing is thrown.
 */
import type { KindNames, Table } from "../model/mod.ts";
import { appsRows } from "./_apps_rows.ts";
import { autoscalingRows } from "./_autoscaling_rows.ts";
import { createdAt, name, type Row, row } from "./_cells.ts";
import { columnsOf } from "./_columns.ts";
import { coreRows } from "./_core_rows.ts";
import { networkingRows } from "./_networking_rows.ts";
import { podConditions } from "./_pod_row.ts";
import { policyRows } from "./_policy_rows.ts";
import { systemRows } from "./_system_rows.ts";

const rows: ReadonlyMap<string, Row> = new Map(
  [coreRows, appsRows, networkingRows, autoscalingRows, policyRows, systemRows].flatMap((some) => Object.entries(some)),
);

const anyRow = row(name, createdAt);

/** The table of a kind. @param names of a built-in kind; one that is never listed shows its name and its creation */
export function builtinTable(names: KindNames): Table {
  const { group, plural } = names;
  const title = group === "" ? plural : `${plural}.${group}`;
  const table: Table = { columns: columnsOf(names), cells: rows.get(title) ?? anyRow };
  return title === "pods" ? { ...table, conditions: podConditions } : table;
}
