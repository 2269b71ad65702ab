/** The kinds of the group policy. */
import type { KindGroup } from "../rules/mod.ts";
import { budgetRules, disruptionBudgetRow } from "./pod_disruption_budgets.ts";

/** The kinds of the group policy. */
export const policyKinds: KindGroup = {
  rules: {
    "PodDisruptionBudget.policy": budgetRules,
  },
  rows: {
    "poddisruptionbudgets.policy": disruptionBudgetRow,
  },
};
