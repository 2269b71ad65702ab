/**
 * `doctor`: checks whether controllers can run on a cluster, as this user. It checks everything they need, one line for each
 * check, and says what is missing and how to get it.
 *
 * Guarantees: it changes nothing, except with --fix; its exit code is 0 exactly when `run` could start, otherwise the exit code that `run` would
 * end with; what this user may not read is reported as unknown, which is not a failure; a check that gets no answer has failed
 * after one minute, a webhook after three.
 */
import { z } from "zod";
import { isAbortOf, scope, untilAborted } from "../../async/mod.ts";
import { ApiError, InvalidResponseError, isUnreachable } from "../../client/mod.ts";
import { type Call, CommandError, type ExitCode, exitCode, selectNamedOrAll, subcommand } from "../command/mod.ts";
import { clustersFlag } from "../clusters/mod.ts";
import { connect, connectionFlags, findWebhookConfigurationName } from "../connection/mod.ts";
import { commandLineOnly, flag, formatDuration, namespaceName, oneOf } from "../flags/mod.ts";
import { electionFlags, namespaceSelectorFlag, webhookConfigurationFlag } from "../run/mod.ts";
import { type Check, type DoctorContext, failed, printChecks, unknown } from "./check.ts";
import { checkCluster, checkLease } from "./check_cluster.ts";
import { checkDefinitions, checkFinalizers } from "./check_definitions.ts";
import { checkPermissions } from "./check_permissions.ts";
import { checkWebhooks } from "./check_webhooks.ts";
import { checkStalled } from "./check_stalled.ts";
import { checkMembers } from "./check_members.ts";
import { fixLocalRuns } from "./local_runs.ts";

const { leaderElect, shards, leaderElectionId, leaderElectionNamespace } = electionFlags.shape;

const doctorFlags = z.object({
  all: flag(z.boolean().default(false), {
    ...commandLineOnly,
    flags: "--all",
    about: "check all controllers, as without names",
  }),
  fix: flag(z.boolean().default(false), {
    ...commandLineOnly,
    flags: "--fix",
    about: "first undo what killed runs with --webhook-host have left; waits until it is certain that they have ended",
  }),
  output: flag(oneOf(["json", "yaml"]).optional(), {
    ...commandLineOnly,
    flags: "-o, --output <format>",
    about: "json or yaml, instead of one line for each check",
    example: "-o json",
  }),
  clusters: clustersFlag,
  leaderElect,
  shards,
  leaderElectionId,
  leaderElectionNamespace,
  webhookConfiguration: webhookConfigurationFlag,
  ...connectionFlags.shape,
  namespaceSelector: namespaceSelectorFlag,
  namespace: flag(z.array(namespaceName()).default([]), {
    flags: "-n, --namespace <name>",
    about: "check permissions and objects in this namespace; can be repeated (default: all namespaces)",
    arity: "list",
    completes: "namespace",
  }),
});

type DoctorFlags = z.output<typeof doctorFlags>;

/** The command. */
export const doctor = subcommand({
  description: [
    "Checks whether controllers can run on a cluster: the connection, the custom resource definitions, the permissions,",
    "the lease, the webhooks and their certificates, and objects that wait for a finalizer or are not retried. Calls each webhook, and",
    "changes nothing without --fix. The exit code is 0 if the controllers can run, and otherwise the one that run would end with.",
  ].join(" "),
  positionals: { syntax: "[names...]", about: "controllers to check (default: all)" },
  examples: [
    { line: "", about: "all controllers, as the user of the current context" },
    {
      line: "NAME -n team-a --as system:serviceaccount:ops:operator",
      about: "one controller, in one namespace, as its service account",
    },
    { line: "--all --clusters contexts:*", about: "in each cluster of the kubeconfig, as a fleet" },
    { line: "--fix", about: "clean up after runs with --webhook-host that were killed" },
    { line: "-o json", about: "for a script" },
  ],
  flags: doctorFlags,
  async run(call) {
    const { flags, session } = call;
    const checks = await runChecks(call);
    printChecks(checks, flags.output, session);
    const failures = checks.flatMap(({ verdict }) => verdict.kind === "failed" ? [verdict.code] : []);
    const [code] = failures;
    if (code === undefined) return exitCode.done satisfies ExitCode;
    const message = `Cannot run the controllers: ${failures.length} of ${checks.length} checks failed`;
    throw new CommandError(message, { code, advice: "Each failed check says what to do" });
  },
});

