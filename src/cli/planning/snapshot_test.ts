import { assertEquals, assertRejects, test } from "../../../tests/testing.ts";
import { builtin } from "../../api/mod.ts";
import { Client } from "../../client/mod.ts";
import { statusResponse } from "../testing/fake_server.ts";
import { type SnapshotOptions, takeSnapshot } from "./snapshot.ts";

const options: SnapshotOptions = {
  kinds: [{ resource: builtin.ConfigMap, metadataOnly: false, controller: "a", namespaces: [] }],
  single: [],
  installsDefinitions: false,
  operatorName: "op",
  now: 0,
  onProgress: () => {},
  signal: new AbortController().signal,
};

function item(name: string, data = "x") {
  return { metadata: { namespace: "default", name, uid: name, resourceVersion: "7" }, data: { data } };
}

function page(items: readonly object[], next?: string): Response {
  const metadata = { resourceVersion: "9", continue: next };
  const headers = { date: "Tue, 06 Jan 2026 10:00:00 GMT" };
  return Response.json({ apiVersion: "v1", kind: "ConfigMapList", metadata, items }, { headers });
}

test("takeSnapshot() reads page by page, begins again when a page has expired, and takes the time of the server", async () => {
  const seen: string[] = [];
  const client = new Client((request) => {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/api/v1/namespaces") return Promise.resolve(statusResponse(403, "Forbidden", "no"));
    const token = searchParams.get("continue") ?? "";
    seen.push(token);
    const isExpired = token === "two" && seen.length === 2;
    if (isExpired) return Promise.resolve(statusResponse(410, "Expired", "the token is too old"));
    return Promise.resolve(token === "" ? page([item("a")], "two") : page([item("b")]));
  });
  const { objects, takenAt, hasNamespaces } = await takeSnapshot(client, options);
  assertEquals(seen, ["", "two", "", "two"]);
  assertEquals(objects.map(({ object }) => [object.kind, object.metadata.name]), [["ConfigMap", "a"], [
    "ConfigMap",
    "b",
  ]]);
  assertEquals([takenAt, hasNamespaces], [Date.UTC(2026, 0, 6, 10), false]);
});

test("takeSnapshot() refuses more objects than fit into memory, and says what to do", async () => {
  const client = new Client(() => Promise.resolve(page([item("a", "x".repeat(2_000_000))])));
  const error = await assertRejects(() => takeSnapshot(client, { ...options, maxCharacters: 1024 * 1024 }));
  assertEquals(error.message, "Cannot plan: the objects have more than 1 MiB, after 1 object up to configmaps");
});
