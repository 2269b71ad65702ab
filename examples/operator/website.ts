/** Website: the kind. The schema is the TypeScript type, the CRD and the validation at the same time. */
import { defineResource, type Infer, z } from "../../src/mod.ts";

export const Website = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Website",
  scope: "Namespaced",
  shortNames: ["site"],
  description: "A Website serves one page of HTML.",
  spec: z.object({
    html: z.string().min(1).max(100_000).describe("The page in HTML."),
    replicas: z.int32().min(0).max(20).default(1).describe("Number of servers."),
  }),
  status: z.object({
    readyReplicas: z.int32().min(0).default(0).describe("Number of ready servers."),
  }),
  printerColumns: [
    { name: "Replicas", jsonPath: ".spec.replicas" },
    { name: "Ready", jsonPath: ".status.readyReplicas" },
    { name: "Age", jsonPath: ".metadata.creationTimestamp" },
  ],
});
export type Website = Infer<typeof Website>;
