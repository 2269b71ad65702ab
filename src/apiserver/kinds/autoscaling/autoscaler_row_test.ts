import { assertEquals, test } from "../../../../tests/testing.ts";
import type { Json, JsonObject } from "../../model/mod.ts";
import { autoscalerRow } from "./horizontal_pod_autoscalers.ts";

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
