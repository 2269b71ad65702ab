/** The specs of the FlowSchemas and PriorityLevelConfigurations that every cluster has, and that updates must not change. */
import type { JsonObject } from "../../model/mod.ts";

const everything: JsonObject = {
  resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"], clusterScope: true, namespaces: ["*"] }],
  nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
};

function group(name: string): JsonObject {
  return { kind: "Group", group: { name } };
}

/** Specs by name. */
export const mandatoryFlowSchemas: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  ["exempt", {
    priorityLevelConfiguration: { name: "exempt" },
    matchingPrecedence: 1,
    rules: [{ subjects: [group("system:masters")], ...everything }],
  }],
  ["catch-all", {
    priorityLevelConfiguration: { name: "catch-all" },
    matchingPrecedence: 10_000,
    distinguisherMethod: { type: "ByUser" },
    rules: [{ subjects: [group("system:unauthenticated"), group("system:authenticated")], ...everything }],
  }],
]);

/** Specs by name. The administrator may change `exempt` of the level `exempt`. */
export const mandatoryPriorityLevels: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  ["exempt", { type: "Exempt", exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } }],
  ["catch-all", {
    type: "Limited",
    limited: { nominalConcurrencyShares: 5, limitResponse: { type: "Reject" }, lendablePercent: 0 },
  }],
]);
