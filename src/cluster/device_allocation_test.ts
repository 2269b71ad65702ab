import { assertEquals, assertThrows, test } from "../../tests/testing.ts";
import { allocateDevices, type DeviceClass, type ResourceClaim, type ResourceSlice } from "./device_allocation.ts";

const driver = "gpu.example.com";
const node = { apiVersion: "v1", kind: "Node", metadata: { name: "n1", labels: { zone: "a" } }, spec: {} } as const;

type Devices = ResourceSlice["spec"]["devices"];
type Requests = NonNullable<ResourceClaim["spec"]["devices"]>["requests"];
type Constraints = NonNullable<ResourceClaim["spec"]["devices"]>["constraints"];

function slice(devices: Devices, spec: Partial<ResourceSlice["spec"]> = {}): ResourceSlice {
  const pool = { name: "pool", generation: 1, resourceSliceCount: 1 };
  return {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceSlice",
    metadata: { name: "s" },
    spec: { driver, pool, nodeName: "n1", devices, ...spec },
  };
}

function claim(requests: Requests, constraints?: Constraints, status?: ResourceClaim["status"]): ResourceClaim {
  return {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceClaim",
    metadata: { name: "c", namespace: "default" },
    spec: { devices: { requests, constraints } },
    status,
  };
}

const classes: Readonly<Record<string, DeviceClass["spec"]>> = {
  gpu: {},
  fast: { selectors: [{ cel: { expression: `device.attributes["${driver}"].speed > 1` } }] },
};

function allocated(
  claims: readonly ResourceClaim[],
  slices: readonly ResourceSlice[],
  others: readonly ResourceClaim[] = [],
) {
  const found = allocateDevices(claims, node, {
    slices,
    claims: others,
    findClass(name) {
      const spec = classes[name];
      return spec && { apiVersion: "resource.k8s.io/v1", kind: "DeviceClass", metadata: { name }, spec };
    },
  });
  return found?.map(({ devices }) => (devices?.results ?? []).map(({ request, device }) => `${request}:${device}`));
}

const three: Devices = [
  { name: "d0", attributes: { speed: { int: 1 }, numa: { int: 0 } } },
  { name: "d1", attributes: { speed: { int: 2 }, numa: { int: 1 } } },
  { name: "d2", attributes: { speed: { int: 3 }, [`${driver}/numa`]: { int: 1 } } },
];

const gpu = (rest: object = {}) => ({ deviceClassName: "gpu", ...rest });

test("allocateDevices() gives each request its count of devices, and none twice", () => {
  const two = claim([{ name: "a", exactly: gpu({ count: 2 }) }]);
  const one = claim([{ name: "b", exactly: gpu() }]);
  assertEquals(allocated([two, one], [slice(three)]), [["a:d0", "a:d1"], ["b:d2"]]);
  assertEquals(allocated([two, two], [slice(three)]), undefined);
});

test("allocateDevices() goes back to an earlier request that took what a later one needs", () => {
  const any = { name: "any", exactly: gpu({ count: 2 }) };
  const slow = {
    name: "slow",
    exactly: gpu({ selectors: [{ cel: { expression: `device.attributes["${driver}"].speed == 1` } }] }),
  };
  assertEquals(allocated([claim([any, slow])], [slice(three)]), [["any:d1", "any:d2", "slow:d0"]]);
});

test("allocateDevices() takes the first alternative that has devices", () => {
  const firstAvailable = [
    { name: "many", deviceClassName: "fast", count: 3 },
    { name: "some", deviceClassName: "fast", count: 2 },
  ];
  assertEquals(allocated([claim([{ name: "a", firstAvailable }])], [slice(three)]), [["a/some:d1", "a/some:d2"]]);
});

