import { assert, assertEquals, test } from "../../../tests/testing.ts";
import { allKinds, created, kindNamed, updated } from "./testing/kinds_testing.ts";

const plain = allKinds.filter((kind) => kind.verbs.includes("create") && kind.verbs.includes("update"));

for (const kind of plain) {
  const name = `${kind.group}/${kind.version} ${kind.kind}`;
  test(`an empty ${name} is validated without an exception, and twice with the same result`, () => {
    const first = created(kind, { metadata: { name: "a" } });
    assertEquals(created(kind, { metadata: { name: "a" } }), first);
    assertEquals(first.object.kind, kind.kind);
  });
  test(`an update of a ${name} without changes changes nothing`, () => {
    const { object } = created(kind, { metadata: { name: "a" } });
    assertEquals(updated(kind, object, object).object, object);
  });
}

/** Kinds, and the generation of a new object: undefined for kinds without generations. */
const generations: readonly (readonly [kind: string, apiVersion: string, generation: number | undefined])[] = [
  ["Pod", "v1", 1],
  ["PodTemplate", "v1", 1],
  ["ReplicationController", "v1", 1],
  ["ConfigMap", "v1", undefined],
  ["Service", "v1", undefined],
  ["ResourceQuota", "v1", undefined],
  ["PersistentVolumeClaim", "v1", undefined],
  ["Deployment", "apps/v1", 1],
  ["CronJob", "batch/v1", 1],
  ["PodDisruptionBudget", "policy/v1", 1],
  ["HorizontalPodAutoscaler", "autoscaling/v2", undefined],
  ["FlowSchema", "flowcontrol.apiserver.k8s.io/v1", 1],
  ["PriorityLevelConfiguration", "flowcontrol.apiserver.k8s.io/v1", 1],
  ["DeviceClass", "resource.k8s.io/v1", 1],
  ["ResourceSlice", "resource.k8s.io/v1", 1],
  ["ResourceClaim", "resource.k8s.io/v1", undefined],
  ["CSIDriver", "storage.k8s.io/v1", undefined],
];

for (const [name, apiVersion, generation] of generations) {
  test(`a new ${name} has ${generation === undefined ? "no generation" : `the generation ${generation}`}`, () => {
    const { object } = created(kindNamed(name, apiVersion), { metadata: { name: "a" } });
    assertEquals(object.metadata.generation, generation);
  });
}

test("a CSIDriver has a generation from the first change of its spec", () => {
  const kind = kindNamed("CSIDriver", "storage.k8s.io/v1");
  const { object } = created(kind, { metadata: { name: "a" } });
  const next = updated(kind, { ...object, spec: { ...object.spec, storageCapacity: true } }, object);
  assertEquals(next.object.metadata.generation, 1);
});

test("a DELETE responds with the object for kinds where old clients rely on it", () => {
  const responding = allKinds.filter(({ deletion }) => deletion.returnsObject === true).map(({ plural }) => plural);
  for (
    const plural of ["namespaces", "pods", "services", "serviceaccounts", "persistentvolumeclaims", "podtemplates"]
  ) {
    assert(responding.includes(plural), plural);
  }
  assert(!responding.includes("configmaps") && !responding.includes("deployments"));
});

test("requests for Endpoints get a deprecation warning, requests for EndpointSlices do not", () => {
  const warning = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice";
  assertEquals(kindNamed("Endpoints", "v1").deprecation, warning);
  assertEquals(kindNamed("EndpointSlice", "discovery.k8s.io/v1").deprecation, undefined);
});

test("a write of a subresource does not own the fields that it resets", () => {
  const paths = (kind: string, apiVersion: string, part: string) =>
    kindNamed(kind, apiVersion).resetFields(part).map((path) => path.join("."));
  assertEquals(paths("ConfigMap", "v1", ""), []);
  assertEquals(paths("Pod", "v1", ""), ["status"]);
  assertEquals(paths("Pod", "v1", "status"), ["spec", "metadata.deletionTimestamp", "metadata.ownerReferences"]);
  assertEquals(paths("Deployment", "apps/v1", "status"), ["spec", "metadata.labels"]);
  assertEquals(paths("VolumeAttachment", "storage.k8s.io/v1", "status"), ["spec", "metadata"]);
  assertEquals(paths("CertificateSigningRequest", "certificates.k8s.io/v1", ""), ["spec", "status"]);
  assertEquals(paths("CertificateSigningRequest", "certificates.k8s.io/v1", "approval"), [
    "spec",
    "status.certificate",
  ]);
});

test("some kinds reject updates without a resourceVersion", () => {
  const careless = allKinds.filter((kind) => kind.allowsUnconditionalUpdate).map(({ kind }) => kind);
  for (const name of ["Lease", "PodDisruptionBudget", "CSIDriver", "VolumeAttachment", "ValidatingAdmissionPolicy"]) {
    assert(!careless.includes(name), name);
  }
  assert(careless.includes("ConfigMap") && careless.includes("Deployment"));
});
