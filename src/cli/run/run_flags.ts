/**
 * The flags of `run`: what it runs, what it serves, and leader election. Names and defaults of leader election are those of
 * Kubernetes' own components. Probes, metrics and webhooks are served only when flags ask for them.
 */
import { z } from "zod";
import {
  durationMs,
  durationMsOrForever,
  flag,
  hostName,
  labelSelector,
  namespaceName,
  objectName,
  oneOf,
  text,
  wholeNumber,
} from "../flags/mod.ts";
import { configFlag } from "../configuration/mod.ts";
import { clustersFlag } from "../clusters/mod.ts";
import { connectionFlags, electionGroup, leaseFlags } from "../connection/mod.ts";
import { defaultRecordingBytes } from "../../observe/mod.ts";
import { recordFlag } from "../recording/mod.ts";

const connectTimeout = flag(durationMs().optional(), {
  group: "Cluster (as in kubectl):",
  flags: "--connect-timeout <duration>",
  about: "how long to try to reach the server (default: 30s; in a Pod without limit)",
  example: "--connect-timeout 1m30s",
});

/** An address to listen on; undefined for none. */
export interface BindAddress {
  readonly hostname: string;
  readonly port: number;
}

const servingGroup = "Serving:";

/** As in controller-runtime: `:8080` is all interfaces, `127.0.0.1:8080` is one, `0` is none. */
export function bindAddress(): z.ZodType<BindAddress | undefined, string> {
  return z.string().transform((value, context) => {
    if (value === "0") return undefined;
    const [, hostname = "", digits = ""] = /^(.*):(\d{1,5})$/.exec(value) ?? [];
    const port = Number(digits);
    if (digits !== "" && port <= 65_535) return { hostname: hostname.replace(/^\[|\]$/g, "") || "0.0.0.0", port };
    context.addIssue({ code: "custom", message: "it is neither host:port nor 0" });
    return z.NEVER;
  });
}

/** A URL of http or https. Its user and password would be secrets on a command line. */
function webAddress(): z.ZodType<string, string> {
  return z.string().refine((value) => {
    const url = URL.parse(value);
    return url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
  }, { message: "it is not a URL that begins with http:// or https://, without a user" });
}

/** The file with the token of the debug endpoint. */
export const debugTokenFileFlag = flag(text().optional(), {
  flags: "--debug-token-file <path>",
  about:
    "file with the token of the debug endpoint; made if it does not exist (default: a new token, shown on the terminal)",
  completes: "file",
  group: servingGroup,
});

/** The name of the webhook configurations. */
export const webhookConfigurationFlag = flag(objectName().optional(), {
  flags: "--webhook-configuration <name>",
  about: "name of the webhook configurations (default: in a cluster NAME.NAMESPACE, else those that are installed)",
  group: servingGroup,
});

const servingFlags = z.object({
  healthProbeBindAddress: flag(bindAddress().prefault("0"), {
    flags: "--health-probe-bind-address <address>",
    about: "address of /healthz, /livez and /readyz; 0 serves none",
    example: "--health-probe-bind-address :8081",
    group: servingGroup,
  }),
  metricsBindAddress: flag(bindAddress().prefault("0"), {
    flags: "--metrics-bind-address <address>",
    about: "address of /metrics; 0 serves none; other than loopback needs --cert-dir, and checks permissions",
    example: "--metrics-bind-address 127.0.0.1:8080",
    group: servingGroup,
  }),
  otlpEndpoint: flag(webAddress().optional(), {
    flags: "--otlp-endpoint <url>",
    about:
      "OpenTelemetry collector that gets traces by OTLP/HTTP (default: that of OTEL_EXPORTER_OTLP_ENDPOINT, else none)",
    example: "--otlp-endpoint http://collector.monitoring:4318",
    group: servingGroup,
  }),
  debugBindAddress: flag(bindAddress().prefault("0"), {
    flags: "--debug-bind-address <address>",
    about:
      "address of the debug endpoint and its page, which why asks; 0 serves none; other than loopback needs --cert-dir",
    example: "--debug-bind-address 127.0.0.1:8082",
    group: servingGroup,
  }),
  debugTokenFile: debugTokenFileFlag,
  webhookPort: flag(wholeNumber(0, 65_535).prefault("9443"), {
    flags: "--webhook-port <port>",
    about: "port of the webhooks; served in a cluster, with --cert-dir, or with --webhook-host",
    group: servingGroup,
  }),
  webhookHost: flag(hostName().optional(), {
    flags: "--webhook-host <host>",
    about: "serve webhooks on this machine: the cluster calls this host until the command ends; auto finds the address",
    example: "--webhook-host auto",
    group: servingGroup,
  }),
  webhookConfiguration: webhookConfigurationFlag,
  certDir: flag(text().optional(), {
    flags: "--cert-dir <path>",
    about: "folder with tls.crt and tls.key for webhooks, metrics and debugging (default: managed certificates)",
    completes: "directory",
    group: servingGroup,
  }),
});

/** The values of the flags about serving. */
export type ServingFlags = z.output<typeof servingFlags>;

/** A number of replicas; `auto` is 1: a replica does not wait for others. */
function shardCount(): z.ZodType<number, string> {
  return z.union([z.literal("auto").transform(() => 1), wholeNumber(1, 256)], {
    error: "it is neither a whole number from 1 to 256 nor the word auto",
  });
}

