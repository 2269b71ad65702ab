/** The flags that name the Lease of an operator, for those who lead by it and for those who look for the leader. */
import { z } from "zod";
import { flag, namespaceName, objectName } from "../flags/mod.ts";

/** The group of the flags about leader election. */
export const electionGroup = "Leader election:";

/** Which Lease. */
export const leaseFlags = z.object({
  leaderElectionId: flag(objectName().optional(), {
    flags: "--leader-election-id <name>",
    about: "name of the lease, the same for all replicas (default: the operator's name)",
    example: "--leader-election-id 97acaccf.lailin.xyz",
    group: electionGroup,
  }),
  leaderElectionNamespace: flag(namespaceName().optional(), {
    flags: "--leader-election-namespace <name>",
    about: "namespace of the lease (default: the context's or, in a cluster, the Pod's)",
    completes: "namespace",
    group: electionGroup,
  }),
});
