/** AdmissionReviews as the API server sends them, for the tests of this folder. */
import { defineResource, z } from "../../schema/mod.ts";

/** A kind with a schema. */
export const Pool = defineResource({
  group: "nodes.example.dev",
  version: "v1",
  kind: "Pool",
  scope: "Cluster",
  spec: z.object({ handler: z.string().optional(), labels: z.record(z.string(), z.string()).optional() }),
});

/** An object of that kind. */
export function pool(spec: object = {}, metadata: object = {}) {
  return { apiVersion: "nodes.example.dev/v1", kind: "Pool", metadata: { name: "a", ...metadata }, spec };
}

/** A complete AdmissionReview about a Pool. */
export function review(request: object = {}, version = "v1") {
  return {
    apiVersion: `admission.k8s.io/${version}`,
    kind: "AdmissionReview",
    request: {
      uid: "7f0a",
      kind: { group: "nodes.example.dev", version: "v1", kind: "Pool" },
      resource: { group: "nodes.example.dev", version: "v1", resource: "pools" },
      operation: "CREATE",
      name: "a",
      userInfo: { username: "alice", groups: ["devs"] },
      object: pool(),
      oldObject: null,
      dryRun: false,
      options: null,
      ...request,
    },
  };
}

/** An HTTP request with `body`. */
export function webhookRequest(path: string, body: unknown, init: RequestInit = {}): Request {
  return new Request(`https://webhook.test${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
    ...init,
  });
}
