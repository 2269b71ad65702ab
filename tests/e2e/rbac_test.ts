/**
 * The permissions of `manifests` on a real control plane: each controller works with exactly these, gets no 403 and uses
 * each of them; if one of foo's is removed, something breaks or names the missing rule. Run with:
 *
 *   ./compile.sh && deno run -A tests/controlplane/with.ts -- deno test -A tests/e2e/rbac_test.ts
 */
import { join } from "node:path";
import { type ControlPlane, until } from "../controlplane/mod.ts";
import { controlPlaneTest } from "../controlplane/test.ts";
import { assert, assertEquals, assertMatch } from "../testing.ts";
import { runBinary } from "./_binary.ts";
import { TestNamespace } from "./_cluster.ts";
import { ApiProxy } from "./_proxy.ts";
import {
  grant,
  isAccess,
  type Manifest,
  manifestsFor,
  type Right,
  rightsOf,
  rightsTaken,
  runAs,
  shortLease,
  without,
} from "./_rbac.ts";
import { seen, workloads } from "./_rbac_workloads.ts";

const crds = join(import.meta.dirname ?? ".", "..", "..", "crds");
/** Enables a check of the API server that needs one more permission. */
const strict = {
  own: { apiServerArgs: ["--enable-admission-plugins=OwnerReferencesPermissionEnforcement"], manifests: [crds] },
} as const;

/** The controllers of the binary, from its output. */
async function controllerNames(): Promise<readonly string[]> {
  const { stdout } = await runBinary(["--help"]);
  const [, names = ""] = /^Controllers: (.*)$/m.exec(stdout) ?? [];
  return names.split(", ");
}

controlPlaneTest(
  "[security 8] each controller works with exactly its permissions: it gets no 403 and uses each of them",
  async (controlPlane) => {
    for (const name of await controllerNames()) await prove(controlPlane, name);
  },
  strict,
);

