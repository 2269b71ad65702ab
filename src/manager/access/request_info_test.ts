import { assertEquals, test } from "../../../tests/testing.ts";
import { type RequestInfo, requestInfo } from "./request_info.ts";

const origin = "https://10.0.0.1:6443";

type Case = readonly [line: string, expected: RequestInfo | undefined];

const core = { group: "", namespace: undefined, name: undefined };
const inShop = { ...core, namespace: "shop" };

const cases: readonly Case[] = [
  ["GET /api/v1/pods", { ...core, verb: "list", resource: "pods" }],
  ["GET /api/v1/pods?watch=true&resourceVersion=5", { ...core, verb: "watch", resource: "pods" }],
  ["GET /api/v1/pods?watch=1", { ...core, verb: "watch", resource: "pods" }],
  ["GET /api/v1/pods?watch=false", { ...core, verb: "list", resource: "pods" }],
  ["GET /api/v1/namespaces/shop/pods/a", { ...inShop, verb: "get", resource: "pods", name: "a" }],
  ["GET /api/v1/namespaces/shop/pods/a/log", { ...inShop, verb: "get", resource: "pods/log", name: "a" }],
  ["POST /api/v1/namespaces/shop/pods", { ...inShop, verb: "create", resource: "pods" }],
  ["POST /api/v1/namespaces/shop/pods/a/eviction", { ...inShop, verb: "create", resource: "pods/eviction", name: "a" }],
  ["PUT /apis/a.dev/v1/foos/x", { ...core, group: "a.dev", verb: "update", resource: "foos", name: "x" }],
  ["PATCH /apis/a.dev/v1/namespaces/shop/foos/x/status?force=true", {
    group: "a.dev",
    namespace: "shop",
    verb: "patch",
    resource: "foos/status",
    name: "x",
  }],
  ["DELETE /apis/a.dev/v1/foos/x", { ...core, group: "a.dev", verb: "delete", resource: "foos", name: "x" }],
  ["DELETE /apis/a.dev/v1/namespaces/shop/foos", {
    ...inShop,
    group: "a.dev",
    verb: "deletecollection",
    resource: "foos",
  }],
  ["GET /api/v1/namespaces", { ...core, verb: "list", resource: "namespaces" }],
  ["GET /api/v1/namespaces/shop", { ...core, verb: "get", resource: "namespaces", name: "shop" }],
  ["PATCH /api/v1/namespaces/shop/status", { ...core, verb: "patch", resource: "namespaces/status", name: "shop" }],
  ["GET /api/v1/namespaces/shop/pods/a%2Fb", { ...inShop, verb: "get", resource: "pods", name: "a/b" }],
  ["GET /version", undefined],
  ["GET /apis", undefined],
  ["GET /apis/a.dev/v1", undefined],
  ["GET /api", undefined],
  ["OPTIONS /api/v1/pods", undefined],
];

for (const [line, expected] of cases) {
  test(`requestInfo() of ${line} is ${expected === undefined ? "undefined" : `${expected.verb} on ${expected.resource}`}`, () => {
    const [method = "", path = ""] = line.split(" ");
    assertEquals(requestInfo({ method, url: origin + path }), expected);
  });
}
