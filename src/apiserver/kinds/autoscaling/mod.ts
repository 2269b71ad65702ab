/** The kinds of the group autoscaling. */
import type { KindGroup } from "../rules/mod.ts";
import { autoscalerDefaults, autoscalerRow, autoscalerRules } from "./horizontal_pod_autoscalers.ts";
export { scaleTable } from "./scale_table.ts";

/** The kinds of the group autoscaling. */
export const autoscalingKinds: KindGroup = {
  rules: {
    "HorizontalPodAutoscaler.autoscaling": autoscalerRules,
  },
  defaults: autoscalerDefaults,
  rows: {
    "horizontalpodautoscalers.autoscaling": autoscalerRow,
  },
};
