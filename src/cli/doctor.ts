/**
 * `doctor`: could controllers run on this cluster, as this user? Looks at all that they need and says what is missing and
 * how to get it, a line each.
 *
 * Guarantees: it changes nothing; its exit code is 0 exactly if `run` would get to work, otherwise the one `run` would
 * end with; what may not be looked at is said to be unknown, and is no failure.
 */
import { z } from "zod";
import { ApiError, isUnreachable } from "../client/mod.ts";
import { connect } from "./connect.ts";
import type { Connection } from "./connection.ts";
import { connectionFlags } from "./connection_flags.ts";
import { CommandError } from "./command_error.ts";
import { broken, type Check, type Finding, ok, unknown } from "./doctor/check.ts";
import { checkDefinitions } from "./doctor/check_definitions.ts";
import { checkFinalizers } from "./doctor/check_finalizers.ts";
import { checkLease } from "./doctor/check_lease.ts";
import { checkPermissions } from "./doctor/check_permissions.ts";
import { checkWebhooks } from "./doctor/check_webhooks.ts";
import type { Examination } from "./doctor/examination.ts";
import { printChecks } from "./doctor/print_checks.ts";
import { electionFlags } from "./election_flags.ts";
import { type ExitCode, exitCode } from "./exit_code.ts";
import { flagSyntax } from "./flag.ts";
import { oneOf, text } from "./flag_values.ts";
import { selectControllers } from "./select_controllers.ts";
import { type Call, subcommand } from "./subcommand.ts";
import { waitForServer } from "./wait_for_server.ts";

const { leaderElect, leaderElectionId, leaderElectionNamespace } = electionFlags.shape;

const doctorFlags = z.object({
  output: oneOf(["json", "yaml"]).optional().register(flagSyntax, {
    flags: "-o, --output <format>",
    about: "json or yaml, instead of a line for each check",
    example: "-o json",
  }),
  leaderElect,
  leaderElectionId,
  leaderElectionNamespace,
  ...connectionFlags.shape,
  namespace: z.array(text()).default([]).register(flagSyntax, {
    flags: "-n, --namespace <name>",
    about: "ask for permissions in this namespace, instead of all; may be given several times",
    arity: "list",
    completes: "namespace",
    fromEnvironment: true,
  }),
});

type DoctorFlags = z.output<typeof doctorFlags>;

/** The command. */
export const doctor = subcommand({
  description: [
    "Finds out whether controllers could run on a cluster: is it reached, are the definitions installed and this program's,",
    "is everything allowed that they do, who holds the lease, are the webhooks believed, is something stuck. Changes",
    "nothing. The exit code is 0 if they could run, and otherwise the one that run would end with.",
  ].join(" "),
  words: { syntax: "[names...]", about: "controllers that are meant (default: all)" },
  examples: [
    { line: "", about: "all controllers, as the user of the current context" },
    {
      line: "NAME -n team-a --as system:serviceaccount:ops:operator",
      about: "one, in a namespace, as its service account",
    },
    { line: "-o json", about: "for a script" },
  ],
  flags: doctorFlags,
  async run(call) {
    const { flags, session } = call;
    const checks = await examine(call);
    printChecks(checks, flags.output, session);
    const failures = checks.flatMap(({ verdict }) => verdict.kind === "failed" ? [verdict.code] : []);
    const [code] = failures;
    if (code === undefined) return exitCode.done satisfies ExitCode;
    const message = `Cannot run the controllers: ${failures.length} of ${checks.length} checks failed`;
    throw new CommandError(message, { code, advice: "What to do stands beside them" });
  },
});

async function examine(call: Call<DoctorFlags>): Promise<readonly Check[]> {
  const { words, flags, session } = call;
  const { operator } = session;
  const controllers = words.length === 0 ? operator.controllers : selectControllers(operator, words);
  const { signal } = new AbortController(); // nothing is changed, so that a signal may end it anywhere
  using connection = await connect(flags, session);
  const reached = await checkCluster(connection, call, signal);
  if (reached.verdict.kind === "failed") return [reached];
  const examination: Examination = {
    connection,
    session,
    signal,
    controllers,
    namespaces: [...new Set(flags.namespace)],
    ownNamespace: flags.leaderElectionNamespace ?? connection.namespace,
    lease: { name: flags.leaderElectionId ?? operator.name, isWanted: flags.leaderElect },
  };
  const checks = [reached];
  for (const [about, look] of looks) checks.push(...await undaunted(about, () => look(examination)));
  return checks;
}

const looks = [
  ["definition", checkDefinitions],
  ["permission", checkPermissions],
  ["lease", checkLease],
  ["webhook", checkWebhooks],
  ["finalizer", checkFinalizers],
] as const;

/** Where one question cannot be answered the others still may. */
async function undaunted(about: Check["about"], look: () => Promise<readonly Check[]>): Promise<readonly Check[]> {
  try {
    return await look();
  } catch (error) {
    if (!(error instanceof ApiError) && !isUnreachable(error)) throw error;
    return [{ about, subject: "", ...unknown(error.message) }];
  }
}

async function checkCluster(connection: Connection, call: Call<DoctorFlags>, signal: AbortSignal): Promise<Check> {
  return { about: "cluster", subject: connection.server, ...await reach(connection, call, signal) };
}

async function reach(
  connection: Connection,
  { flags, session }: Call<DoctorFlags>,
  signal: AbortSignal,
): Promise<Finding> {
  const { clock, random } = session.surroundings;
  try {
    const version = await waitForServer(connection, { timeoutMs: flags.connectTimeout, clock, random, signal });
    const who = await whoAmI(connection, signal) ?? connection.who;
    return version === undefined
      ? unknown(`reached as ${who}, its version is kept secret`)
      : ok(`${version}, as ${who}`);
  } catch (error) {
    if (error instanceof CommandError) return broken(error.code, error.message, error.advice);
    throw error;
  }
}

const selfReview = z.object({ status: z.object({ userInfo: z.object({ username: z.string() }) }) });

/** As the server sees us; undefined where it does not say (it does since 1.28). */
async function whoAmI({ client }: Connection, signal: AbortSignal): Promise<string | undefined> {
  const body = JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" });
  const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
  try {
    const answer = selfReview.safeParse(JSON.parse(await client.raw(path, { method: "POST", body, signal })));
    return answer.success ? `user "${answer.data.status.userInfo.username}"` : undefined;
  } catch {
    return undefined; // only for show
  }
}
