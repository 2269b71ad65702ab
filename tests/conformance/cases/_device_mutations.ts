/** Bad objects of resource.k8s.io, for declared.ts. */
import { type Changes, many, type MutatedKind, type Mutation } from "./_mutations.ts";
import { at, type Body } from "./_objects.ts";

const root = "/apis/resource.k8s.io/v1";
const opaque: Body = { opaque: { driver: "gpu.example.com", parameters: { kind: "Settings" } } };
const selector: Body = { cel: { expression: 'device.driver == "gpu.example.com"' } };

const deviceClass: MutatedKind = {
  what: "a DeviceClass",
  path: () => `${root}/deviceclasses`,
  good: (run) => ({ metadata: { name: run.name("good") }, spec: { selectors: [selector], config: [opaque] } }),
  creates: [
    ["without a spec", { spec: undefined }],
    ["with a bad name", { "metadata.name": "Bad_Name" }],
    ["of too many selectors", { "spec.selectors": many(33, () => selector) }],
    ["of an empty selector", { "spec.selectors": [{}] }],
    ["of an empty expression", { "spec.selectors": [{ cel: {} }] }],
    ["of an expression that does not parse", expression("device.driver ==")],
    ["of an expression of an unknown variable", expression("object.name == 'a'")],
    ["of an expression of an unknown field", expression("device.speed > 1")],
    ["of an expression of type string", expression("device.driver")],
    ["of an expression of type int", expression("1 + 1")],
    ["of an expression of wrong types", expression("device.driver + 1 == 'a'")],
    ["of an expression of an attribute", expression('device.attributes["gpu.example.com"].fast')],
    ["of an expression of a capacity", expression(`device.capacity["a.b"].memory.compareTo(quantity("1Gi")) >= 0`)],
    ["of an expression that compares capacities to a number", expression('device.capacity["a.b"].memory > 1')],
    ["of an expression of a version", expression(`device.attributes["a.b"].v.isGreaterThan(semver("1.0.0"))`)],
    ["of an expression of all attributes", expression("device.attributes.all(d, device.attributes[d].size() > 0)")],
    [
      "of an expression that costs too much",
      expression(
        "device.attributes.all(a, device.attributes.all(b, device.attributes.all(c, device.attributes.all(d, " +
          "a + b + c + d == 'x' + device.driver))))",
      ),
    ],
    ["of an expression that is too long", expression(`device.driver == "${"a".repeat(10_240)}"`)],
    ["with a binding", expression("cel.bind(a, device.attributes['a.b'], a.fast && a.cheap)")],
    ["of devices that claims may share", expression("device.allowMultipleAllocations")],
    ["of too many settings", { "spec.config": many(33, () => opaque) }],
    ["of empty settings", { "spec.config": [{}] }],
    ["of settings without a driver", { "spec.config": [{ opaque: { parameters: {} } }] }],
    ["of settings with a bad driver", { "spec.config.0.opaque.driver": "Bad_Driver" }],
    ["of settings with a long driver", { "spec.config.0.opaque.driver": "a".repeat(64) }],
    ["of settings without parameters", { "spec.config.0.opaque.parameters": undefined }],
    ["of settings with null", { "spec.config.0.opaque.parameters": null }],
    ["of settings with a list", { "spec.config.0.opaque.parameters": [1] }],
    ["of settings that are too long", { "spec.config.0.opaque.parameters": { a: "a".repeat(10_240) } }],
    ["of an extended resource", { "spec.extendedResourceName": "example.com/gpu" }],
    ["of a native resource", { "spec.extendedResourceName": "cpu" }],
    ["of a resource of Kubernetes", { "spec.extendedResourceName": "kubernetes.io/gpu" }],
    ["of requests of a resource", { "spec.extendedResourceName": "requests.example.com/gpu" }],
    ["of a bad resource", { "spec.extendedResourceName": "example.com/a b" }],
  ],
  updates: [
    ["to a bad expression", expression("device.driver ==")],
    ["to an empty selector", { "spec.selectors": [{}] }],
    ["to settings without a driver", { "spec.config": [{ opaque: { parameters: {} } }] }],
  ],
  traits: { needsNamespace: false },
};

function expression(text: string): Changes {
  return { "spec.selectors": [{ cel: { expression: text } }] };
}

