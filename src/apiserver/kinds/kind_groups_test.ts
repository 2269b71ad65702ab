import { assert, assertEquals, test } from "../../../tests/testing.ts";
import type { Json, JsonObject, KindNames } from "../model/mod.ts";
import { builtinFamilies } from "./builtin_kinds.ts";
import { builtinTable } from "./kind_groups.ts";

const now = Date.parse("2026-01-01T01:00:00Z");
const metadata = { name: "a", creationTimestamp: "2026-01-01T00:00:00Z" };

const kinds: readonly KindNames[] = builtinFamilies()
  .flatMap(({ served }) => served)
  .filter(({ verbs }) => verbs.includes("list"));

/** The cells of an object, by the names of their columns. */
function shown(title: string, object: JsonObject): ReadonlyMap<string, Json> {
  const kind = kinds.find(({ plural, group }) => title === (group === "" ? plural : `${plural}.${group}`));
  assert(kind !== undefined, title);
  const table = builtinTable(kind);
  const cells = table.cells({ metadata, ...object }, now);
  return new Map(table.columns.map((column, index) => [column.name, cells[index] ?? null]));
}

/** Objects that no client would send. */
const odd: readonly JsonObject[] = [{}, { metadata }, { metadata, spec: null, status: [] }, { metadata: 1, spec: "x" }];

/** The real server has a cell for the age of an IPAddress, but no column. */
const unnamed: ReadonlyMap<string, number> = new Map([["IPAddress", 1]]);

for (const kind of kinds) {
  const { group, version, plural } = kind;
  test(`the table of ${group}/${version} ${plural} has a cell for each column, whatever the object contains`, () => {
    const { columns, cells } = builtinTable(kind);
    assert(columns.length > 0);
    const expected = columns.length + (unnamed.get(kind.kind) ?? 0);
    for (const object of odd) assertEquals(cells(object, now).length, expected);
    if (columns[0]?.name === "Name") assertEquals(cells({ metadata }, now)[0], "a");
  });
}

test("the age of an object is counted from its creation, and is unknown without a creationTimestamp", () => {
  assertEquals(shown("configmaps", {}).get("Age"), "60m");
  assertEquals(shown("configmaps", { metadata: { name: "a" } }).get("Age"), "<unknown>");
});

const template = { spec: { containers: [{ name: "a", image: "x:1" }, { name: "b", image: "y:2" }] } };
const ref = { apiVersion: "apps/v1", kind: "StatefulSet", name: "db" };

