import { assert, assertEquals, assertMatch, test } from "../../../tests/testing.ts";
import { KubernetesTestServer } from "../testing/kubernetes_test_server.ts";

const home = "/api/v1/namespaces/default";
const pods = `${home}/pods`;

function pod(name: string, spec: object = {}, container: object = {}, metadata: object = {}) {
  return {
    metadata: { name, ...metadata },
    spec: { containers: [{ name: "main", image: "app:1", ...container }], ...spec },
  };
}

test("a Pod gets the default ServiceAccount, a token volume, a priority and default tolerations", async () => {
  using server = new KubernetesTestServer();
  const { spec } = await server.create(pods, pod("a"));
  assertEquals([spec.serviceAccountName, spec.serviceAccount], ["default", "default"]);
  assertEquals([spec.priority, spec.preemptionPolicy, spec.priorityClassName], [0, "PreemptLowerPriority", undefined]);
  const [volume] = spec.volumes;
  assertMatch(volume.name, /^kube-api-access-[a-z0-9]{5}$/);
  assertEquals(volume.projected.sources.map((source: object) => Object.keys(source)[0]), [
    "serviceAccountToken",
    "configMap",
    "downwardAPI",
  ]);
  assertEquals(spec.containers[0].volumeMounts, [
    { name: volume.name, readOnly: true, mountPath: "/var/run/secrets/kubernetes.io/serviceaccount" },
  ]);
  assertEquals(
    spec.tolerations.map((
      { key, tolerationSeconds }: { key: string; tolerationSeconds: number },
    ) => [key, tolerationSeconds]),
    [["node.kubernetes.io/not-ready", 300], ["node.kubernetes.io/unreachable", 300]],
  );
});

test("the Pod decides before its ServiceAccount whether a token is mounted; an existing mount stays", async () => {
  using server = new KubernetesTestServer();
  const account = {
    metadata: { name: "quiet" },
    automountServiceAccountToken: false,
    imagePullSecrets: [{ name: "s" }],
  };
  await server.create(`${home}/serviceaccounts`, account);
  const volumesOf = async (name: string, spec: object, container: object = {}) =>
    (await server.create(pods, pod(name, { serviceAccountName: "quiet", ...spec }, container))).spec.volumes?.length ??
      0;
  assertEquals(await volumesOf("a", {}), 0);
  assertEquals(await volumesOf("b", { automountServiceAccountToken: true }), 1);
  assertEquals(await volumesOf("c", { serviceAccountName: "default", automountServiceAccountToken: false }), 0);
  const mountPath = "/var/run/secrets/kubernetes.io/serviceaccount";
  const mine = { volumes: [{ name: "mine", emptyDir: {} }], automountServiceAccountToken: true };
  assertEquals(await volumesOf("d", mine, { volumeMounts: [{ name: "mine", mountPath }] }), 1);
  assertEquals((await server.send("GET", `${pods}/a`)).body.spec.imagePullSecrets, [{ name: "s" }]);
});

/** A Pod, and the text after "forbidden:" when it is rejected with 403. */
const rejectedPods: readonly (readonly [what: string, body: object, message: string])[] = [
  [
    "an account that is not there",
    pod("a", { serviceAccountName: "nobody" }),
    'error looking up service account default/nobody: serviceaccount "nobody" not found',
  ],
  [
    "a priority class that is not there",
    pod("a", { priorityClassName: "none" }),
    "no PriorityClass with name none was found",
  ],
  [
    "a priority of its own",
    pod("a", { priority: 7 }),
    "the integer value of priority (7) must not be provided in pod spec; priority admission controller computed 0 from " +
    "the given PriorityClass name",
  ],
  ["a runtime that is not there", pod("a", { runtimeClassName: "r" }), 'pod rejected: RuntimeClass "r" not found'],
  [
    "overhead of its own",
    pod("a", { overhead: { cpu: "1" } }),
    "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead",
  ],
  [
    "a mirror with an account",
    pod("a", { serviceAccountName: "default" }, {}, { annotations: { "kubernetes.io/config.mirror": "x" } }),
    "a mirror pod may not reference service accounts",
  ],
];

for (const [what, body, message] of rejectedPods) {
  test(`a Pod is rejected for ${what}`, async () => {
    using server = new KubernetesTestServer();
    const response = await server.send("POST", pods, body);
    assertEquals([response.code, response.body.message], [403, `pods "a" is forbidden: ${message}`]);
  });
}

test("a ServiceAccount with enforced secrets rejects Pods with other secrets", async () => {
  using server = new KubernetesTestServer();
  const annotations = { "kubernetes.io/enforce-mountable-secrets": "true" };
  await server.create(`${home}/serviceaccounts`, {
    metadata: { name: "strict", annotations },
    secrets: [{ name: "mine" }],
  });
  const withSecret = (secretName: string) =>
    pod("a", { serviceAccountName: "strict", volumes: [{ name: "v", secret: { secretName } }] });
  const rejected = await server.send("POST", pods, withSecret("other"));
  assertMatch(
    rejected.body.message,
    /volume with secret.secretName="other" is not allowed because service account strict/,
  );
  const env = [{ name: "X", valueFrom: { secretKeyRef: { name: "other", key: "k" } } }];
  const byEnv = await server.send("POST", pods, pod("b", { serviceAccountName: "strict" }, { env }));
  assertMatch(byEnv.body.message, /container main with envVar X referencing secret.secretName="other" is not allowed/);
  await server.create(pods, withSecret("mine"));
});