const claimSpec: Body = {
  devices: {
    requests: [
      { name: "gpu", exactly: { deviceClassName: "gpu.example.com", selectors: [selector] } },
      { name: "net", firstAvailable: [{ name: "fast", deviceClassName: "net.example.com" }] },
    ],
    constraints: [{ requests: ["gpu"], matchAttribute: "gpu.example.com/numa" }],
    config: [{ requests: ["gpu", "net/fast"], ...opaque }],
  },
};

/** The mutations of the spec of a claim, which are those of a template as well. */
function claimMutations(spec: string): readonly Mutation[] {
  const devices = `${spec}.devices`;
  const [first, second] = [`${devices}.requests.0`, `${devices}.requests.1`];
  const exactly = `${first}.exactly`;
  const requests = (count: number) =>
    many(count, (index) => ({ name: `r${index}`, exactly: { deviceClassName: "a" } }));
  const alone = { [`${devices}.constraints`]: undefined, [`${devices}.config`]: undefined };
  return [
    ["without devices", { [devices]: undefined }],
    ["of too many requests", { [`${devices}.requests`]: requests(33), ...alone }],
    ["of requests with the same name", { [`${second}.name`]: "gpu", ...alone }],
    ["of a request without a name", { [`${first}.name`]: undefined, ...alone }],
    ["of a request with a bad name", { [`${first}.name`]: "a.b", ...alone }],
    ["of a request without a choice", { [exactly]: undefined }],
    ["of a request with both choices", { [`${first}.firstAvailable`]: [{ name: "a", deviceClassName: "a" }] }],
    ["of a request without a class", { [`${exactly}.deviceClassName`]: undefined }],
    ["of a request of a bad class", { [`${exactly}.deviceClassName`]: "Bad_Class" }],
    ["of a bad expression", { [`${exactly}.selectors`]: [{ cel: { expression: "device" } }] }],
    ["of too many selectors", { [`${exactly}.selectors`]: many(33, () => selector) }],
    ["of a negative count", { [`${exactly}.count`]: -1 }],
    ["of all devices and a count", { [`${exactly}.allocationMode`]: "All", [`${exactly}.count`]: 2 }],
    ["of an unknown mode", { [`${exactly}.allocationMode`]: "Some" }],
    ["with admin access", { [`${exactly}.adminAccess`]: true }],
    ["of bad tolerations", {
      [`${exactly}.tolerations`]: [
        { key: "bad key", operator: "Like", effect: "Never" },
        { operator: "Exists", value: "a" },
        { key: "a", value: "bad value!" },
        { key: "a", operator: "Equal", value: "b", effect: "NoSchedule" },
      ],
    }],
    ["of too many alternatives", {
      [`${second}.firstAvailable`]: many(9, (index) => ({ name: `s${index}`, deviceClassName: "a" })),
    }],
    ["of alternatives with the same name", {
      [`${second}.firstAvailable`]: many(2, () => ({ name: "fast", deviceClassName: "a" })),
    }],
    ["of an alternative without names", { [`${second}.firstAvailable`]: [{}], ...alone }],
    ["of a constraint on nothing", { [`${devices}.constraints`]: [{}] }],
    ["of a constraint on an unknown request", { [`${devices}.constraints.0.requests`]: ["other", "a/b/c"] }],
    ["of a constraint on a request twice", { [`${devices}.constraints.0.requests`]: ["gpu", "gpu"] }],
    ["of a constraint on a bad attribute", { [`${devices}.constraints.0.matchAttribute`]: "numa" }],
    ["of a constraint on an attribute of no domain", { [`${devices}.constraints.0.matchAttribute`]: "/1-2" }],
    ["of a constraint on a long attribute", {
      [`${devices}.constraints.0.matchAttribute`]: `${"a".repeat(64)}/${"b".repeat(33)}`,
    }],
    ["of a distinct attribute", {
      [`${devices}.constraints`]: [{ requests: ["gpu"], distinctAttribute: "bad attribute" }],
    }],
    ["of too many constraints", {
      [`${devices}.constraints`]: many(33, () => ({ matchAttribute: "a.b/c" })),
    }],
    ["of settings of an unknown request", { [`${devices}.config.0.requests`]: ["net/slow", "Bad Name"] }],
    ["of settings without content", { [`${devices}.config`]: [{ requests: ["gpu"] }] }],
    ["of settings of a bad driver", { [`${devices}.config.0.opaque.driver`]: "_" }],
    ["of settings that are a text", { [`${devices}.config.0.opaque.parameters`]: "text" }],
  ];
}

