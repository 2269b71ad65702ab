/** scaleTable: the table of a Scale of any kind, as `kubectl get --subresource=scale` shows it. */
import type { Column, Table } from "../../model/mod.ts";
import { ageCell, integerCell, nameCell, rowOf } from "../rules/mod.ts";

function column(name: string, type: Column["type"]): Column {
  return { name, type, format: "", description: "", priority: 0 };
}

/** The table of a Scale. */
export const scaleTable: Table = {
  columns: [
    column("Name", "string"),
    column("Desired", "integer"),
    column("Available", "integer"),
    column("Age", "string"),
  ],
  cells: rowOf(nameCell, integerCell("spec.replicas"), integerCell("status.replicas"), ageCell),
};