async function runChecks(call: Call<DoctorFlags>): Promise<readonly Check[]> {
  const { positionals, flags, session } = call;
  const { operator } = session;
  const all = flags.all || positionals.length === 0;
  const controllers = selectNamedOrAll({ operator, names: positionals, all, action: "check" });
  const { signal } = new AbortController(); // nothing is changed: a signal may end the process at any point
  using connection = await connect(flags, session);
  const clusterCheck = await checkCluster({ connection, session, signal }, flags.connectTimeout);
  if (clusterCheck.verdict.kind === "failed") return [clusterCheck];
  const hasWebhooks = operator.controllers.some(({ webhooks = [] }) => webhooks.length > 0);
  const given = flags.webhookConfiguration;
  const search = { connection, operatorName: operator.name, given, signal };
  const context: DoctorContext = {
    connection,
    session,
    signal,
    controllers,
    namespaces: [...new Set(flags.namespace)],
    selectsNamespaces: flags.namespaceSelector !== undefined,
    webhookConfiguration: hasWebhooks ? await findWebhookConfigurationName(search) : "",
    ownNamespace: flags.leaderElectionNamespace ?? connection.namespace,
    lease: {
      name: flags.leaderElectionId ?? operator.name,
      isUsed: flags.leaderElect || flags.shards !== undefined,
      isSharded: flags.shards !== undefined,
    },
    clusters: flags.clusters,
    place: flags.clusters === undefined ? "cluster" : "hub",
  };
  const checks = [clusterCheck];
  if (flags.fix) checks.push(...await fixLocalRuns(context));
  // In a fleet, the kinds of the controllers are in the members.
  const inHub = controllers.filter(({ options }) => options.runsIn === "hub");
  for (const [about, check] of furtherChecks) {
    const isAboutKinds = flags.clusters !== undefined && kindChecks.has(about);
    checks.push(...await resultOf(about, check, isAboutKinds ? { ...context, controllers: inHub } : context));
  }
  if (flags.clusters !== undefined) checks.push(...await checkMembers(context, checksOfMember, flags));
  return checks;
}

const furtherChecks = [
  ["definition", checkDefinitions],
  ["permission", checkPermissions],
  ["lease", checkLease],
  ["webhook", checkWebhooks],
  ["finalizer", checkFinalizers],
  ["stalled", checkStalled],
] as const;

/** The checks of objects and their kinds, which in a fleet are in the members. */
const kindChecks: ReadonlySet<Check["about"]> = new Set(["definition", "finalizer", "stalled"]);

/** The checks of one cluster of a fleet. The Lease and the webhooks are those of the hub. */
async function checksOfMember(context: DoctorContext, connectTimeoutMs: number): Promise<readonly Check[]> {
  const clusterCheck = await checkCluster(context, connectTimeoutMs);
  if (clusterCheck.verdict.kind === "failed") return [clusterCheck];
  const checks = [clusterCheck];
  for (const [about, check] of furtherChecks) {
    if (about === "lease" || about === "webhook") continue;
    checks.push(...await resultOf(about, check, context));
  }
  return checks;
}

/** Milliseconds for one group of checks. Webhooks have limits of their own, up to 30 s for each. */
const maxMs = (about: Check["about"]) => about === "webhook" ? 180_000 : 60_000;

type CheckGroup = (context: DoctorContext) => Promise<readonly Check[]>;

/**
 * Runs one group of checks. Its failure is a result, so that the other groups still run. A server that does not answer a
 * check would not answer `run` either, so a silent check has failed.
 */
async function resultOf(about: Check["about"], check: CheckGroup, context: DoctorContext): Promise<readonly Check[]> {
  const { clock } = context.session.processEnvironment;
  using limited = scope(context.signal, { timeoutMs: maxMs(about), clock });
  try {
    return await untilAborted(check({ ...context, signal: limited.signal }), limited.signal);
  } catch (error) {
    if (isAbortOf(limited.signal, error)) {
      const state = `no answer within ${formatDuration(maxMs(about))}`;
      return [{ about, subject: "", ...failed(exitCode.unreachable, state, "Check the health of the API server") }];
    }
    if (isUnreachable(error)) {
      return [{ about, subject: "", ...failed(exitCode.unreachable, error.message, error.hint) }];
    }
    if (!(error instanceof ApiError) && !(error instanceof InvalidResponseError)) throw error;
    return [{ about, subject: "", ...unknown(error.message) }];
  }
}
