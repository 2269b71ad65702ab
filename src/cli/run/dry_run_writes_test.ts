import { assert, assertEquals, assertMatch, test } from "../../../tests/testing.ts";
import { builtin } from "../../api/mod.ts";
import { Client } from "../../client/mod.ts";
import { configureLogging } from "../../observe/mod.ts";
import { failed } from "../testing/fake_server.ts";
import { logDryRunWrites } from "./dry_run_writes.ts";

/** What is logged, and a client whose writes the server answers with `status`. */
function dryRun(status = 200): { readonly client: Client; readonly lines: string[] } & Disposable {
  const lines: string[] = [];
  const logging = configureLogging({ level: "debug", write: (text) => lines.push(text.trimEnd()) });
  const answer = { apiVersion: "v1", kind: "X", metadata: {} };
  const client = new Client(
    logDryRunWrites(() => Promise.resolve(status === 200 ? Response.json(answer) : failed(status, "Invalid", "no"))),
  ).dryRunClient();
  return { client, lines, [Symbol.dispose]: () => logging[Symbol.dispose]() };
}

/** The lines about writes, without time and level. */
function told(lines: readonly string[]): readonly string[] {
  return lines.filter((line) => line.includes(" would write ")).map((line) => line.replace(/.* would write +/, ""));
}

test("logDryRunWrites() says what each kind of write would do, and to what", async () => {
  using run = dryRun();
  const { client, lines } = run;
  const metadata = { namespace: "shop", name: "a" };
  await client.create(builtin.ConfigMap, { metadata });
  await client.create(builtin.Namespace, { metadata: { name: "shop" }, spec: {} });
  await client.apply(builtin.Deployment, { metadata, spec: { replicas: 1 } }, { fieldManager: "x" });
  await client.patch(builtin.Node, "n1", { kind: "merge", value: {} }, { subresource: "status" });
  await client.delete(builtin.Pod, "shop/p");
  assertEquals(told(lines), [
    "action=create resource=configmaps object=shop/a",
    "action=create resource=namespaces object=shop",
    "action=apply resource=deployments.apps object=shop/a",
    "action=patch resource=nodes/status object=n1",
    "action=delete resource=pods object=shop/p",
  ]);
});

test("logDryRunWrites() says that the server would refuse", async () => {
  using run = dryRun(422);
  await run.client.create(builtin.ConfigMap, { metadata: { namespace: "a", name: "b" } }).catch(() => {});
  assertMatch(run.lines.join("\n"), /WARN +dry-run +would write, and be refused +action=create .* status=422/);
});

test("logDryRunWrites() is silent about reads, and keeps secrets to itself", async () => {
  using run = dryRun();
  const { client, lines } = run;
  await client.get(builtin.ConfigMap, "a/b");
  assertEquals(lines.filter((line) => line.includes("dry-run")), []);
  const metadata = { namespace: "a", name: "b" };
  await client.create(builtin.Secret, { metadata, stringData: { password: "s3cret-canary" } });
  await client.create(builtin.ConfigMap, { metadata, data: { seen: "yes" } });
  const text = lines.join("\n");
  assert(!text.includes("s3cret-canary"), text);
  assert(text.includes("seen"));
});