test("allocateDevices() takes all devices that a request selects, or none", () => {
  const all = claim([{ name: "a", exactly: { deviceClassName: "fast", allocationMode: "All" } }]);
  assertEquals(allocated([all], [slice(three)]), [["a:d1", "a:d2"]]);
  const results = [{ request: "x", driver, pool: "pool", device: "d2" }];
  const other = claim([], undefined, { allocation: { devices: { results } } });
  assertEquals(allocated([all], [slice(three)], [other]), undefined);
  const admin = claim([{ name: "a", exactly: { deviceClassName: "fast", allocationMode: "All", adminAccess: true } }]);
  assertEquals(allocated([admin], [slice(three)], [other]), [["a:d1", "a:d2"]]);
});

test("allocateDevices() heeds attributes that must match or differ", () => {
  const pair = [{ name: "a", exactly: gpu({ count: 2 }) }];
  assertEquals(allocated([claim(pair, [{ matchAttribute: `${driver}/numa` }])], [slice(three)]), [["a:d1", "a:d2"]]);
  assertEquals(allocated([claim(pair, [{ distinctAttribute: `${driver}/numa` }])], [slice(three)]), [["a:d0", "a:d1"]]);
  assertEquals(allocated([claim(pair, [{ matchAttribute: `${driver}/gone` }])], [slice(three)]), undefined);
});

test("allocateDevices() avoids tainted devices without a toleration", () => {
  const tainted: Devices = [{ name: "d0", taints: [{ key: "broken", effect: "NoSchedule" }] }, { name: "d1" }];
  assertEquals(allocated([claim([{ name: "a", exactly: gpu() }])], [slice(tainted)]), [["a:d1"]]);
  const tolerant = gpu({ tolerations: [{ key: "broken", operator: "Exists" }] });
  assertEquals(allocated([claim([{ name: "a", exactly: tolerant }])], [slice(tainted)]), [["a:d0"]]);
});

test("allocateDevices() takes no more of shared counters than there is", () => {
  const part = (name: string, value: string) => ({
    name,
    consumesCounters: [{ counterSet: "memory", counters: { gib: { value } } }],
  });
  const pool = { name: "pool", generation: 1, resourceSliceCount: 2 };
  const counters = slice(undefined, { pool, sharedCounters: [{ name: "memory", counters: { gib: { value: "40" } } }] });
  const parts = slice([part("whole", "40"), part("half-0", "20"), part("half-1", "20")], { pool });
  const one = (name: string) => claim([{ name, exactly: gpu() }]);
  assertEquals(allocated([one("a")], [counters, parts]), [["a:whole"]]);
  assertEquals(allocated([one("a"), one("b")], [counters, parts]), [["a:half-0"], ["b:half-1"]]);
  assertEquals(allocated([one("a"), one("b"), one("c")], [counters, parts]), undefined);
});

test("allocateDevices() uses only complete pools in their newest generation, on nodes that reach them", () => {
  const one = claim([{ name: "a", exactly: gpu() }]);
  const pool = { name: "pool", generation: 1, resourceSliceCount: 2 };
  assertEquals(allocated([one], [slice(three, { pool })]), undefined);
  const newer = { name: "pool", generation: 2, resourceSliceCount: 1 };
  assertEquals(allocated([one], [slice(three), slice([{ name: "new" }], { pool: newer })]), [["a:new"]]);
  assertEquals(allocated([one], [slice(three, { nodeName: "n2" })]), undefined);
  assertEquals(allocated([one], [slice(three, { nodeName: undefined, allNodes: true })]), [["a:d0"]]);
  const perDevice = { nodeName: undefined, perDeviceNodeSelection: true };
  const placed: Devices = [{ name: "d0", nodeName: "n2" }, { name: "d1", nodeName: "n1" }];
  assertEquals(allocated([one], [slice(placed, perDevice)]), [["a:d1"]]);
});

test("allocateDevices() reports a class that does not exist, and a selector that fails", () => {
  assertThrows(
    () => allocated([claim([{ name: "a", exactly: gpu({ deviceClassName: "gone" }) }])], []),
    /^request a: device class gone does not exist$/,
  );
  const expression = `device.attributes["${driver}"].color == "red"`;
  assertThrows(
    () => allocated([claim([{ name: "a", exactly: gpu({ selectors: [{ cel: { expression } }] }) }])], [slice(three)]),
    /device d0: CEL runtime error: no such key: color/,
  );
});