async function prove(controlPlane: ControlPlane, name: string): Promise<void> {
  const workload = workloads.get(name);
  assert(workload !== undefined, `controller "${name}" has no workload in _rbac_workloads.ts`);
  const objects = await manifestsFor([name]);
  await using proxy = await ApiProxy.start(controlPlane);
  const installed = objects.filter((object) => isAccess(object) || /Webhook|Secret|Service$/.test(object.kind));
  const kubeconfig = await grant(controlPlane, installed, proxy.kubeconfig);
  const parts = { controlPlane, proxy, kubeconfig };
  const binary = runAs(kubeconfig, [name], objects, ...workload.flags ?? []);
  try {
    await workload.run(parts);
    await seen(proxy, "PUT", /\/leases\//);
  } catch (error) {
    throw new Error(`Cannot finish the workload of ${name}: ${error}\n${binary.stderr}`, { cause: error });
  } finally {
    binary.signal("SIGTERM");
    await binary.ended();
  }
  await workload.after?.(parts);
  const forbidden = proxy.requests.filter(({ response: answer }) => answer?.status === 403);
  assertEquals(forbidden.map(({ method, path }) => `${method} ${path}`), [], name);
  const taken = new Set(proxy.requests.filter(({ response: answer }) => answer !== undefined).flatMap(rightsTaken));
  assertEquals([...taken].sort(), [...rightsOf(objects)].sort(), `what ${name} asks for is what it may`);
  await controlPlane.kubectlOutput(["delete", "-f", "-", "--ignore-not-found", "--wait=false"], {
    stdin: JSON.stringify({
      apiVersion: "v1",
      kind: "List",
      items: objects.filter(({ kind }) => /Webhook/.test(kind)),
    }),
  });
}

/** Several run at a time, because each mostly waits. */
const atOnce = 4;

controlPlaneTest(
  "[security 8] removing one of foo's permissions breaks something, and the rule is named",
  async (controlPlane) => {
    const rights = [...rightsOf(await manifestsFor(["foo", "--namespaced", "-n", "x"]))];
    assert(rights.length >= 14, rights.join(", "));
    const queue = rights.entries();
    const worker = async () => {
      for (const [number, right] of queue) await deprive(controlPlane, right, `without-${number}`);
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
  },
  strict,
);

async function deprive(controlPlane: ControlPlane, right: Right, namespace: string): Promise<void> {
  const objects = (await manifestsFor(["foo", "--namespaced", "-n", namespace, "--create-namespace"])).filter(isAccess);
  await using proxy = await ApiProxy.start(controlPlane);
  const kubeconfig = await grant(controlPlane, without(objects, right), proxy.kubeconfig);
  const losesLease = right.startsWith("update ") && right.includes("leases");
  await using binary = runAs(kubeconfig, ["foo"], objects, ...(losesLease ? shortLease : []), "-n", namespace);
  const site = new TestNamespace(controlPlane, namespace);
  const race = right.startsWith("get deployments") ? onceRefused(proxy) : undefined;
  await site.applyFoo({ name: "a", deploymentName: "web", replicas: 1 });
  if (right.startsWith("patch events")) {
    await site.eventuallyEvent("Foo", "a", "Synced");
    await site.applyFoo({ name: "a", deploymentName: "web", replicas: 2 });
  }
  if (right.startsWith("get foos.")) {
    // The controller reads the Foo live before it creates a deleted Deployment again.
    await site.eventuallyEvent("Foo", "a", "Synced");
    await site.kubectl(["delete", "deployment", "web", "--wait=false"]);
  }
  await until(`see "${right}" missed`, () => {
    return isNamed(right, binary.stderr)
      ? { kind: "found", value: undefined }
      : { kind: "pending", state: `it had said:\n${binary.stderr}` };
  });
  race?.[Symbol.dispose]();
  // A permission that the start needs ends the process: as forbidden, or, once it leads, as a lost Lease.
  if (right.includes("leases") || right.startsWith("list ")) {
    const { code } = await binary.ended();
    assertEquals(code, right.startsWith("update ") ? 7 : 4, right);
  }
}

/** Answers a create of foo as if the object existed. */
function onceRefused(proxy: ApiProxy): Disposable {
  const status = { kind: "Status", status: "Failure", code: 409, reason: "Conflict", message: "raced, says the test" };
  const answer = () => Response.json({ apiVersion: "v1", ...status }, { status: 409 });
  return proxy.respond(answer, ({ method, path }) => method === "PATCH" && path.includes("/deployments/"));
}

/** True when the text contains the missing rule as YAML. */
function isNamed(right: Right, text: string): boolean {
  const [verb = "", resource = ""] = right.split(" ");
  const plural = resource.split(".")[0];
  const rules = text.replaceAll('\\"', '"').matchAll(/resources: \["([^"]+)"\][^}\n]*verbs: \[([^\]]*)\]/g);
  return [...rules].some(([, named, verbs = ""]) => named === plural && verbs.includes(`"${verb}"`));
}

controlPlaneTest(
  "manifests can be applied, twice without a change, and the Pods pass the restricted Pod Security Standard",
  async (controlPlane) => {
    const objects = await manifestsFor(["--include-crds", "--replicas", "2"]);
    const apply = (flags: readonly string[]) =>
      controlPlane.kubectlOutput(["apply", "-f", "-", ...flags], { stdin: listOf(objects) });
    await apply([]);
    const again = (await apply([])).split("\n").filter((line) => line !== "");
    // kubectl reports disruption budgets as configured each time, because it replaces their whole selector.
    const isSame = (line: string) => line.endsWith(" unchanged") || line.startsWith("poddisruptionbudget");
    assertEquals(again.filter((line) => !isSame(line)), []);
    const pods = await until("see the Pods", async () => {
      const text = await controlPlane.kubectlOutput(["get", "pods", "-n", "controller-system", "-o", "json"]);
      const { items } = JSON.parse(text) as { readonly items: readonly Manifest[] };
      return items.length === 2 ? { kind: "found", value: items } : { kind: "pending", state: text };
    });
    assertMatch(pods[0]?.metadata.name ?? "", /^controller-/);
  },
  { own: {}, needs: "kube-controller-manager" },
);

function listOf(items: readonly Manifest[]): string {
  return JSON.stringify({ apiVersion: "v1", kind: "List", items });
}
