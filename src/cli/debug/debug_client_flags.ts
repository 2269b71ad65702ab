/** The flags of commands that ask a running process: which one, and its token. */
import { z } from "zod";
import { connectionFlags, electionGroup, leaseFlags } from "../connection/mod.ts";
import { flag, namespaceName, text } from "../flags/mod.ts";

const group = "Running process:";

/** Which process is asked. */
export const debugClientFlags = z.object({
  address: flag(text().optional(), {
    flags: "--address <address>",
    about: "debug endpoint of the process: HOST:PORT, or a URL (default: the leader's; without one 127.0.0.1:8082)",
    example: "--address 127.0.0.1:8082",
    group,
  }),
  debugToken: flag(text().optional(), {
    flags: "--debug-token <token>",
    about: "token of the debug endpoint; as an environment variable it does not show in the process list",
    isSecret: true,
    group,
  }),
  debugTokenFile: flag(text().optional(), {
    flags: "--debug-token-file <path>",
    about: "file with the token, the same as for run",
    completes: "file",
    group,
  }),
  debugCertificateAuthority: flag(text().optional(), {
    flags: "--debug-certificate-authority <path>",
    about: "file with the certificate authorities that may sign the certificate of an https address",
    completes: "file",
    group,
  }),
  member: flag(text().optional(), {
    flags: "--member <name>",
    about: "the member of a fleet to ask about, as --clusters of run names it (default: the hub)",
    example: "--member east",
    group,
  }),
  leaderElectionId: leaseFlags.shape.leaderElectionId,
  leaderElectionNamespace: flag(namespaceName().optional(), {
    flags: "--leader-election-namespace <name>",
    about: "namespace of the lease (default: the context's, else that of manifests, NAME-system)",
    completes: "namespace",
    group: electionGroup,
  }),
  ...connectionFlags.omit({ namespace: true, connectTimeout: true }).shape,
});

/** The values of the flags. */
export type DebugClientFlags = z.output<typeof debugClientFlags>;
