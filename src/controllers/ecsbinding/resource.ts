/**
 * EcsBinding: says which machine of a cloud a Node is. Kind, names, columns and fields are the original's.
 *
 * Caveats: the fields are those of the original's CRD. Its Go type calls two of them node_name and inner_ip, which that
 * CRD prunes, so that what its own client writes is lost.
 */
import { defineResource, type Infer, z } from "../../mod.ts";

export const EcsBinding = defineResource({
  group: "hopegi.com",
  version: "v1",
  kind: "EcsBinding",
  plural: "ecsbinding",
  singular: "ecsbinding",
  shortNames: ["ecsb"],
  scope: "Cluster",
  description: "An EcsBinding says which machine of a cloud a Node is.",
  spec: z.object({
    id: z.string().optional().describe("What the cloud calls the machine."),
    name: z.string().optional().describe("What people call the machine."),
    nodename: z.string().optional().describe("Name of the Node that the machine is."),
    innerip: z.string().optional().describe("Address of the machine inside the cloud."),
  }),
  status: z.object({
    state: z.string().optional().describe("What the cloud says about the machine. Not written by the controller."),
  }),
  printerColumns: [
    { name: "Age", jsonPath: ".metadata.creationTimestamp" },
    { name: "NodeName", jsonPath: ".spec.nodename" },
    { name: "InnerIp", jsonPath: ".spec.innerip" },
  ],
  selectableFields: [".spec.nodename"],
});
export type EcsBinding = Infer<typeof EcsBinding>;
