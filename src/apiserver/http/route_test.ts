import { assert, assertEquals, test } from "../../../tests/testing.ts";
import { builtinFamilies } from "../kinds/mod.ts";
import { type Kind, StatusError } from "../model/mod.ts";
import { requestInfo } from "./request_info.ts";
import { checkRoute, hasWrongScope } from "./route.ts";

const kinds = builtinFamilies().flatMap(({ served }) => served);

/** The status code of a rejected request; 200 when it has a route. */
function codeOf(method: string, path: string, accept?: string, isCustom = false): number {
  const url = new URL(`http://x${path}`);
  const info = requestInfo(method, url.pathname, url.searchParams);
  const found = kinds.find(({ group, plural }) => group === info.group && plural === info.resource);
  if (found === undefined) throw new Error(`Cannot test ${path}: no such kind`);
  const kind: Kind = isCustom ? Object.create(found, { hasStrategicMerge: { value: false } }) : found;
  try {
    checkRoute(kind, info, new Request(url, { method, headers: accept === undefined ? {} : { accept } }));
    return 200;
  } catch (error) {
    if (error instanceof StatusError) return error.status.code;
    throw error;
  }
}

const pods = "/api/v1/namespaces/x/pods";

const routes: readonly (readonly [string, string, number])[] = [
  ["GET", "/api/v1/pods", 200],
  ["GET", pods, 200],
  ["GET", `${pods}/a`, 200],
  ["GET", "/api/v1/namespaces//pods", 200],
  ["GET", "/api/v1/pods/a", 404],
  ["POST", "/api/v1/pods", 405],
  ["DELETE", "/api/v1/pods", 405],
  ["POST", `${pods}/a`, 405],
  ["PUT", pods, 405],
  ["PATCH", pods, 405],
  ["DELETE", pods, 200],
  ["HEAD", pods, 405],
  ["GET", `${pods}/a/log`, 200],
  ["PUT", `${pods}/a/log`, 405],
  ["GET", `${pods}/a/none`, 404],
  ["GET", `${pods}/a/status/more`, 404],
  ["GET", `${pods}/a/proxy/more/and/more`, 200],
  ["GET", `${pods}/a%`, 400],
  ["GET", "/api/v1/namespaces/x", 200],
  ["GET", "/api/v1/namespaces/x/namespaces", 404],
  ["GET", "/api/v1/namespaces/x/namespaces/y", 404],
  ["GET", "/api/v1/namespaces/x/nodes", 404],
  ["DELETE", "/api/v1/namespaces", 405],
  ["GET", "/api/v1/nodes/a", 200],
];

for (const [method, path, code] of routes) {
  test(`${method} ${path} ${code === 200 ? "has a route" : `is rejected with ${code}`}`, () => {
    assertEquals(codeOf(method, path), code);
  });
}

test("routes of built-in kinds accept types but no patterns, those of custom resources accept both", () => {
  const accepts = ["*/*", "application/json;as=Table", "text/html, application/yaml", "application/*", "text/html", ""];
  assertEquals(accepts.map((accept) => codeOf("GET", pods, accept)), [200, 200, 200, 406, 406, 200]);
  assertEquals(accepts.map((accept) => codeOf("GET", pods, accept, true)), [200, 200, 200, 200, 200, 200]);
});

test("a namespaced custom resource has no route without namespace, except for list and watch", () => {
  const url = (method: string, path: string) => requestInfo(method, path, new URLSearchParams());
  const found = kinds.find(({ plural }) => plural === "pods");
  assert(found !== undefined);
  const custom: Kind = Object.create(found, { hasStrategicMerge: { value: false } });
  const everywhere = ["GET", "POST", "DELETE"].map((method) => hasWrongScope(custom, url(method, "/api/v1/pods")));
  assertEquals(everywhere, [false, true, true]);
  assertEquals([hasWrongScope(custom, url("GET", pods)), hasWrongScope(found, url("POST", "/api/v1/pods"))], [
    false,
    false,
  ]);
});

test("an update of a custom resource without a name is rejected with 400", () => {
  assertEquals(["PUT", "PATCH", "DELETE"].map((method) => codeOf(method, pods, undefined, true)), [400, 400, 200]);
});

test("custom resources accept a create with a name, and HEAD", () => {
  assertEquals(codeOf("POST", `${pods}/a`, undefined, true), 200);
  assertEquals(codeOf("HEAD", `${pods}/a`, undefined, true), 200);
});

test("a connection to a Pod accepts any media type", () => {
  assertEquals(codeOf("GET", `${pods}/a/log`, "text/html"), 200);
});
