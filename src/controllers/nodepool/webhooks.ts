/** The webhooks of NodePool: what is left out is filled in, what cannot be is refused before it is stored. */
import { type AdmissionWebhook, allow, defaulting, deny, validating, type Verdict } from "../../mod.ts";
import { withDefaults } from "./defaults.ts";
import { NodePool } from "./resource.ts";
import { type Problem, problemsOf, problemsOfChange, textOf } from "./validate.ts";

/** Answered by whoever runs the controller; see `defaults.ts` and `validate.ts` for what they say. */
export const nodepoolWebhooks: readonly AdmissionWebhook[] = [
  defaulting(NodePool, withDefaults),
  validating(NodePool, {
    create: (pool) => verdictOn(pool, problemsOf(pool)),
    update: (pool, old) => verdictOn(pool, problemsOfChange(pool, old)),
  }),
];

function verdictOn(pool: NodePool, problems: readonly Problem[]): Verdict {
  if (problems.length === 0) return allow();
  return deny(`NodePool "${pool.metadata.name ?? ""}" is invalid: ${problems.map(textOf).join("; ")}`, {
    causes: problems,
  });
}