/** The flags about leader election, and about replicas that divide the objects. */
export const electionFlags = z.object({
  leaderElect: flag(z.boolean().default(false), {
    flags: "--leader-elect",
    about: "reconcile only while this replica holds the lease; other replicas wait with filled caches",
    group: electionGroup,
  }),
  shards: flag(shardCount().optional(), {
    flags: "--shards <count>",
    about:
      "divide the objects between all replicas; with a number, the first ones wait for so many before they begin " +
      "(auto: for none). The leases have the names and times of the leader election",
    example: "--shards auto",
    group: electionGroup,
  }),
  ...leaseFlags.shape,
  leaderElectionLeaseDuration: flag(durationMs().prefault("15s"), {
    flags: "--leader-election-lease-duration <duration>",
    about: "time without a renewal after which another replica takes over",
    group: electionGroup,
  }),
  leaderElectionRenewDeadline: flag(durationMs().prefault("10s"), {
    flags: "--leader-election-renew-deadline <duration>",
    about: "time without a renewal after which this replica stops reconciling",
    group: electionGroup,
  }),
  leaderElectionRetryPeriod: flag(durationMs().prefault("2s"), {
    flags: "--leader-election-retry-period <duration>",
    about: "time between two attempts to acquire or renew the lease",
    group: electionGroup,
  }),
  leaderElectionCoordinated: flag(z.boolean().default(false), {
    flags: "--leader-election-coordinated",
    about: "let the API server choose the replica with the oldest version, if it has CoordinatedLeaderElection",
    group: electionGroup,
  }),
  leaderElectionWhenLost: flag(oneOf(["exit", "standby"]).prefault("exit"), {
    flags: "--leader-election-when-lost <action>",
    about: "when the lease is lost: exit with code 7, or wait for it again (standby)",
    group: electionGroup,
  }),
});

/** Restricts controllers to some of their objects, in `run` and `dev`. */
export const selectorFlag = flag(labelSelector().optional(), {
  flags: "-l, --selector <selector>",
  about: "reconcile only objects with these labels, as kubectl's -l; the objects that they own need no labels",
  example: "--selector 'team=a,tier in (front, back)'",
});

/** Selects the namespaces of the controllers by their labels, in `run`, `dev` and `doctor`. */
export const namespaceSelectorFlag = flag(labelSelector().optional(), {
  flags: "--namespace-selector <selector>",
  about: "watch the namespaces with these labels, and follow their changes; needs list and watch of namespaces",
  example: "--namespace-selector team=a",
});

/** The flags of `run`. */
export const runFlags = z.object({
  all: flag(z.boolean().default(false), {
    flags: "--all",
    about: "run all controllers",
  }),
  config: configFlag,
  workers: flag(wholeNumber(1, 1_000).optional(), {
    flags: "--workers <count>",
    about: "objects that each controller reconciles at the same time (default: the controller's own number)",
    example: "--workers 4",
  }),
  resync: flag(durationMs().optional(), {
    flags: "--resync <duration>",
    about: "how often every object is reconciled again; 0 is never (default: the controller's own period, else 10h)",
    example: "--resync 10m",
  }),
  gracefulShutdownTimeout: flag(durationMsOrForever().prefault("30s"), {
    flags: "--graceful-shutdown-timeout <duration>",
    about: "how long running reconciles may take to finish after a signal: a duration, 0, or forever",
    example: "--graceful-shutdown-timeout 1m",
  }),
  allNamespaces: flag(z.boolean().default(false), {
    flags: "-A, --all-namespaces",
    about: "watch all namespaces, also for controllers that have a namespace of their own",
  }),
  selector: selectorFlag,
  namespaceSelector: namespaceSelectorFlag,
  clusters: clustersFlag,
  kubeApiQps: flag(wholeNumber(1, 100_000).optional(), {
    flags: "--kube-api-qps <count>",
    about:
      "most requests per second of the controllers and caches; the Lease has its own connection (default: no limit)",
    example: "--kube-api-qps 20",
    isReloadable: true,
  }),
  kubeApiBurst: flag(wholeNumber(1, 100_000).optional(), {
    flags: "--kube-api-burst <count>",
    about: "requests that pass at once with --kube-api-qps (default: twice as many)",
    example: "--kube-api-burst 40",
    isReloadable: true,
  }),
  dryRun: flag(z.boolean().default(false), {
    flags: "--dry-run",
    about: "let the server check every write and store none; logs the writes, with -v also their bodies",
  }),
  freezeCache: flag(z.boolean().default(false), {
    flags: "--freeze-cache",
    about: "freeze cached objects, so that a controller that changes one fails; slower, dev and tests always do it",
  }),
  once: flag(z.boolean().default(false), {
    flags: "--once",
    about: "reconcile every object, then end: with 0 if all succeeded, else with 1",
  }),
  record: recordFlag,
  recordingBytes: flag(wholeNumber(0, 1_073_741_824).prefault(String(defaultRecordingBytes)), {
    flags: "--recording-bytes <bytes>",
    about: "memory of the debug endpoint for what happened; the oldest is dropped; 0 keeps nothing",
    example: "--recording-bytes 33554432",
  }),
  ...servingFlags.shape,
  ...electionFlags.shape,
  ...connectionFlags.shape,
  connectTimeout,
  namespace: flag(z.array(namespaceName()).default([]), {
    flags: "-n, --namespace <name>",
    about: "watch this namespace only; can be repeated (default: all; the context's namespace is not used)",
    arity: "list",
    completes: "namespace",
  }),
});

/** The values of the flags. */
export type RunFlags = z.output<typeof runFlags>;
