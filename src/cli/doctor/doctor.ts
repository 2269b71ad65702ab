/**
 * `doctor`: could controllers run on this cluster, as this user? Looks at all that they need and says what is missing and
 * how to get it, a line each.
 *
 * Guarantees: it changes nothing; its exit code is 0 exactly if `run` would get to work, otherwise the one `run` would
 * end with; what may not be looked at is said to be unknown, and is no failure.
 */
import { checkCluster, checkLease } from "./check_cluster.ts";
import { z } from "zod";
import { ApiError, isUnreachable } from "../../client/mod.ts";
import { connect, connectionFlags } from "../connection/mod.ts";
import { type Call, CommandError, type ExitCode, exitCode, selectControllers, subcommand } from "../command/mod.ts";
import { type Check, type DoctorContext, printChecks, unknown } from "./check.ts";
import { checkDefinitions, checkFinalizers } from "./check_definitions.ts";
import { checkPermissions } from "./check_permissions.ts";
import { checkWebhooks } from "./check_webhooks.ts";
import { electionFlags } from "../run/mod.ts";
import { flagSyntax, oneOf, text } from "../flags/mod.ts";

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

export type DoctorFlags = z.output<typeof doctorFlags>;

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
  const context: DoctorContext = {
    connection,
    session,
    signal,
    controllers,
    namespaces: [...new Set(flags.namespace)],
    ownNamespace: flags.leaderElectionNamespace ?? connection.namespace,
    lease: { name: flags.leaderElectionId ?? operator.name, isEnabled: flags.leaderElect },
  };
  const checks = [reached];
  for (const [about, look] of looks) checks.push(...await runCheck(about, () => look(context)));
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
async function runCheck(about: Check["about"], look: () => Promise<readonly Check[]>): Promise<readonly Check[]> {
  try {
    return await look();
  } catch (error) {
    if (!(error instanceof ApiError) && !isUnreachable(error)) throw error;
    return [{ about, subject: "", ...unknown(error.message) }];
  }
}