const claimStatus: Body = {
  allocation: {
    devices: { results: [{ request: "gpu", driver: "gpu.example.com", pool: "node-1", device: "gpu-0" }] },
  },
};

const result = "status.allocation.devices.results.0";

function result0(changes: Body): Changes {
  return {
    status: claimStatus,
    ...Object.fromEntries(Object.entries(changes).map(([key, value]) => [`${result}.${key}`, value])),
  };
}

function device(changes: Body): Changes {
  const status = { driver: "gpu.example.com", pool: "node-1", device: "gpu-0", ...changes };
  return { status: { ...claimStatus, devices: [status] } };
}

const consumer: Body = { resource: "pods", name: "a", uid: "1" };

const resourceClaim: MutatedKind = {
  what: "a ResourceClaim",
  path: (run) => at(run, "resource.k8s.io/v1/resourceclaims"),
  good: () => ({ metadata: { name: "good" }, spec: claimSpec }),
  creates: [...claimMutations("spec"), ["with a bad name", { "metadata.name": "Bad_Name" }]],
  updates: [
    ["to another name of a request", { "spec.devices.requests.0.name": "other" }],
    ["to no constraints", { "spec.devices.constraints": undefined }],
    ["to a label", { "metadata.labels": { a: "b" } }],
  ],
  statusUpdates: [
    ["with an allocation", { status: claimStatus }],
    ["of an unknown request", result0({ request: "other" })],
    ["of a bad driver", result0({ driver: "Bad_Driver" })],
    ["without names", result0({ driver: "", pool: "", device: "" })],
    ["of a bad pool", result0({ pool: "a//B" })],
    ["of a bad device", result0({ device: "a.b" })],
    ["of a bad share", result0({ shareID: "1" })],
    ["of a share in capitals", result0({ shareID: "A0B1C2D3-0000-4000-8000-000000000000" })],
    ["of a share in braces", result0({ shareID: "{a0b1c2d3-0000-4000-8000-000000000000}" })],
    ["of conditions without failures", result0({ bindingConditions: ["a", "bad key", "a"] })],
    ["of conditions that overlap", result0({ bindingConditions: ["a"], bindingFailureConditions: ["a"] })],
    [
      "of too many conditions",
      result0({ bindingConditions: many(5, (i) => `c${i}`), bindingFailureConditions: ["a"] }),
    ],
    ["of bad settings", {
      status: { allocation: { devices: { config: [{ source: "Nowhere", requests: ["x"] }, opaque] } } },
    }],
    ["of too many results", {
      status: {
        allocation: {
          devices: { results: many(33, (i) => ({ request: "gpu", driver: "a", pool: "b", device: `d${i}` })) },
        },
      },
    }],
    ["of a bad node selector", {
      status: { allocation: { nodeSelector: { nodeSelectorTerms: [] } } },
    }],
    ["with consumers but no allocation", { "status.reservedFor": [consumer] }],
    ["with bad consumers", { status: { ...claimStatus, reservedFor: [{}, consumer, consumer] } }],
    ["with too many consumers", {
      status: { ...claimStatus, reservedFor: many(257, (i) => ({ ...consumer, uid: `${i}` })) },
    }],
    ["of a device", device({ data: { a: 1 } })],
    ["of a device without names", device({ driver: "", pool: "", device: "" })],
    ["of a device with data that is a list", device({ data: [1] })],
    ["of a device with bad conditions", device({ conditions: [{ type: "bad type", status: "Maybe" }] })],
    [
      "of a device with long network data",
      device({
        networkData: { interfaceName: "a".repeat(257), hardwareAddress: "a".repeat(129) },
      }),
    ],
    [
      "of a device with bad addresses",
      device({
        networkData: {
          ips: ["10.0.0.1", "10.0.0.1/08", "::ffff:10.0.0.1/104", "2001:DB8::1/64", "10.0.0.1/8", "10.0.0.1/8"],
        },
      }),
    ],
    ["of a device with too many addresses", device({ networkData: { ips: many(17, (i) => `10.0.0.${i}/8`) } })],
    ["of a device twice", {
      status: {
        ...claimStatus,
        devices: many(2, () => ({ driver: "gpu.example.com", pool: "node-1", device: "gpu-0" })),
      },
    }],
  ],
};