test("a PriorityClass sets the priority of Pods; only one can be the global default", async () => {
  using server = new KubernetesTestServer();
  const classes = "/apis/scheduling.k8s.io/v1/priorityclasses";
  await server.create(classes, { metadata: { name: "high" }, value: 100, preemptionPolicy: "Never" });
  const { spec } = await server.create(pods, pod("a", { priorityClassName: "high" }));
  assertEquals([spec.priority, spec.preemptionPolicy], [100, "Never"]);
  await server.create(classes, { metadata: { name: "usual" }, value: 5, globalDefault: true });
  const usual = await server.create(pods, pod("b"));
  assertEquals([usual.spec.priorityClassName, usual.spec.priority], ["usual", 5]);
  const second = await server.send("POST", classes, { metadata: { name: "too" }, value: 6, globalDefault: true });
  assertEquals(second.code, 403);
  assertMatch(second.body.message, /PriorityClass usual is already marked as default/);
  const kept = await server.send("GET", `${pods}/b`);
  delete kept.body.spec.priority;
  const updated = await server.send("PUT", `${pods}/b`, kept.body);
  assertEquals([updated.code, updated.body.spec.priority], [200, 5]);
});

test("the system PriorityClasses exist from the start", async () => {
  using server = new KubernetesTestServer();
  const { body } = await server.send("GET", "/apis/scheduling.k8s.io/v1/priorityclasses");
  const values = body.items.map((
    { metadata, value }: { metadata: { name: string }; value: number },
  ) => [metadata.name, value]);
  assertEquals(values, [["system-cluster-critical", 2_000_000_000], ["system-node-critical", 2_000_001_000]]);
  const made = await server.create(
    "/api/v1/namespaces/kube-system/pods",
    pod("a", { priorityClassName: values[1]?.[0] }),
  );
  assertEquals(made.spec.priority, 2_000_001_000);
});

test("a new Node is tainted as not ready, and a PersistentVolumeClaim gets its protection finalizer", async () => {
  using server = new KubernetesTestServer();
  const node = await server.create("/api/v1/nodes", { metadata: { name: "n" } });
  assertEquals(node.spec.taints, [{ key: "node.kubernetes.io/not-ready", effect: "NoSchedule" }]);
  const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
  const claim = await server.create(`${home}/persistentvolumeclaims`, { metadata: { name: "c" }, spec });
  assertEquals(claim.metadata.finalizers, ["kubernetes.io/pvc-protection"]);
});

test("claims and Ingresses without a class get the newest class that is marked as the default", async () => {
  using server = new KubernetesTestServer();
  const mark = (key: string) => ({ annotations: { [key]: "true" } });
  const storage = "/apis/storage.k8s.io/v1/storageclasses";
  for (const name of ["old", "new"]) {
    const metadata = { name, ...mark("storageclass.kubernetes.io/is-default-class") };
    await server.create(storage, { metadata, provisioner: "example.com/p" });
    await server.clock.advance(2_000);
  }
  const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
  const claims = `${home}/persistentvolumeclaims`;
  assertEquals((await server.create(claims, { metadata: { name: "a" }, spec })).spec.storageClassName, "new");
  const none = { ...spec, storageClassName: "" };
  assertEquals((await server.create(claims, { metadata: { name: "b" }, spec: none })).spec.storageClassName, "");

  const classes = "/apis/networking.k8s.io/v1/ingressclasses";
  const metadata = { name: "web", ...mark("ingressclass.kubernetes.io/is-default-class") };
  await server.create(classes, { metadata, spec: { controller: "example.com/c" } });
  const backend = { service: { name: "s", port: { number: 80 } } };
  const ingress = (name: string, annotations = {}) =>
    server.create("/apis/networking.k8s.io/v1/namespaces/default/ingresses", {
      metadata: { name, annotations },
      spec: { defaultBackend: backend },
    });
  assertEquals((await ingress("a")).spec.ingressClassName, "web");
  assertEquals((await ingress("b", { "kubernetes.io/ingress.class": "x" })).spec.ingressClassName, undefined);
});

test("a RuntimeClass adds its overhead, its node selector and its tolerations", async () => {
  using server = new KubernetesTestServer();
  await server.create("/apis/node.k8s.io/v1/runtimeclasses", {
    metadata: { name: "sandbox" },
    handler: "h",
    overhead: { podFixed: { cpu: "250m" } },
    scheduling: { nodeSelector: { runtime: "h" }, tolerations: [{ key: "sandbox", operator: "Exists" }] },
  });
  const { spec } = await server.create(pods, pod("a", { runtimeClassName: "sandbox", nodeSelector: { disk: "ssd" } }));
  assertEquals([spec.overhead, spec.nodeSelector], [{ cpu: "250m" }, { disk: "ssd", runtime: "h" }]);
  assert(spec.tolerations.some(({ key }: { key: string }) => key === "sandbox"));
  const other = await server.send(
    "POST",
    pods,
    pod("b", { runtimeClassName: "sandbox", nodeSelector: { runtime: "x" } }),
  );
  assertMatch(
    other.body.message,
    /conflict: runtimeClass.scheduling.nodeSelector\[runtime\] = h; pod.spec.nodeSelector/,
  );
});
