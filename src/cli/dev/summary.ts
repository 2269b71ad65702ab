/** What the controllers of a development cluster have done, one line each. */
import type { OperatorController } from "../../manager/mod.ts";
import type { Convergence } from "../convergence.ts";
import type { Paint } from "../paint.ts";
import { type Cell, table } from "../table.ts";

/** A table: controller, what became of it. */
export function summaryOf(controllers: readonly OperatorController[], convergence: Convergence, paint: Paint): string {
  const rows = controllers.map(({ name }): readonly Cell[] => {
    const failed = convergence.failures.filter(({ controller }) => controller === name).length;
    const count = convergence.reconciledBy(name);
    return [name, `${count} ${count === 1 ? "object" : "objects"}`, failed === 0 ? "settled" : `${failed} failed`];
  });
  return table([["CONTROLLER", "RECONCILED", "STATE"], ...rows], paint);
}
