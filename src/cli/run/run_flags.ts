/** The flags of `run` about what it serves: probes, metrics, webhooks. Nothing is served unless asked for. */
/* MERGED election_flags.ts  The flags of `run` about leader election. Names and defaults as Kubernetes' own components have them. */
/* MERGED run_flags.ts  The flags of `run`. */
import { z } from "zod";
import { durationMs, durationMsOrForever, flagSyntax, oneOf, text, wholeNumber } from "../flags/mod.ts";
import { connectionFlags } from "../connection/mod.ts";

/** An address to listen on; undefined for none. */
export interface BindAddress {
  readonly hostname: string;
  readonly port: number;
}

const servingGroup = "Serving:";

/** `:8080` is all interfaces, `127.0.0.1:8080` one, `0` none: as controller-runtime has it. */
function bindAddress(): z.ZodType<BindAddress | undefined, string> {
  return z.string().transform((value, context) => {
    if (value === "0") return undefined;
    const [, hostname = "", digits = ""] = /^(.*):(\d{1,5})$/.exec(value) ?? [];
    const port = Number(digits);
    if (digits !== "" && port <= 65_535) return { hostname: hostname.replace(/^\[|\]$/g, "") || "0.0.0.0", port };
    context.addIssue({ code: "custom", message: "it is neither host:port nor 0" });
    return z.NEVER;
  });
}

/** What is served where. */
const servingFlags = z.object({
  healthProbeBindAddress: bindAddress().prefault("0").register(flagSyntax, {
    flags: "--health-probe-bind-address <address>",
    about: "serve /healthz, /livez and /readyz here; 0 is nowhere",
    example: "--health-probe-bind-address :8081",
    group: servingGroup,
    fromEnvironment: true,
  }),
  metricsBindAddress: bindAddress().prefault("0").register(flagSyntax, {
    flags: "--metrics-bind-address <address>",
    about: "serve /metrics here; beyond this machine it takes --cert-dir, and who asks is reviewed; 0 is nowhere",
    example: "--metrics-bind-address 127.0.0.1:8080",
    group: servingGroup,
    fromEnvironment: true,
  }),
  webhookPort: wholeNumber(0, 65_535).prefault("9443").register(flagSyntax, {
    flags: "--webhook-port <port>",
    about: "port of the webhooks, where they are served: in a cluster, with --cert-dir, or with --webhook-host",
    group: servingGroup,
    fromEnvironment: true,
  }),
  webhookHost: text().optional().register(flagSyntax, {
    flags: "--webhook-host <host>",
    about: "serve webhooks from this machine: the cluster is pointed at this name until the end, then back",
    example: "--webhook-host host.docker.internal",
    group: servingGroup,
    fromEnvironment: true,
  }),
  certDir: text().optional().register(flagSyntax, {
    flags: "--cert-dir <path>",
    about: "folder with tls.crt and tls.key for webhooks and metrics, instead of certificates made here",
    completes: "directory",
    group: servingGroup,
    fromEnvironment: true,
  }),
});

/** What the flags say. */
export type ServingFlags = z.output<typeof servingFlags>;

const electionGroup = "Leader election:";

/** Which replica works. */
export const electionFlags = z.object({
  leaderElect: z.boolean().default(false).register(flagSyntax, {
    flags: "--leader-elect",
    about: "work only while this replica holds the lease; the others stand by with warm caches",
    group: electionGroup,
    fromEnvironment: true,
  }),
  leaderElectionId: text().optional().register(flagSyntax, {
    flags: "--leader-election-id <name>",
    about: "name of the lease, the same for all replicas, instead of the operator's name",
    example: "--leader-election-id 97acaccf.lailin.xyz",
    group: electionGroup,
    fromEnvironment: true,
  }),
  leaderElectionNamespace: text().optional().register(flagSyntax, {
    flags: "--leader-election-namespace <name>",
    about: "namespace of the lease, instead of the context's or, in a cluster, the pod's",
    completes: "namespace",
    group: electionGroup,
    fromEnvironment: true,
  }),
  leaderElectionLeaseDuration: durationMs().prefault("15s").register(flagSyntax, {
    flags: "--leader-election-lease-duration <duration>",
    about: "time without a renewal after which another replica takes over",
    group: electionGroup,
    fromEnvironment: true,
  }),
  leaderElectionRenewDeadline: durationMs().prefault("10s").register(flagSyntax, {
    flags: "--leader-election-renew-deadline <duration>",
    about: "time without a renewal after which this replica stops working",
    group: electionGroup,
    fromEnvironment: true,
  }),
  leaderElectionRetryPeriod: durationMs().prefault("2s").register(flagSyntax, {
    flags: "--leader-election-retry-period <duration>",
    about: "time between two attempts to take or renew the lease",
    group: electionGroup,
    fromEnvironment: true,
  }),
  leaderElectionWhenLost: oneOf(["exit", "standby"]).prefault("exit").register(flagSyntax, {
    flags: "--leader-election-when-lost <action>",
    about: "exit with code 7 when the lease is lost, or stand by again",
    group: electionGroup,
    fromEnvironment: true,
  }),
});

/** How controllers are run, and which. */
export const runFlags = z.object({
  all: z.boolean().default(false).register(flagSyntax, {
    flags: "--all",
    about: "run all controllers, instead of naming them",
    fromEnvironment: true,
  }),
  workers: wholeNumber(1, 1_000).optional().register(flagSyntax, {
    flags: "--workers <count>",
    about: "objects that each controller reconciles at the same time, instead of its own number",
    example: "--workers 4",
    fromEnvironment: true,
  }),
  resync: durationMs().optional().register(flagSyntax, {
    flags: "--resync <duration>",
    about: "how often every object counts as changed, instead of the controller's own period; 0 is never",
    example: "--resync 10m",
    fromEnvironment: true,
  }),
  gracefulShutdownTimeout: durationMsOrForever().prefault("30s").register(flagSyntax, {
    flags: "--graceful-shutdown-timeout <duration>",
    about: "how long running reconciles may take to finish after a signal; 0 does not wait, forever has no limit",
    example: "--graceful-shutdown-timeout 1m",
    fromEnvironment: true,
  }),
  allNamespaces: z.boolean().default(false).register(flagSyntax, {
    flags: "-A, --all-namespaces",
    about: "work on all namespaces; so it is anyway, unless --namespace is given",
    fromEnvironment: true,
  }),
  dryRun: z.boolean().default(false).register(flagSyntax, {
    flags: "--dry-run",
    about: "ask the server to validate every write and to store none; logs what would be written, -v also the bodies",
    fromEnvironment: true,
  }),
  once: z.boolean().default(false).register(flagSyntax, {
    flags: "--once",
    about: "reconcile every object, then end: with 0 when all are as they should be, else with 1",
    fromEnvironment: true,
  }),
  ...servingFlags.shape,
  ...electionFlags.shape,
  ...connectionFlags.shape,
  namespace: z.array(text()).default([]).register(flagSyntax, {
    flags: "-n, --namespace <name>",
    about: "work on this namespace only; may be given several times; the context's namespace does not matter",
    arity: "list",
    completes: "namespace",
    fromEnvironment: true,
  }),
});

/** What the flags say. */
export type RunFlags = z.output<typeof runFlags>;
