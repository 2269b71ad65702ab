/**
 * Attacks by permission and by name: a user who may write Roles and bindings tries to get more than the user has, and a
 * client invents verbs and subresources. Generators choose rules from a small vocabulary, so that they often nearly fit.
 *
 * The rules: what a user has granted, the user could do before; the number of metrics does not depend on what clients send.
 */
import { isAllowedBy, type PolicyRule } from "../../src/api/mod.ts";
import { KubernetesTestServer } from "../../src/apiserver/testing/kubernetes_test_server.ts";
import { seededRandom } from "../../src/async/mod.ts";
import { assert, assertEquals, test } from "../testing.ts";

const random = seededRandom(14);
const below = (count: number) => Math.floor(random.next() * count);

function someOf(words: readonly string[]): readonly string[] {
  const chosen = words.filter(() => below(3) === 0);
  return chosen.length > 0 ? chosen : [words[below(words.length)] ?? ""];
}

const verbs = ["get", "list", "delete", "*"];
const groups = ["", "apps", "*"];
const resources = ["pods", "pods/log", "deployments", "*/log", "*"];
const names = ["a", "b"];

function randomRule(): PolicyRule {
  const isNamed = below(3) === 0;
  return {
    verbs: someOf(below(4) === 0 ? verbs : verbs.slice(0, 3)),
    apiGroups: someOf(below(4) === 0 ? groups : groups.slice(0, 2)),
    resources: someOf(below(4) === 0 ? resources : resources.slice(0, 4)),
    ...(isNamed ? { resourceNames: someOf(names) } : {}),
  };
}

/** Every request of the vocabulary, and one outside of it. */
const requests = ["get", "list", "delete", "watch"].flatMap((verb) =>
  ["", "apps", "batch"].flatMap((group) =>
    ["pods", "pods/log", "deployments", "jobs", "jobs/log"].flatMap((full) =>
      ["a", "b", "c", ""].map((name) => {
        const [resource = "", subresource = ""] = full.split("/");
        return { verb, isResourceRequest: true, group, resource, subresource, name, path: "" };
      })
    )
  )
);

const rbac = "/apis/rbac.authorization.k8s.io/v1";
const asJane = { authorization: "Bearer jane" };
const roleRef = (kind: string, name: string) => ({ apiGroup: "rbac.authorization.k8s.io", kind, name });
const toJane = [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "jane" }];

async function grantJane(server: KubernetesTestServer, name: string, rules: readonly PolicyRule[]): Promise<void> {
  await server.create(`${rbac}/clusterroles`, { metadata: { name }, rules });
  const binding = { metadata: { name }, roleRef: roleRef("ClusterRole", name), subjects: toJane };
  await server.create(`${rbac}/clusterrolebindings`, binding);
}

const writesRoles: PolicyRule = {
  verbs: ["create", "update", "patch", "get"],
  apiGroups: ["rbac.authorization.k8s.io"],
  resources: ["roles", "clusterroles", "rolebindings", "clusterrolebindings"],
};

