/**
 * `install-crds`: the CustomResourceDefinitions of controllers, brought to the state this program was built with.
 *
 * Guarantees: server-side apply under a field manager of its own, so what others added (a conversion's CA, labels) stays;
 * done twice it changes nothing; it returns once the server serves the kinds, so that what follows can use them.
 */
import { z } from "zod";
import { connect } from "./connect.ts";
import { connectionFlags } from "./connection_flags.ts";
import { applyCrd } from "./apply_crd.ts";
import { awaitEstablished } from "./await_established.ts";
import { crdsOf } from "./custom_resources.ts";
import { type ExitCode, exitCode } from "./exit_code.ts";
import { flagSyntax } from "./flag.ts";
import { durationMs, oneOf } from "./flag_values.ts";
import { crdName, type CrdResult, printObjects, resultLine } from "./print_crds.ts";
import { selectControllers } from "./select_controllers.ts";
import { type Call, subcommand } from "./subcommand.ts";
import { waitForServer } from "./wait_for_server.ts";

const installFlags = z.object({
  dryRun: oneOf(["client", "server"]).optional().register(flagSyntax, {
    flags: "--dry-run <where>",
    about: "change nothing: client asks no server, server has the server check everything",
    example: "--dry-run=server",
  }),
  output: oneOf(["yaml", "json", "name"]).optional().register(flagSyntax, {
    flags: "-o, --output <format>",
    about: "print the definitions (yaml, json) or their names, instead of what was done",
    example: "-o yaml",
  }),
  timeout: durationMs().prefault("1m").register(flagSyntax, {
    flags: "--timeout <duration>",
    about: "how long to wait until the server serves the kinds",
    example: "--timeout 2m",
  }),
  ...connectionFlags.shape,
});

type InstallFlags = z.output<typeof installFlags>;

/** The command. */
export const installCrds = subcommand({
  description: [
    "Installs the custom resource definitions of controllers, or brings them up to date, and waits until the server",
    "serves the kinds. It needs the verbs get, create and patch on customresourcedefinitions.apiextensions.k8s.io.",
  ].join("\n"),
  words: { syntax: "[names...]", about: "controllers whose definitions are meant (default: all)" },
  examples: [
    { line: "foo", about: "what the controller foo needs" },
    { line: "", about: "what all controllers need" },
    { line: "--dry-run=server", about: "see what would change" },
    { line: "foo --dry-run=client -o yaml", about: "print the definition, without a cluster" },
  ],
  flags: installFlags,
  async run(call) {
    const results = call.flags.dryRun === "client" ? withoutServer(call) : await withServer(call);
    printObjects(results, call.flags.output, call.session);
    return exitCode.done satisfies ExitCode;
  },
});

function chosenCrds({ words, session }: Call<InstallFlags>): ReturnType<typeof crdsOf> {
  const { operator } = session;
  const controllers = words.length === 0 ? operator.controllers : selectControllers(operator, words);
  const crds = crdsOf(controllers);
  if (crds.length === 0) session.say("nothing to install: these controllers define no kinds of their own");
  return crds;
}

function withoutServer(call: Call<InstallFlags>): readonly CrdResult[] {
  const results = chosenCrds(call).map((crd): CrdResult => ({ change: "unchecked", name: crdName(crd), object: crd }));
  if (call.flags.output === undefined) {
    for (const result of results) call.session.print(resultLine(result, "client"));
  }
  return results;
}

async function withServer(call: Call<InstallFlags>): Promise<readonly CrdResult[]> {
  const { flags, session } = call;
  const { clock, random } = session.surroundings;
  const crds = chosenCrds(call);
  if (crds.length === 0) return [];
  const signal = new AbortController().signal; // a signal ends the process: an apply happens or does not
  using connection = await connect(flags, session);
  await waitForServer(connection, { timeoutMs: flags.connectTimeout, clock, random, signal });
  const isDryRun = flags.dryRun === "server";
  const fieldManager = `${session.operator.name}-install-crds`;
  const results: CrdResult[] = [];
  for (const crd of crds) {
    const result = await applyCrd(connection.client, crd, { fieldManager, isDryRun, signal, clock, random });
    if (flags.output === undefined) session.print(resultLine(result, flags.dryRun));
    results.push(result);
  }
  if (!isDryRun) await awaitEstablished(connection, crds, { session, timeoutMs: flags.timeout, signal });
  return results;
}
