import { assert, assertEquals, assertMatch, test } from "../../../tests/testing.ts";
import { builtin } from "../../api/mod.ts";
import { Client } from "../../client/mod.ts";
import { configureLogging } from "../../observe/mod.ts";
import { statusResponse } from "../testing/fake_server.ts";
import { logDryRunWrites } from "./dry_run_writes.ts";

/** A client whose requests get a response with `status`, and the logged lines. */
function dryRun(status = 200): { readonly client: Client; readonly lines: string[] } & Disposable {
  const lines: string[] = [];
  const logging = configureLogging({ level: "debug", write: (text) => lines.push(text.trimEnd()) });
  // The server stores what it gets.
  const store = (body: object) => Response.json({ apiVersion: "v1", kind: "Node", metadata: { name: "n1" }, ...body });
  const client = new Client(
    logDryRunWrites(async (request) =>
      status === 200
        ? store(request.method === "GET" ? found : request.method === "DELETE" ? gone : await request.json())
        : statusResponse(status, "Invalid", "no")
    ),
  ).dryRunClient();
  return { client, lines, [Symbol.dispose]: () => logging[Symbol.dispose]() };
}

const found = { kind: "ConfigMap", metadata: { namespace: "a", name: "b" } };
const gone = { kind: "Status", status: "Success" };

/** The lines about writes, without time and level. */
function loggedWrites(lines: readonly string[]): readonly string[] {
  return lines.filter((line) => line.includes(" would write ")).map((line) => line.replace(/.* would write +/, ""));
}

test("logDryRunWrites() logs the action and the object of each kind of write", async () => {
  using run = dryRun();
  const { client, lines } = run;
  const metadata = { namespace: "shop", name: "a" };
  await client.create(builtin.ConfigMap, { metadata });
  await client.create(builtin.Namespace, { metadata: { name: "shop" }, spec: {} });
  await client.apply(builtin.Deployment, { metadata, spec: { replicas: 1 } }, { fieldManager: "x" });
  await client.patch(builtin.Node, "n1", { kind: "merge", value: {} }, { subresource: "status" });
  await client.delete(builtin.Pod, "shop/p");
  assertEquals(loggedWrites(lines), [
    "action=create resource=configmaps object=shop/a",
    "action=create resource=namespaces object=shop",
    "action=apply resource=deployments.apps object=shop/a",
    "action=patch resource=nodes/status object=n1",
    "action=delete resource=pods object=shop/p",
  ]);
});

test("logDryRunWrites() warns when the server rejects a write", async () => {
  using run = dryRun(422);
  await run.client.create(builtin.ConfigMap, { metadata: { namespace: "a", name: "b" } }).catch(() => {});
  assertMatch(
    run.lines.join("\n"),
    /WARN +dry-run +would write, but the server rejects it +action=create .* status=422/,
  );
});

test("logDryRunWrites() logs no reads and no data of Secrets", async () => {
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