/** Resource, column, object, and the expected cell. */
const cells: readonly (readonly [string, string, JsonObject, Json])[] = [
  ["configmaps", "Data", { data: { a: "1", b: "2" }, binaryData: { c: "" } }, 3],
  ["nodes", "Status", {}, "Unknown"],
  ["nodes", "Status", { status: { conditions: [{ type: "Ready", status: "True" }] } }, "Ready"],
  [
    "nodes",
    "Status",
    { spec: { unschedulable: true }, status: { conditions: [{ type: "Ready", status: "Unknown" }] } },
    "NotReady,SchedulingDisabled",
  ],
  [
    "nodes",
    "Roles",
    {
      metadata: {
        labels: {
          "node-role.kubernetes.io/worker": "",
          "node-role.kubernetes.io/": "",
          "kubernetes.io/role": "infra",
          "node-role.kubernetes.io/control-plane": "",
        },
      },
    },
    "control-plane,infra,worker",
  ],
  ["nodes", "Kernel-Version", { status: { nodeInfo: { kernelVersion: "6.1", architecture: "arm64" } } }, "6.1 (arm64)"],
  ["nodes", "Internal-IP", { status: { addresses: [{ type: "InternalIP", address: "192.0.2.1" }] } }, "192.0.2.1"],
  ["nodes", "External-IP", { status: { addresses: [{ type: "InternalIP", address: "192.0.2.1" }] } }, "<none>"],
  [
    "resourcequotas",
    "Request",
    { status: { hard: { pods: "3", "limits.cpu": "2", cpu: "1" }, used: { pods: "1" } } },
    "cpu: 0/1, pods: 1/3",
  ],
  ["resourcequotas", "Limit", { status: { hard: { "limits.cpu": "2" }, used: {} } }, "limits.cpu: 0/2"],
  ["persistentvolumeclaims", "Status", { metadata: { name: "a", deletionTimestamp: "x" } }, "Terminating"],
  ["persistentvolumeclaims", "Capacity", { spec: {}, status: { capacity: { storage: "1Gi" } } }, ""],
  [
    "persistentvolumeclaims",
    "Access Modes",
    { spec: { volumeName: "v" }, status: { accessModes: ["ReadWriteMany", "ReadWriteOnce", "ReadWriteMany"] } },
    "RWO,RWX",
  ],
  ["persistentvolumes", "Claim", { spec: { claimRef: { namespace: "n", name: "c" } } }, "n/c"],
  ["persistentvolumes", "Capacity", {}, "0"],
  [
    "persistentvolumes",
    "StorageClass",
    {
      metadata: { annotations: { "volume.beta.kubernetes.io/storage-class": "old" } },
      spec: { storageClassName: "new" },
    },
    "old",
  ],
  ["controllerrevisions.apps", "Controller", { metadata: { ownerReferences: [ref] } }, "<none>"],
  [
    "controllerrevisions.apps",
    "Controller",
    { metadata: { ownerReferences: [{ ...ref, controller: true }] } },
    "statefulset.apps/db",
  ],
  ["deployments.apps", "Ready", { spec: { replicas: 3 }, status: { readyReplicas: 1 } }, "1/3"],
  ["deployments.apps", "Images", { spec: { template } }, "x:1,y:2"],
  ["deployments.apps", "Selector", { spec: { selector: { matchExpressions: [{ operator: "?" }] } } }, "<invalid>"],
  ["replicasets.apps", "Selector", { spec: { selector: {} } }, "<none>"],
  ["replicasets.apps", "Selector", { spec: { selector: { matchExpressions: [{ operator: "?" }] } } }, "<error>"],
  ["jobs.batch", "Status", {}, "Running"],
  ["jobs.batch", "Status", { metadata: { deletionTimestamp: "x" } }, "Terminating"],
  [
    "jobs.batch",
    "Status",
    { status: { conditions: [{ type: "Suspended", status: "True" }, { type: "Failed", status: "True" }] } },
    "Failed",
  ],
  ["jobs.batch", "Completions", { spec: { completions: 3 }, status: { succeeded: 2 } }, "2/3"],
  ["jobs.batch", "Completions", { spec: { parallelism: 4 } }, "0/1 of 4"],
  ["jobs.batch", "Completions", { spec: { parallelism: 1 } }, "0/1"],
  ["jobs.batch", "Duration", {}, ""],
  ["jobs.batch", "Duration", { status: { startTime: "2026-01-01T00:59:00Z" } }, "60s"],
  [
    "jobs.batch",
    "Duration",
    { status: { startTime: "2026-01-01T00:00:00Z", completionTime: "2026-01-01T00:00:30Z" } },
    "30s",
  ],
  ["cronjobs.batch", "Suspend", { spec: { suspend: false } }, "False"],
  ["cronjobs.batch", "Last Schedule", { status: { lastScheduleTime: "2026-01-01T00:58:00Z" } }, "2m"],
  ["ingresses.networking.k8s.io", "Hosts", { spec: { rules: [{}] } }, "*"],
  [
    "ingresses.networking.k8s.io",
    "Hosts",
    { spec: { rules: ["a", "b", "c", "d", "e"].map((host) => ({ host })) } },
    "a,b,c + 2 more...",
  ],
  ["ingresses.networking.k8s.io", "Ports", { spec: { tls: [{}] } }, "80, 443"],
  [
    "ingressclasses.networking.k8s.io",
    "Name",
    { metadata: { name: "x", annotations: { "ingressclass.kubernetes.io/is-default-class": "true" } } },
    "x (default)",
  ],
  [
    "ingressclasses.networking.k8s.io",
    "Parameters",
    { spec: { parameters: { apiGroup: "k.example", kind: "Settings", name: "s" } } },
    "Settings.k.example/s",
  ],
  [
    "ipaddresses.networking.k8s.io",
    "ParentRef",
    { spec: { parentRef: { resource: "services", namespace: "n", name: "s" } } },
    "services/n/s",
  ],
  ["endpointslices.discovery.k8s.io", "Ports", {}, "<unset>"],
  ["endpointslices.discovery.k8s.io", "Ports", { ports: [{ port: 80 }, { name: "x" }, {}] }, "80,x,*"],
  [
    "endpointslices.discovery.k8s.io",
    "Endpoints",
    { endpoints: [{ addresses: ["192.0.2.1", "192.0.2.2"] }, { addresses: ["192.0.2.3", "192.0.2.4"] }] },
    "192.0.2.1,192.0.2.2,192.0.2.3 + 1 more...",
  ],
  ["poddisruptionbudgets.policy", "Min Available", { spec: { minAvailable: "50%" } }, "50%"],
  ["poddisruptionbudgets.policy", "Max Unavailable", { spec: { maxUnavailable: 0 } }, "0"],
  ["poddisruptionbudgets.policy", "Max Unavailable", {}, "N/A"],
  [
    "rolebindings.rbac.authorization.k8s.io",
    "ServiceAccounts",
    { subjects: [{ kind: "ServiceAccount", namespace: "n", name: "s" }, { kind: "User", name: "u" }] },
    "n/s",
  ],
  [
    "validatingadmissionpolicybindings.admissionregistration.k8s.io",
    "ParamRef",
    { spec: { paramRef: { name: "p" } } },
    "*/p",
  ],
  [
    "certificatesigningrequests.certificates.k8s.io",
    "Condition",
    { status: { conditions: [{ type: "Approved" }], certificate: "x" } },
    "Approved,Issued",
  ],
  ["certificatesigningrequests.certificates.k8s.io", "RequestedDuration", { spec: { expirationSeconds: 3600 } }, "60m"],
  [
    "storageclasses.storage.k8s.io",
    "Name",
    { metadata: { name: "x", annotations: { "storageclass.kubernetes.io/is-default-class": "true" } } },
    "x (default)",
  ],
  ["csidrivers.storage.k8s.io", "AttachRequired", {}, true],
  [
    "csidrivers.storage.k8s.io",
    "TokenRequests",
    { spec: { tokenRequests: [{ audience: "a" }, { audience: "b" }] } },
    "a,b",
  ],
  ["apiservices.apiregistration.k8s.io", "Service", {}, "Local"],
  [
    "apiservices.apiregistration.k8s.io",
    "Available",
    { status: { conditions: [{ type: "Available", status: "False", reason: "Gone" }] } },
    "False (Gone)",
  ],
  [
    "resourceclaims.resource.k8s.io",
    "State",
    { status: { allocation: {}, reservedFor: [{}] } },
    "allocated,reserved",
  ],
  ["resourceclaims.resource.k8s.io", "State", {}, "pending"],
  ["flowschemas.flowcontrol.apiserver.k8s.io", "MissingPL", {}, "?"],
  [
    "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io",
    "Queues",
    { spec: { limited: { limitResponse: { queuing: { queues: 64 } } } } },
    64,
  ],
  ["prioritylevelconfigurations.flowcontrol.apiserver.k8s.io", "NominalConcurrencyShares", {}, "<none>"],
];

for (const [title, column, object, expected] of cells) {
  test(`${title}: ${column} of ${JSON.stringify(object)} is ${JSON.stringify(expected)}`, () => {
    assertEquals(shown(title, object).get(column), expected);
  });
}
