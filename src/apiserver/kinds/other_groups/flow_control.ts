/**
 * FlowSchemas and PriorityLevelConfigurations (flowcontrol.apiserver.k8s.io): rules, defaults and table rows. They are checked
 * against their schema only.
 */
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
import { objectAt, setIfAbsent, setIfZero, textAt } from "../types/mod.ts";

/** FlowSchema and PriorityLevelConfiguration. */
export const flowControlRules: KindRules = { depth: "schema", generationFields: ["spec"], statusMetadata: "none" };

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