const claimTemplate: MutatedKind = {
  what: "a ResourceClaimTemplate",
  path: (run) => at(run, "resource.k8s.io/v1/resourceclaimtemplates"),
  good: () => ({
    metadata: { name: "good" },
    spec: { metadata: { labels: { a: "b" } }, spec: claimSpec },
  }),
  creates: [
    ...claimMutations("spec.spec"),
    ["without a spec", { spec: undefined }],
    ["with bad labels", { "spec.metadata.labels": { "bad key": "bad value!" } }],
    ["with bad annotations", { "spec.metadata.annotations": { "bad key": "x" } }],
    ["with a bad name", { "metadata.name": "Bad_Name" }],
  ],
  updates: [
    ["to another name of a request", { "spec.spec.devices.requests.0.name": "other" }],
    ["to other labels", { "spec.metadata.labels": { a: "c" } }],
    ["to no constraints", { "spec.spec.devices.constraints": undefined }],
  ],
};

const gpu: Body = { name: "gpu-0", attributes: { model: { string: "a" } }, capacity: { memory: { value: "1Gi" } } };
const of = "spec.devices.0";

function capacity(value: Body, rest: Body = { allowMultipleAllocations: true }): Changes {
  return { [of]: { name: "gpu-0", ...rest, capacity: { memory: { value: "10", requestPolicy: value } } } };
}

function attributes(values: Body): Changes {
  return { [`${of}.attributes`]: values };
}

