/**
 * EcsBinding: names the Node that runs on a machine of a cloud. Kind, names, columns and fields are those of the original.
 *
 * Caveats: the fields are those of the original CRD. The original Go type calls two of them node_name and inner_ip; the CRD
 * prunes these, so that the values its client writes are lost. As in the original CRD, an object may have no spec.
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
  description: "An EcsBinding names the Node that runs on a machine of a cloud.",
  spec: z.object({
    id: z.string().optional().describe("ID of the machine in the cloud."),
    name: z.string().optional().describe("Name of the machine."),
    nodename: z.string().optional().describe("Name of the Node that runs on the machine."),
    innerip: z.string().optional().describe("Address of the machine inside the cloud."),
  }).optional(),
  status: z.object({
    state: z.string().optional().describe("State of the machine in the cloud. The controller does not write it."),
  }),
  printerColumns: [
    { name: "Age", jsonPath: ".metadata.creationTimestamp" },
    { name: "NodeName", jsonPath: ".spec.nodename" },
    { name: "InnerIp", jsonPath: ".spec.innerip" },
  ],
  selectableFields: [".spec.nodename"],
});
export type EcsBinding = Infer<typeof EcsBinding>;
