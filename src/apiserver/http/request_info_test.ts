import { assertEquals, test } from "../../../tests/testing.ts";
import { requestInfo } from "./request_info.ts";

/** Method, path with query, and what it is: `verb group/version namespace resource/name/subresource`. */
const requests: readonly (readonly [string, string, string])[] = [
  ["GET", "/api/v1/pods", "list /v1 - pods//"],
  ["GET", "/api/v1/pods?watch=true", "watch /v1 - pods//"],
  ["GET", "/api/v1/pods?watch=", "watch /v1 - pods//"],
  ["GET", "/api/v1/pods?watch=false", "list /v1 - pods//"],
  ["GET", "/api/v1/pods?watch=0", "list /v1 - pods//"],
  ["GET", "/api/v1/pods?fieldSelector=metadata.name%3Da", "list /v1 - pods/a/"],
  ["GET", "/api/v1/namespaces/x/pods/a", "get /v1 x pods/a/"],
  ["HEAD", "/api/v1/namespaces/x/pods/a", "get /v1 x pods/a/"],
  ["GET", "/api/v1/namespaces/x/pods/a/log", "get /v1 x pods/a/log"],
  ["GET", "/api/v1/namespaces/x/pods/a/proxy/b/c", "get /v1 x pods/a/proxy"],
  ["POST", "/api/v1/namespaces/x/pods", "create /v1 x pods//"],
  ["PUT", "/api/v1/namespaces/x/pods/a/status", "update /v1 x pods/a/status"],
  ["PATCH", "/apis/apps/v1/namespaces/x/deployments/a", "patch apps/v1 x deployments/a/"],
  ["DELETE", "/apis/apps/v1/namespaces/x/deployments/a", "delete apps/v1 x deployments/a/"],
  ["DELETE", "/apis/apps/v1/namespaces/x/deployments", "deletecollection apps/v1 x deployments//"],
  ["GET", "/api/v1/namespaces", "list /v1 - namespaces//"],
  ["GET", "/api/v1/namespaces/x", "get /v1 x namespaces/x/"],
  ["PUT", "/api/v1/namespaces/x/finalize", "update /v1 x namespaces/x/finalize"],
  ["PUT", "/api/v1/namespaces/x/status", "update /v1 x namespaces/x/status"],
  ["GET", "/api/v1/watch/pods", "watch /v1 - pods//"],
  ["GET", "/api/v1/watch/namespaces/x/pods/a", "watch /v1 x pods/a/"],
  ["GET", "/api/v1/namespaces//pods/", "list /v1 - pods//"],
  ["BREW", "/api/v1/pods", " /v1 - pods//"],
];

for (const [method, url, expected] of requests) {
  test(`${method} ${url} means "${expected}"`, () => {
    const { pathname, searchParams } = new URL(`http://x${url}`);
    const info = requestInfo(method, pathname, searchParams);
    const { verb, group, version, namespace, resource, name, subresource } = info;
    const place = namespace === "" ? "-" : namespace;
    assertEquals(`${verb} ${group}/${version} ${place} ${resource}/${name}/${subresource}`, expected);
    assertEquals(info.isResourceRequest, true);
  });
}

for (
  const path of ["/", "/api", "/api/v1", "/apis/apps", "/apis/apps/v1", "/healthz", "/openapi/v3/apis/apps/v1", ""]
) {
  test(`"${path}" is not about an object`, () => {
    const info = requestInfo("GET", path, new URLSearchParams());
    assertEquals([info.isResourceRequest, info.verb, info.path], [false, "get", path]);
  });
}