test("a user who may write Roles and bindings cannot grant what the user cannot do", async () => {
  const outcomes = { granted: 0, refused: 0 };
  for (let round = 0; round < 60; round++) {
    using server = new KubernetesTestServer();
    const held = [writesRoles, ...Array.from({ length: 1 + below(3) }, randomRule)];
    await grantJane(server, "held", held);
    for (let attempt = 0; attempt < 6; attempt++) {
      const rules = Array.from({ length: 1 + below(2) }, randomRule);
      const excess = requests.some((request) =>
        rules.some((rule) => isAllowedBy(rule, request)) && !held.some((rule) => isAllowedBy(rule, request))
      );
      const name = `r${attempt}`;
      await server.create(`${rbac}/clusterroles`, { metadata: { name: `made-${name}` }, rules });
      await server.create(`${rbac}/clusterroles`, { metadata: { name: `empty-${name}` }, rules: [] });
      const bind = (kind: string, role: string) => ({
        metadata: { name },
        roleRef: roleRef(kind, role),
        subjects: toJane,
      });
      const answers = [
        await server.send("POST", `${rbac}/clusterroles`, { metadata: { name }, rules }, asJane),
        await server.send("POST", `${rbac}/namespaces/default/roles`, { metadata: { name }, rules }, asJane),
        await server.send("PATCH", `${rbac}/clusterroles/empty-${name}`, { rules }, {
          ...asJane,
          "content-type": "application/merge-patch+json",
        }),
        await server.send("POST", `${rbac}/clusterrolebindings`, bind("ClusterRole", `made-${name}`), asJane),
        await server.send(
          "POST",
          `${rbac}/namespaces/default/rolebindings`,
          bind("ClusterRole", `made-${name}`),
          asJane,
        ),
      ];
      for (const { code, body } of answers) {
        assert(code === 200 || code === 201 || code === 403, JSON.stringify(body));
        if (code === 403) outcomes.refused++;
        else {
          outcomes.granted++;
          assert(!excess, `${JSON.stringify(held)} granted ${JSON.stringify(rules)}`);
        }
      }
      if (answers.some(({ code }) => code === 201)) break; // more is held now
    }
    assertEquals(server.errors, []);
  }
  assert(outcomes.granted > 20 && outcomes.refused > 200, JSON.stringify(outcomes));
});

test("the verbs escalate and bind allow to grant more, and an aggregated role needs everything", async () => {
  using server = new KubernetesTestServer();
  const group = "rbac.authorization.k8s.io";
  await grantJane(server, "held", [
    writesRoles,
    { verbs: ["escalate"], apiGroups: [group], resources: ["roles"] },
    { verbs: ["bind"], apiGroups: [group], resources: ["clusterroles"], resourceNames: ["view"] },
  ]);
  const rules = [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }];
  const send = async (path: string, body: object) => (await server.send("POST", `${rbac}${path}`, body, asJane)).code;
  const metadata = { name: "a" };
  assertEquals(await send("/namespaces/default/roles", { metadata, rules }), 201);
  assertEquals(await send("/clusterroles", { metadata, rules }), 403);
  const bound = (name: string) => ({ metadata: { name }, roleRef: roleRef("ClusterRole", name), subjects: toJane });
  assertEquals(await send("/clusterrolebindings", bound("view")), 201);
  assertEquals(await send("/clusterrolebindings", bound("edit")), 403);
  assertEquals(await send("/clusterrolebindings", bound("missing")), 404);
  const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { a: "b" } }] };
  assertEquals(await send("/clusterroles", { metadata, aggregationRule }), 403);
});

test("the refusal of a role with very many rules is bounded", async () => {
  using server = new KubernetesTestServer();
  await grantJane(server, "held", [writesRoles]);
  const words = Array.from({ length: 2_000 }, (_, index) => `w${index}`);
  const rules = [{ verbs: words, apiGroups: words, resources: words }];
  const { code, body } = await server.send("POST", `${rbac}/clusterroles`, { metadata: { name: "a" }, rules }, asJane);
  assertEquals(code, 403);
  assert(JSON.stringify(body).length < 1024 * 1024);
});

test("invented methods and subresources create no metrics without limit", async () => {
  using server = new KubernetesTestServer();
  const word = () => Array.from({ length: 8 }, () => String.fromCharCode(97 + below(26))).join("");
  const series = async () => String((await server.send("GET", "/metrics")).body).split("\n").length;
  const use = async () => {
    await server.send(word().toUpperCase(), "/api/v1/namespaces/default/pods/a");
    await server.send("GET", `/api/v1/namespaces/default/pods/a/${word()}`);
    await server.send("POST", `/api/v1/namespaces/default/configmaps/${word()}/${word()}`, {});
    await server.send("GET", `/apis/${word()}/v1/${word()}`);
  };
  await use();
  const before = await series();
  for (let round = 0; round < 50; round++) await use();
  assertEquals(await series(), before);
});
