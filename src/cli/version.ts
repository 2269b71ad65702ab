/**
 * `version`: of this program, of the runtime inside it, and of the server. Where the server cannot be asked, the rest is
 * printed all the same, as kubectl does.
 */
import { z } from "zod";
import { processFacts, runtimeName, runtimeVersion } from "../runtime/mod.ts";
import { connect, connectionFlags, waitForServer } from "./connection/mod.ts";
import { exitCode, type Session, subcommand } from "./command/mod.ts";
import { flagSyntax, oneOf } from "./flags/mod.ts";
import { type ObjectFormat, printValue } from "./output/mod.ts";

const versionFlags = z.object({
  client: z.boolean().default(false).register(flagSyntax, {
    flags: "--client",
    about: "print the version of this program only, and ask no server",
  }),
  output: oneOf(["json", "yaml"]).optional().register(flagSyntax, {
    flags: "-o, --output <format>",
    about: "json or yaml, instead of text",
    example: "-o json",
  }),
  ...connectionFlags.shape,
});

/** The command. */
export const version = subcommand({
  description: "Prints the versions of this program, of its runtime, and of the server.",
  examples: [
    { line: "", about: "program and server" },
    { line: "--client -o json", about: "the program alone, for a script" },
  ],
  flags: versionFlags,
  async run({ flags, session }) {
    if (flags.client) {
      print(session, flags.output, undefined);
      return exitCode.done;
    }
    let serverVersion: string | undefined;
    try {
      using connection = await connect(flags, session);
      const { clock, random } = session.processEnvironment;
      const { signal } = new AbortController();
      serverVersion = await waitForServer(connection, {
        timeoutMs: flags.connectTimeout,
        clock,
        random,
        signal,
        retries: false,
      });
    } finally {
      print(session, flags.output, serverVersion);
    }
    return exitCode.done;
  },
});

function print(session: Session, output: ObjectFormat | undefined, serverVersion: string | undefined): void {
  const { os, arch } = processFacts();
  const runtime = { name: runtimeName, version: runtimeVersion, platform: `${os}/${arch}` };
  if (output !== undefined) {
    const server = serverVersion === undefined ? {} : { serverVersion: { gitVersion: serverVersion } };
    return printValue({ clientVersion: { gitVersion: session.version }, runtime, ...server }, output, session);
  }
  session.print(`Client Version: ${session.version}\n`);
  session.print(`Runtime: ${runtime.name} ${runtime.version} (${runtime.platform})\n`);
  if (serverVersion !== undefined) session.print(`Server Version: ${serverVersion}\n`);
}
