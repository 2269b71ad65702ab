import { assertEquals, test } from "../../../../tests/testing.ts";
import type { Json, JsonObject } from "../../model/mod.ts";
import { created, kindNamed, updated } from "../testing/kinds_testing.ts";
import { objectAt } from "../types/mod.ts";
import { autoscalerRow } from "./horizontal_pod_autoscalers.ts";

const next = kindNamed("HorizontalPodAutoscaler", "autoscaling/v2");
const old = kindNamed("HorizontalPodAutoscaler", "autoscaling/v1");
const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };

const bad: readonly (readonly [what: string, spec: object, problems: readonly string[]])[] = [
  ["a target without a group", { scaleTargetRef: { ...scaleTargetRef, apiVersion: "v1" }, maxReplicas: 1 }, [
    'spec.scaleTargetRef.apiVersion: Invalid value: "v1": apiVersion must specify API group',
  ]],
  ["a ReplicationController, which needs none", {
    scaleTargetRef: { kind: "ReplicationController", name: "web" },
    maxReplicas: 1,
  }, []],
  ["no replicas", { scaleTargetRef, minReplicas: 0, maxReplicas: -1 }, [
    "spec.minReplicas: Invalid value: 0: must be greater than or equal to 1",
    "spec.maxReplicas: Invalid value: -1: must be greater than or equal to 1",
    "spec.maxReplicas: Invalid value: -1: must be greater than or equal to `minReplicas`",
    "spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas",
  ]],
  ["two sources in one metric", {
    scaleTargetRef,
    maxReplicas: 1,
    metrics: [{
      type: "Pods",
      pods: { metric: { name: "a" }, target: { type: "AverageValue", averageValue: "1" } },
      resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 1 } },
    }],
  }, ["spec.metrics[0].resource: Forbidden: must populate the given metric source only"]],
  ["a tolerance below zero", {
    scaleTargetRef,
    maxReplicas: 1,
    behavior: { scaleUp: { tolerance: "-1" } },
  }, ['spec.behavior.scaleUp.tolerance: Invalid value: "-1": must be greater than or equal to 0']],
];

for (const [what, spec, problems] of bad) {
  test(`a HorizontalPodAutoscaler with ${what} has ${problems.length} errors`, () => {
    assertEquals(created(next, { spec: { ...spec } }).problems, problems);
  });
}

test("a HorizontalPodAutoscaler may keep a target that was invalid before", () => {
  const spec = { scaleTargetRef: { kind: "Deployment", name: "web" }, maxReplicas: 1 };
  const { object } = created(next, { spec });
  assertEquals(updated(next, { ...object, spec: { ...object.spec, maxReplicas: 2 } }, object).problems, []);
});

test("a HorizontalPodAutoscaler of autoscaling/v1 gets a CPU target of 80 percent", () => {
  const { object } = created(old, { spec: { scaleTargetRef, maxReplicas: 3 } });
  assertEquals([object.spec.targetCPUUtilizationPercentage, object.spec.minReplicas], [80, 1]);
  const [converted] = next.convert([object]);
  assertEquals(converted?.["spec"], {
    scaleTargetRef,
    minReplicas: 1,
    maxReplicas: 3,
    metrics: [{ type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } } }],
  });
});

const metrics: readonly JsonObject[] = [
  { type: "Resource", resource: { name: "memory", target: { type: "AverageValue", averageValue: "1Gi" } } },
  { type: "Pods", pods: { metric: { name: "hits" }, target: { type: "AverageValue", averageValue: "10" } } },
  {
    type: "Object",
    object: {
      describedObject: { apiVersion: "v1", kind: "Service", name: "main" },
      metric: { name: "requests", selector: { matchLabels: { __proto__x: "b" } } },
      target: { type: "Value", value: "2k" },
    },
  },
  { type: "External", external: { metric: { name: "queue" }, target: { type: "AverageValue", averageValue: "30" } } },
  {
    type: "ContainerResource",
    containerResource: { name: "cpu", container: "main", target: { type: "Utilization", averageUtilization: 60 } },
  },
];

