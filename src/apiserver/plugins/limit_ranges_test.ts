import { assertEquals, test } from "../../../tests/testing.ts";
import { KubernetesTestServer } from "../testing/kubernetes_test_server.ts";

const home = "/api/v1/namespaces/default";

async function serverWith(...limits: readonly object[]): Promise<KubernetesTestServer> {
  const server = new KubernetesTestServer();
  await server.create(`${home}/limitranges`, { metadata: { name: "bounds" }, spec: { limits } });
  return server;
}

function pod(resources: object, more: object = {}) {
  return { metadata: { name: "a" }, spec: { containers: [{ name: "main", image: "app:1", resources }], ...more } };
}

test("a container without resources gets the defaults, and the Pod an annotation", async () => {
  using server = await serverWith({
    type: "Container",
    default: { cpu: "1", memory: "1Gi" },
    defaultRequest: { cpu: "100m" },
  });
  const made = await server.create(`${home}/pods`, pod({ limits: { memory: "2Gi" } }));
  assertEquals(made.spec.containers[0].resources, {
    limits: { memory: "2Gi", cpu: "1" },
    requests: { memory: "2Gi", cpu: "100m" },
  });
  assertEquals(
    made.metadata.annotations["kubernetes.io/limit-ranger"],
    "LimitRanger plugin set: cpu request for container main; cpu limit for container main",
  );
});

/** A LimitRange, the resources of a Pod, and the error. */
const rejected: readonly (readonly [limit: object, resources: object, message: string])[] = [
  [
    { type: "Container", min: { cpu: "100m" } },
    { requests: { cpu: "50m" } },
    "minimum cpu usage per Container is 100m, but request is 50m",
  ],
  [
    { type: "Pod", max: { cpu: "2" } },
    { limits: { cpu: "3" } },
    "[maximum cpu usage per Pod is 2, but limit is 3]",
  ],
  [{ type: "Pod", max: { memory: "1Gi" } }, {}, "maximum memory usage per Pod is 1Gi.  No limit is specified"],
  [{ type: "Pod", min: { memory: "1Gi" } }, {}, "minimum memory usage per Pod is 1Gi.  No request is specified"],
  [
    { type: "Pod", maxLimitRequestRatio: { cpu: "2" } },
    { requests: { cpu: "1" }, limits: { cpu: "3" } },
    "cpu max limit to request ratio per Pod is 2, but provided ratio is 3.000000",
  ],
  [
    { type: "Pod", max: { cpu: "1" }, min: { memory: "1Gi" } },
    { limits: { cpu: "2" } },
    "[minimum memory usage per Pod is 1Gi.  No request is specified, maximum cpu usage per Pod is 1, but limit is 2]",
  ],
];

for (const [limit, resources, message] of rejected) {
  test(`a Pod is rejected: ${message}`, async () => {
    using server = await serverWith(limit);
    const response = await server.send("POST", `${home}/pods`, pod(resources));
    const plain = message.startsWith("[maximum") ? message.slice(1, -1) : message;
    assertEquals([response.code, response.body.message], [403, `pods "a" is forbidden: ${plain}`]);
  });
}

test("a PersistentVolumeClaim is limited by its requests", async () => {
  using server = await serverWith({ type: "PersistentVolumeClaim", min: { storage: "1Gi" }, max: { storage: "5Gi" } });
  const claim = (name: string, storage: string) => ({
    metadata: { name },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } } },
  });
  const path = `${home}/persistentvolumeclaims`;
  const message = async (storage: string) => (await server.send("POST", path, claim("a", storage))).body.message;
  const title = 'persistentvolumeclaims "a" is forbidden:';
  assertEquals(
    await message("6Gi"),
    `${title} maximum storage usage per PersistentVolumeClaim is 5Gi, but request is 6Gi`,
  );
  assertEquals(
    await message("1Mi"),
    `${title} minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 1Mi`,
  );
  await server.create(path, claim("b", "2Gi"));
});

test("a Pod in a namespace without a LimitRange is not limited", async () => {
  using server = await serverWith({ type: "Pod", max: { cpu: "1" } });
  await server.create("/api/v1/namespaces/kube-public/pods", pod({ limits: { cpu: "9" } }));
});
