/** scaleTable: what `kubectl get --subresource=scale` shows, whatever kind the Scale is of. */
import type { Column, Table } from "../model/mod.ts";
import { age, integer, name, row } from "./_cells.ts";

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
  cells: row(name, integer("spec.replicas"), integer("status.replicas"), age),
};
