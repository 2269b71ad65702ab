/** FlowSchemas and PriorityLevelConfigurations (flowcontrol.apiserver.k8s.io): rules, defaults and table rows. */
import type { Draft, Json, JsonObject } from "../../model/mod.ts";
import {
  ageCell,
  conditionOf,
  type DefaultsByType,
  integerCell,
  type KindRules,
  nameCell,
  optionalIntegerCell,
  type Row,
  rowOf,
  textCell,
} from "../rules/mod.ts";
import { checkConditionTypes, checkFlowSchema, checkPriorityLevel } from "./flow_control_checks.ts";
import { objectAt, setIfAbsent, setIfZero, textAt } from "../types/mod.ts";

const common = {
  depth: "full",
  generationFields: ["spec"],
  statusMetadata: "none",
  validateStatus: (object, _, problems) => checkConditionTypes(object, problems),
} as const satisfies KindRules;

/** FlowSchema. */
export const flowSchemaRules: KindRules = { ...common, validate: checkFlowSchema };

/** PriorityLevelConfiguration. */
export const priorityLevelRules: KindRules = { ...common, validate: checkPriorityLevel };

/** The defaults of FlowSchemas and PriorityLevelConfigurations. */
export const flowControlDefaults: DefaultsByType = {
  "flowcontrol/v1.FlowSchemaSpec": (draft) => setIfZero(draft, "matchingPrecedence", 1_000),
  "flowcontrol/v1.ExemptPriorityLevelConfiguration": (draft) => {
    setIfAbsent(draft, "nominalConcurrencyShares", 0);
    setIfAbsent(draft, "lendablePercent", 0);
  },
  "flowcontrol/v1.LimitedPriorityLevelConfiguration": (draft) => {
    setIfAbsent(draft, "nominalConcurrencyShares", 30);
    setIfAbsent(draft, "lendablePercent", 0);
  },
  "flowcontrol/v1.QueuingConfiguration": setQueuingDefaults,
};

function setQueuingDefaults(draft: Draft): void {
  setIfZero(draft, "handSize", 8);
  setIfZero(draft, "queues", 64);
  setIfZero(draft, "queueLengthLimit", 50);
}

const queuing = "spec.limited.limitResponse.queuing";

/** The cells of a FlowSchema. */
export const flowSchemaRow: Row = rowOf(
  nameCell,
  textCell("spec.priorityLevelConfiguration.name"),
  integerCell("spec.matchingPrecedence"),
  textCell("spec.distinguisherMethod.type", "<none>"),
  ageCell,
  missingLevel,
);

/** The cells of a PriorityLevelConfiguration. */
export const priorityLevelRow: Row = rowOf(
  nameCell,
  textCell("spec.type"),
  optionalIntegerCell("spec.limited.nominalConcurrencyShares", "<none>"),
  optionalIntegerCell(`${queuing}.queues`, "<none>"),
  optionalIntegerCell(`${queuing}.handSize`, "<none>"),
  optionalIntegerCell(`${queuing}.queueLengthLimit`, "<none>"),
  ageCell,
);

function missingLevel(object: JsonObject): Json {
  const dangling = conditionOf(objectAt(object, "status"), "Dangling");
  return dangling === undefined ? "?" : textAt(dangling, "status");
}
