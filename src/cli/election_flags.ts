/** The flags of `run` about leader election. Names and defaults as Kubernetes' own components have them. */
import { z } from "zod";
import { flagSyntax } from "./flag.ts";
import { durationMs, oneOf, text } from "./flag_values.ts";

const group = "Leader election:";

/** Which replica works. */
export const electionFlags = z.object({
  leaderElect: z.boolean().default(false).register(flagSyntax, {
    flags: "--leader-elect",
    about: "work only while this replica holds the lease; the others stand by with warm caches",
    group,
    fromEnvironment: true,
  }),
  leaderElectionId: text().optional().register(flagSyntax, {
    flags: "--leader-election-id <name>",
    about: "name of the lease, the same for all replicas, instead of the operator's name",
    example: "--leader-election-id 97acaccf.lailin.xyz",
    group,
    fromEnvironment: true,
  }),
  leaderElectionNamespace: text().optional().register(flagSyntax, {
    flags: "--leader-election-namespace <name>",
    about: "namespace of the lease, instead of the context's or, in a cluster, the pod's",
    completes: "namespace",
    group,
    fromEnvironment: true,
  }),
  leaderElectionLeaseDuration: durationMs().prefault("15s").register(flagSyntax, {
    flags: "--leader-election-lease-duration <duration>",
    about: "time without a renewal after which another replica takes over",
    group,
    fromEnvironment: true,
  }),
  leaderElectionRenewDeadline: durationMs().prefault("10s").register(flagSyntax, {
    flags: "--leader-election-renew-deadline <duration>",
    about: "time without a renewal after which this replica stops working",
    group,
    fromEnvironment: true,
  }),
  leaderElectionRetryPeriod: durationMs().prefault("2s").register(flagSyntax, {
    flags: "--leader-election-retry-period <duration>",
    about: "time between two attempts to take or renew the lease",
    group,
    fromEnvironment: true,
  }),
  leaderElectionWhenLost: oneOf(["exit", "standby"]).prefault("exit").register(flagSyntax, {
    flags: "--leader-election-when-lost <action>",
    about: "exit with code 7 when the lease is lost, or stand by again",
    group,
    fromEnvironment: true,
  }),
});

/** What the flags say. */
export type ElectionFlags = z.output<typeof electionFlags>;