const resourceSlice: MutatedKind = {
  what: "a ResourceSlice",
  path: () => `${root}/resourceslices`,
  good: (run) => ({
    metadata: { name: run.name("good") },
    spec: {
      driver: "gpu.example.com",
      nodeName: "node-1",
      pool: { name: "node-1", generation: 1, resourceSliceCount: 1 },
      devices: [gpu],
    },
  }),
  creates: [
    ["without a spec", { spec: undefined }],
    ["with a bad name", { "metadata.name": "Bad_Name" }],
    ["without a driver", { "spec.driver": undefined }],
    ["of a bad driver", { "spec.driver": "Bad_Driver" }],
    ["of a driver in capitals", { "spec.driver": "GPU.example.com" }],
    ["of a long driver", { "spec.driver": "a".repeat(64) }],
    ["without a pool", { "spec.pool": undefined }],
    ["of a bad pool", { "spec.pool": { name: "Bad//pool", generation: -1, resourceSliceCount: -1 } }],
    ["of a long pool", { "spec.pool.name": "a".repeat(254) }],
    ["without a node", { "spec.nodeName": undefined }],
    ["of an empty node", { "spec.nodeName": "" }],
    ["of a bad node", { "spec.nodeName": "Bad_Node" }],
    ["of all nodes and one", { "spec.allNodes": true }],
    ["of not all nodes", { "spec.allNodes": false }],
    ["of not per device", { "spec.perDeviceNodeSelection": false }],
    ["of nodes without terms", { "spec.nodeName": undefined, "spec.nodeSelector": { nodeSelectorTerms: [] } }],
    ["of nodes by two terms", {
      "spec.nodeName": undefined,
      "spec.nodeSelector": {
        nodeSelectorTerms: [{ matchExpressions: [{ key: "a", operator: "Exists" }] }, {
          matchExpressions: [{ key: "b", operator: "Like" }],
        }],
      },
    }],
    ["of too many devices", { "spec.devices": many(129, (index) => ({ name: `d${index}` })) }],
    ["of too many tainted devices", {
      "spec.devices": many(65, (i) => ({ name: `d${i}`, taints: i === 0 ? [{ key: "a", effect: "NoSchedule" }] : [] })),
    }],
    ["of devices with the same name", { "spec.devices": many(2, () => gpu) }],
    ["of a device with a bad name", { [`${of}.name`]: "a.b" }],
    ["of a device without a name", { [`${of}.name`]: undefined }],
    [
      "of attributes with bad names",
      attributes({ "": { int: 1 }, "1a": { int: 1 }, "/a": { int: 1 }, "a.b/": { int: 1 } }),
    ],
    ["of attributes with long names", attributes({ [`${"a".repeat(64)}/${"b".repeat(33)}`]: {} })],
    ["of an attribute without a value", attributes({ a: {} })],
    ["of an attribute with two values", attributes({ a: { int: 1, bool: true } })],
    ["of an attribute with a list", attributes({ a: { ints: [1, 2] } })],
    ["of an attribute with a long text", attributes({ a: { string: "a".repeat(65) } })],
    [
      "of attributes with versions",
      attributes({ a: { version: "1.0" }, b: { version: "1.0.0-rc.1+build" }, c: { version: "01.0.0" } }),
    ],
    ["of too many attributes", attributes(Object.fromEntries(many(33, (index) => [`a${index}`, { int: index }])))],
    ["of a policy of a device that is not shared", capacity({ default: "1" }, {})],
    ["of a policy with values and a range", capacity({ default: "1", validValues: ["1"], validRange: { min: "1" } })],
    ["of a policy without a default", capacity({ validValues: ["1"] })],
    ["of a policy with a range without a default", capacity({ validRange: { min: "1" } })],
    ["of a policy with bad values", capacity({ default: "3", validValues: ["2", "1", "1", "11"] })],
    ["of a policy with too many values", capacity({ default: "1", validValues: many(11, (index) => `${index + 1}`) })],
    ["of a policy with a bad range", capacity({ default: "1", validRange: { min: "11", max: "5", step: "2" } })],
    ["of a policy with a range without a minimum", capacity({ default: "1", validRange: { max: "5" } })],
    ["of a policy with a bad step", capacity({ default: "4", validRange: { min: "1", max: "12", step: "2" } })],
    ["of bad taints", { [`${of}.taints`]: [{}, { key: "bad key", value: "bad value!", effect: "Never" }] }],
    ["of too many taints", { [`${of}.taints`]: many(17, () => ({ key: "a", effect: "NoSchedule" })) }],
    ["of counters and devices", { "spec.sharedCounters": [{ name: "a", counters: { b: { value: "1" } } }] }],
    ["of bad counters", {
      "spec.devices": undefined,
      "spec.sharedCounters": [{}, { name: "a", counters: { "B.c": { value: "1" } } }, { name: "a", counters: {} }],
    }],
    ["of too many counter sets", {
      "spec.devices": undefined,
      "spec.sharedCounters": many(9, (i) => ({ name: `s${i}`, counters: { b: { value: "1" } } })),
    }],
    ["of too many counters", {
      "spec.devices": undefined,
      "spec.sharedCounters": [{
        name: "a",
        counters: Object.fromEntries(many(33, (index) => [`c${index}`, { value: "1" }])),
      }],
    }],
    ["of devices with bad counters", {
      [`${of}.consumesCounters`]: [{}, { counterSet: "A_B", counters: { "C.d": { value: "1" } } }],
    }],
    ["of devices with a counter set twice", {
      [`${of}.consumesCounters`]: many(2, () => ({ counterSet: "a", counters: { b: { value: "1" } } })),
    }],
    ["of a device with a node of its own", { [`${of}.nodeName`]: "node-1" }],
    ["of a device without a node of its own", { "spec.nodeName": undefined, "spec.perDeviceNodeSelection": true }],
    ["of a device with several places", {
      "spec.nodeName": undefined,
      "spec.perDeviceNodeSelection": true,
      [`${of}.nodeName`]: "",
      [`${of}.allNodes`]: true,
      [`${of}.nodeSelector`]: { nodeSelectorTerms: [{ matchExpressions: [{ key: "a", operator: "Exists" }] }] },
    }],
    ["of failure conditions alone", { [`${of}.bindingFailureConditions`]: ["a", "a", "bad key"] }],
    ["of conditions alone", { [`${of}.bindingConditions`]: ["a"] }],
  ],
  updates: [
    ["to another driver", { "spec.driver": "other.example.com" }],
    ["to another pool", { "spec.pool.name": "other" }],
    ["to another node", { "spec.nodeName": "node-2" }],
    ["to no node", { "spec.nodeName": undefined }],
    ["to a bad device", { [`${of}.name`]: "a.b" }],
    ["to bad taints", { [`${of}.taints`]: [{ key: "a", effect: "Never" }] }],
  ],
  traits: { needsNamespace: false },
};

export const deviceKinds: readonly MutatedKind[] = [
  deviceClass,
  resourceClaim,
  claimTemplate,
  resourceSlice,
];
