/** Website: a page that somebody wants to be served. The schema is the type, the CRD and the validation. */
import { defineResource, type Infer, z } from "../../src/mod.ts";

export const Website = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Website",
  scope: "Namespaced",
  shortNames: ["site"],
  description: "A Website is one page of HTML and as many servers as it needs.",
  spec: z.object({
    html: z.string().min(1).max(100_000).describe("The page."),
    replicas: z.int32().min(0).max(20).default(1).describe("How many servers show it."),
  }),
  status: z.object({
    readyReplicas: z.int32().min(0).default(0).describe("How many servers are ready."),
  }),
  printerColumns: [
    { name: "Replicas", jsonPath: ".spec.replicas" },
    { name: "Ready", jsonPath: ".status.readyReplicas" },
    { name: "Age", jsonPath: ".metadata.creationTimestamp" },
  ],
});
export type Website = Infer<typeof Website>;
