import { assertEquals, assertMatch, test } from "../../../tests/testing.ts";
import type { Entry } from "../../observe/mod.ts";
import type { ServeHandler } from "../../runtime/mod.ts";
import { recordingEndpoints } from "./mod.ts";

const token = "t0ken-of-the-test";
const object = { resource: "deployments.apps", kind: "Deployment", key: "default/web" };

function state(replicas: number) {
  const conditions = [{
    type: "Available",
    status: replicas > 2 ? "False" : "True",
    reason: "Scaling",
    message: "not yet",
  }];
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: {
      namespace: "default",
      name: "web",
      uid: "u1",
      ownerReferences: [{ apiVersion: "v1", kind: "Foo", name: "f", uid: "u0" }],
    },
    spec: { replicas },
    status: { conditions },
  };
}

const entries: readonly Entry[] = [
  {
    id: 4,
    at: 1_000,
    kind: "change",
    causes: [],
    via: "list",
    change: "added",
    isInitial: true,
    object,
    state: state(2),
  },
  {
    ...{ id: 5, at: 2_000, kind: "change", causes: [], via: "watch", change: "updated", object, state: state(5) },
    fields: [{ path: "spec.replicas", from: 2, to: 5 }],
  },
  { id: 9, at: 3_000, kind: "change", causes: [], via: "watch", change: "deleted", object },
];

const handler = recordingEndpoints({
  entries,
  controllers: [],
  source: { name: "op", version: "1.0.0", file: "incident.jsonl" },
  token,
  isLoopback: true,
});

async function get(path: string, headers: Readonly<Record<string, string>> = {}, served: ServeHandler = handler) {
  const all = { host: "127.0.0.1:8082", authorization: `Bearer ${token}`, ...headers };
  const request = new Request(`http://127.0.0.1:8082${path}`, { headers: all });
  return await served(request, { remoteAddress: "127.0.0.1", isTls: false });
}

test("[138] a recording answers the page as a process does, with the objects at the moment of any entry", async () => {
  const { kind, name, file, hasStates, firstId, lastId, now } = await (await get("/debug/source")).json();
  assertEquals([kind, name, file, hasStates, firstId, lastId, now], [
    "recording",
    "op",
    "incident.jsonl",
    true,
    4,
    9,
    3_000,
  ]);
  const rowsAt = async (query: string) => (await (await get(`/debug/objects${query}`)).json()).objects;
  assertEquals(await rowsAt("?at=3"), []);
  assertEquals((await rowsAt("?at=4"))[0].state, { text: "Available", tone: "good" });
  assertEquals((await rowsAt("?at=8"))[0].state, {
    text: "not Available: Scaling",
    tone: "bad",
    message: "not yet",
  });
  assertEquals([(await rowsAt("?at=8"))[0].owners, (await rowsAt("?at=8"))[0].entry], [["u0"], 5]);
  assertEquals(await rowsAt(""), []);
  assertEquals((await rowsAt("?at=4")).length, 1, "an earlier moment is shown after a later one");
  const query = "resource=deployments.apps&key=default/web";
  const shown = await (await get(`/debug/object?${query}&at=7`)).json();
  assertEquals(shown.entry, 5);
  assertMatch(shown.text, /^spec:\n {2}replicas: 5$/m);
  for (const at of [3, 9]) assertEquals(await (await get(`/debug/object?${query}&at=${at}`)).json(), { text: "" });
  assertEquals((await get("/debug/object?at=9")).status, 400);
  assertEquals((await get("/debug/objects?at=x")).status, 400);
});

test("[138] a recording explains its objects, and leaves whole objects out of the entries of the page", async () => {
  const brief = await (await get("/debug/recording?brief&after=4")).json();
  assertEquals(brief.entries.map(({ id, state }: Entry & { readonly state?: unknown }) => [id, state]), [
    [5, undefined],
    [9, undefined],
  ]);
  assertEquals((await (await get("/debug/recording")).json()).entries[0].state, state(2));
  const { chains } = await (await get("/debug/why?kind=deploy&key=default/web")).json();
  assertMatch(JSON.stringify(chains), /spec\.replicas 2 → 5/);
  assertEquals((await get("/debug/queues")).status, 404);
});

test("[security 33] the page needs no token and its data does; another page and another host get neither", async () => {
  const bare = { authorization: "" };
  for (const path of ["/", "/page.js", "/page.css", "/icon.svg"]) {
    assertEquals((await get(path, bare)).status, 200, path);
  }
  assertEquals((await get("/debug/source", bare)).status, 401);
  assertEquals((await get("/other", bare)).status, 401);
  const own = { "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors", "sec-fetch-dest": "empty" };
  assertEquals((await get("/debug/source", own)).status, 200);
  for (const site of ["cross-site", "same-site"]) {
    assertEquals((await get("/debug/source", { ...own, "sec-fetch-site": site })).status, 403, site);
    const script = { "sec-fetch-site": site, "sec-fetch-mode": "no-cors", "sec-fetch-dest": "script" };
    assertEquals((await get("/page.js", script)).status, 403, site);
    const link = { "sec-fetch-site": site, "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
    assertEquals((await get("/", link)).status, 200, site);
    assertEquals((await get("/", { ...link, "sec-fetch-dest": "iframe" })).status, 403, site);
  }
  for (const path of ["/", "/debug/source"]) {
    assertEquals((await get(path, { host: "evil.example" })).status, 403, path);
    assertEquals((await get(path, { origin: "http://127.0.0.1:8082" })).status, 403, path);
  }
});
