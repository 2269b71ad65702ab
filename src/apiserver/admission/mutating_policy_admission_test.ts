/** Tests of what a real server does not decide alone: the order of several mutating policies, and their second round. */
import { assertEquals, test } from "../../../tests/testing.ts";
import type { JsonObject } from "../model/mod.ts";
import { KubernetesTestServer } from "../testing/kubernetes_test_server.ts";

const root = "/apis/admissionregistration.k8s.io/v1";
const configMaps = "/api/v1/namespaces/default/configmaps";

/** A server with policies for ConfigMaps, each with its binding. */
async function serverWith(policies: Readonly<Record<string, JsonObject>>): Promise<KubernetesTestServer> {
  const server = new KubernetesTestServer();
  for (const [name, spec] of Object.entries(policies)) {
    const rule = { apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: ["CREATE"] };
    await server.create(`${root}/mutatingadmissionpolicies`, {
      metadata: { name },
      spec: { reinvocationPolicy: "Never", matchConstraints: { resourceRules: [rule] }, ...spec },
    });
    await server.create(`${root}/mutatingadmissionpolicybindings`, { metadata: { name }, spec: { policyName: name } });
  }
  return server;
}

/** Sets `data.KEY` to a text of CEL. */
function sets(key: string, text: string): JsonObject {
  const expression = `Object{data: {"${key}": ${text}}}`;
  return { mutations: [{ patchType: "ApplyConfiguration", applyConfiguration: { expression } }] };
}

const size = "string(object.data.size())";

async function created(server: KubernetesTestServer): Promise<unknown> {
  return (await server.create(configMaps, { metadata: { name: "a" }, data: { x: "1" } })).data;
}

test("policies run in the order of their names, and each sees what those before it have changed", async () => {
  using server = await serverWith({ b: sets("second", size), a: sets("first", size) });
  assertEquals(await created(server), { x: "1", first: "1", second: "2" });
});

test("a policy with IfNeeded runs again when a later one has changed the object, one with Never does not", async () => {
  using server = await serverWith({
    a: { reinvocationPolicy: "IfNeeded", ...sets("again", size) },
    b: sets("once", size),
    c: sets("last", size),
  });
  assertEquals(await created(server), { x: "1", again: "4", once: "2", last: "3" });
});

test("a policy without a binding, and one of another resource, change nothing", async () => {
  using server = await serverWith({ a: sets("a", size) });
  await server.send("DELETE", `${root}/mutatingadmissionpolicybindings/a`);
  assertEquals(await created(server), { x: "1" });
});
