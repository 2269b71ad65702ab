/**
 * The plan of a running process, from its debug endpoint, with the compiled binary on `controller dev`: what a dry run would
 * write, a key that cannot be planned, and that a plan changes nothing. kubectl is part of the real control plane, which is
 * not used otherwise.
 */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { until } from "../controlplane/mod.ts";
import { controlPlaneTest } from "../controlplane/test.ts";
import { assert, assertEquals, assertMatch } from "../testing.ts";
import { Binary, runBinary } from "./_binary.ts";
import { DebugEndpoint } from "./_debug_endpoint.ts";

interface PlanOfProcess {
  readonly changes: readonly { action: string; kind: string; name: string; diff?: readonly string[] }[];
  readonly failing: readonly { controller: string; key: string; problem: string }[];
  readonly keys: number;
}

/** A folder for the kubeconfig, and a debug endpoint. */
async function newSite() {
  const path = await mkdtemp("/tmp/pintle-debug-plan-");
  const kubeconfig = join(path, "kubeconfig.yaml");
  const endpoint = await DebugEndpoint.create();
  const env = { PATH: process.env["PATH"] ?? "", HOME: path, KUBECONFIG: kubeconfig };
  return {
    path,
    kubeconfig,
    flags: endpoint.flags,
    kubectl: async (...args: readonly string[]) => (await promisify(execFile)("kubectl", args, { env })).stdout.trim(),
    /** Asks a process for its plan. */
    plan: (binary: Binary) => endpoint.ask<PlanOfProcess>(binary, "/debug/plan"),
    [Symbol.asyncDispose]: async () => {
      await endpoint[Symbol.asyncDispose]();
      await rm(path, { recursive: true });
    },
  };
}

controlPlaneTest("[138] the plan of a dry run shows what it would write, and writes nothing", async () => {
  await using site = await newSite();
  await using dev = new Binary(["dev", "--write-kubeconfig", site.kubeconfig]);
  await dev.logged(/KUBECONFIG=\S+\n/);
  const { kubeconfig } = site;
  assertEquals((await runBinary(["install-crds", "foo"], { kubeconfig })).code, 0);
  await site.kubectl("apply", "-f", "examples/foo.yaml");
  const before = await site.kubectl("get", "foos,deployments,events", "-o", "name");
  await using binary = new Binary(["run", "foo", "--dry-run", ...site.flags], { kubeconfig });
  const { status, value } = await site.plan(binary);
  assertEquals(status, 200);
  assertEquals(value.changes.map(({ action, kind, name }) => `${action} ${kind} ${name}`), [
    "update Foo example-foo",
    "create Deployment example-foo",
  ]);
  assert(value.changes[1]?.diff?.includes("+  replicas: 1"));
  assertEquals([value.keys, value.failing], [1, []]);
  assertEquals(await site.kubectl("get", "foos,deployments,events", "-o", "name"), before);
});

controlPlaneTest("[138] dev names a key that it cannot plan, plans one at a time, and goes on", async () => {
  await using site = await newSite();
  await using dev = new Binary(["dev", "foo", "--samples", "--write-kubeconfig", site.kubeconfig, ...site.flags]);
  await dev.logged(/KUBECONFIG=\S+\n/);
  await site.kubectl("create", "deployment", "taken", "--image=nginx");
  const foo = {
    apiVersion: "samplecontroller.k8s.io/v1alpha1",
    kind: "Foo",
    metadata: { name: "claims" },
    spec: { deploymentName: "taken", replicas: 1 },
  };
  const file = join(site.path, "foo.json");
  await writeFile(file, JSON.stringify(foo));
  await site.kubectl("apply", "-f", file);
  await site.kubectl("wait", "deployment/example-foo", "--for=create", "--timeout=300s");
  // On a busy machine, the second request can come when the first plan has ended.
  const { failing } = await until("see a second plan refused", async () => {
    const answers = await Promise.all([site.plan(dev), site.plan(dev)]);
    const planned = answers.find(({ status }) => status === 200)?.value;
    const state = answers.map(({ status }) => status).toSorted().join();
    return state === "200,409" && planned ? { kind: "found", value: planned } : { kind: "pending", state };
  });
  assertMatch(failing.map(({ key, problem }) => `${key}: ${problem}`).join(), /^default\/claims: .*taken/);
  await site.kubectl("scale", "deployment/example-foo", "--replicas=3");
  const replicas = ["get", "deployment", "example-foo", "-o", "jsonpath={.spec.replicas}"];
  await until("see the Deployment repaired", async () => {
    const state = await site.kubectl(...replicas);
    return state === "1" ? { kind: "found", value: state } : { kind: "pending", state };
  });
});
