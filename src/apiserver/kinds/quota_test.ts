import { assertEquals, test } from "../../../tests/testing.ts";
import { coversScopes } from "./core/mod.ts";
import { meterOf } from "./kind_groups.ts";
import { addAmounts, formatAmounts, onlyAmounts, subtractAmounts, withoutZeros } from "./rules/mod.ts";

const pods = meterOf({ plural: "pods", group: "" });

function usage(plural: string, object: object, group = "", now = 0): Readonly<Record<string, string>> {
  const json = JSON.parse(JSON.stringify(object));
  return Object.fromEntries([...meterOf({ plural, group }).usage(json, now)].toSorted());
}

test("a Pod uses the sum of its containers or its largest init container, under each name of a resource", () => {
  const container = (cpu: string) => ({
    resources: { requests: { cpu }, limits: { cpu: "2", "example.com/gpu": "1" } },
  });
  const spec = { containers: [container("100m"), container("200m")], initContainers: [container("500m")] };
  assertEquals(usage("pods", { spec }), {
    "count/pods": "1",
    cpu: "500m",
    "limits.cpu": "4",
    pods: "1",
    "requests.cpu": "500m",
  });
});

test("a Pod that has finished, or whose grace period is over, only counts as an object", () => {
  const spec = { containers: [{ resources: { requests: { cpu: "1" } } }] };
  assertEquals(usage("pods", { spec, status: { phase: "Succeeded" } }), { "count/pods": "1" });
  const metadata = { deletionTimestamp: "1970-01-01T00:00:10Z", deletionGracePeriodSeconds: 5 };
  assertEquals(usage("pods", { metadata, spec }, "", 20_000), { "count/pods": "1" });
  assertEquals(usage("pods", { metadata, spec }, "", 12_000)["pods"], "1");
});

test("a Service uses node ports and load balancers", () => {
  const service = (spec: object) =>
    usage("services", { spec: { ports: [{ port: 1 }, { port: 2, nodePort: 30_000 }], ...spec } });
  const numbers = (spec: object) => [service(spec)["services.nodeports"], service(spec)["services.loadbalancers"]];
  assertEquals(numbers({ type: "ClusterIP" }), ["0", "0"]);
  assertEquals(numbers({ type: "NodePort" }), ["2", "0"]);
  assertEquals(numbers({ type: "LoadBalancer" }), ["2", "1"]);
  assertEquals(numbers({ type: "LoadBalancer", allocateLoadBalancerNodePorts: false }), ["1", "1"]);
});

test("a PersistentVolumeClaim uses its storage, and once more under its StorageClass", () => {
  const spec = { storageClassName: "fast", resources: { requests: { storage: "2Gi" } } };
  assertEquals(usage("persistentvolumeclaims", { spec }), {
    "count/persistentvolumeclaims": "1",
    "fast.storageclass.storage.k8s.io/persistentvolumeclaims": "1",
    "fast.storageclass.storage.k8s.io/requests.storage": "2Gi",
    persistentvolumeclaims: "1",
    "requests.storage": "2Gi",
  });
});

test("an object of any other kind counts as one of its kind, for some kinds also under an older name", () => {
  assertEquals(usage("deployments", {}, "apps"), { "count/deployments.apps": "1" });
  assertEquals(usage("secrets", {}), { "count/secrets": "1", secrets: "1" });
});

test("a quota meter measures the resources of its kind", () => {
  const measured = ["pods", "cpu", "limits.memory", "requests.example.com/gpu", "hugepages-2Mi", "count/pods"];
  assertEquals(measured.filter(pods.measures), measured);
  assertEquals(["services", "requests.storage", "example.com/gpu", "count/pods.example.com"].filter(pods.measures), []);
});

test("containers without a request or limit that a quota requires are named", () => {
  const limited = { name: "a", resources: { requests: { cpu: "1" }, limits: { cpu: "1" } } };
  const pod = { spec: { containers: [limited, { name: "c" }, { name: "b" }] } };
  assertEquals(
    pods.missingFieldsError(["limits.cpu", "requests.cpu", "pods"], pod),
    "must specify limits.cpu for: b,c; requests.cpu for: b,c",
  );
  assertEquals(pods.missingFieldsError(["pods"], pod), undefined);
});

const scopes: readonly (readonly [scope: object, spec: object, isCovered: boolean])[] = [
  [{ scopes: ["Terminating"] }, { activeDeadlineSeconds: 5 }, true],
  [{ scopes: ["NotTerminating"] }, { activeDeadlineSeconds: 5 }, false],
  [{ scopes: ["BestEffort"] }, { containers: [{}] }, true],
  [{ scopes: ["NotBestEffort"] }, { containers: [{}] }, false],
  [{ scopes: ["CrossNamespacePodAffinity"] }, {}, false],
  [
    { scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", operator: "In", values: ["high"] }] } },
    { priorityClassName: "high" },
    true,
  ],
  [
    { scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", operator: "NotIn", values: ["high"] }] } },
    { priorityClassName: "high" },
    false,
  ],
  [
    { scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", operator: "DoesNotExist" }] } },
    { priorityClassName: "high" },
    false,
  ],
];

test("scopes select Pods by deadline, QoS class, priority and affinity", () => {
  for (const [spec, podSpec, isCovered] of scopes) {
    const [quota, pod] = [JSON.parse(JSON.stringify({ spec })), JSON.parse(JSON.stringify({ spec: podSpec }))];
    assertEquals(coversScopes(quota, "pods", pod), isCovered, JSON.stringify(spec));
  }
  assertEquals(coversScopes({ spec: { scopes: ["BestEffort"] } }, "services", {}), false);
  assertEquals(coversScopes({ spec: {} }, "services", {}), true);
});

test("amounts are added, subtracted and formatted", () => {
  const [left, right] = [new Map([["a", "1"], ["b", "500m"]]), new Map([["b", "700m"], ["c", "1Gi"]])];
  assertEquals(formatAmounts(addAmounts(left, right)), "a=1,b=1200m,c=1Gi");
  assertEquals(formatAmounts(subtractAmounts(left, right)), "a=1,b=0,c=0");
  assertEquals(formatAmounts(withoutZeros(subtractAmounts(left, right))), "a=1");
  assertEquals(formatAmounts(onlyAmounts(left, ["b", "z"])), "b=500m");
});