test("settings that only autoscaling/v2 has survive a conversion to autoscaling/v1 and back", () => {
  const behavior = { scaleDown: { stabilizationWindowSeconds: 60 } };
  const { object } = created(next, { spec: { scaleTargetRef, maxReplicas: 3, metrics, behavior } });
  const [older = {}] = old.convert([object]);
  assertEquals(Object.keys(objectAt(older, "spec")).includes("metrics"), false);
  const [back] = next.convert([older]);
  const { metadata, ...rest } = object;
  assertEquals(back, { ...rest, metadata });
});

test("a conversion annotation that is not JSON is ignored", () => {
  const annotations = {
    "autoscaling.alpha.kubernetes.io/metrics": "{",
    "autoscaling.alpha.kubernetes.io/behavior": "1",
  };
  const { object } = created(old, { metadata: { name: "a", annotations }, spec: { scaleTargetRef, maxReplicas: 1 } });
  const [converted = {}] = next.convert([object]);
  assertEquals(converted["metadata"], { name: "a" });
});

function targets(metrics: readonly JsonObject[], currentMetrics: readonly JsonObject[] = []): Json | undefined {
  const object = { metadata: { name: "a" }, spec: { metrics }, status: { currentMetrics } };
  return autoscalerRow(object, 0)[2];
}

const cpu = { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } } };
const memory = { type: "Resource", resource: { name: "memory", target: { averageValue: "1Gi" } } };
const pods = { type: "Pods", pods: { metric: { name: "rps" }, target: { averageValue: "10" } } };
const external = { type: "External", external: { target: { value: "30" } } };
const shared = { type: "External", external: { target: { averageValue: "30" } } };
const object = { type: "Object", object: { target: { value: "2k" } } };
const sidecar = { type: "ContainerResource", containerResource: { name: "cpu", target: { averageUtilization: 50 } } };

const rows: readonly (readonly [string, readonly JsonObject[], readonly JsonObject[], string])[] = [
  ["no metric", [], [], "<none>"],
  ["the CPU, not measured yet", [cpu], [], "cpu: <unknown>/80%"],
  ["the CPU", [cpu], [{ resource: { current: { averageUtilization: 12 } } }], "cpu: 12%/80%"],
  ["the CPU without a target", [{ type: "Resource", resource: { name: "cpu" } }], [], "cpu: <unknown>/<auto>"],
  ["the memory", [memory], [{ resource: { current: { averageValue: "100Mi" } } }], "memory: 100Mi/1Gi"],
  ["a metric of Pods", [pods], [{ pods: { current: { averageValue: "9" } } }], "9/10"],
  ["an external metric", [external], [{ external: { current: { value: "3" } } }], "3/30"],
  ["an external metric for each Pod", [shared], [{ external: { current: {} } }], "<unknown>/30 (avg)"],
  ["a metric of an object", [object], [], "<unknown>/2k"],
  ["a container", [sidecar], [{ containerResource: { current: { averageUtilization: 5 } } }], "cpu: 5%/50%"],
  ["three", [cpu, memory, pods], [], "cpu: <unknown>/80%, memory: <unknown>/1Gi + 1 more..."],
  ["one that nobody knows", [{ type: "Other" }], [], "<unknown type>"],
];

for (const [what, metrics, current, expected] of rows) {
  test(`a HorizontalPodAutoscaler with ${what} shows the targets ${expected}`, () =>
    assertEquals(targets(metrics, current), expected));
}

test("a HorizontalPodAutoscaler of autoscaling/v1 shows the CPU target", () => {
  const row = (status: JsonObject) =>
    autoscalerRow({
      metadata: { name: "a" },
      spec: { targetCPUUtilizationPercentage: 80, scaleTargetRef: { kind: "Deployment", name: "web" }, maxReplicas: 3 },
      status,
    }, 0).slice(1, 6);
  assertEquals(row({}), ["Deployment/web", "cpu: <unknown>/80%", "<unset>", 3, 0]);
  assertEquals(row({ currentCPUUtilizationPercentage: 7 })[1], "cpu: 7%/80%");
});
