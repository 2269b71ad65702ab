/**
 * `version`: prints the versions of this program, of its runtime, and of the API server. When the server cannot be reached,
 * the other versions are printed before the error, as in kubectl.
 */
import { z } from "zod";
import { redactText } from "../observe/mod.ts";
import { processFacts, runtimeName, runtimeVersion } from "../runtime/mod.ts";
import { connect, connectionFlags, waitForServer } from "./connection/mod.ts";
import { exitCode, type Session, subcommand } from "./command/mod.ts";
import { commandLineOnly, flag, oneOf } from "./flags/mod.ts";
import { formatValue, type ObjectFormat, oneLine } from "./output/mod.ts";

const versionFlags = z.object({
  client: flag(z.boolean().default(false), {
    ...commandLineOnly,
    flags: "--client",
    about: "print the version of this program only, without a request to the server",
  }),
  output: flag(oneOf(["json", "yaml"]).optional(), {
    ...commandLineOnly,
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
    { line: "", about: "the program and the server" },
    { line: "--client -o json", about: "the program only, for a script" },
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
      const version = await waitForServer(connection, {
        timeoutMs: flags.connectTimeout,
        clock,
        random,
        signal,
        retries: false,
      });
      // The text is the server's: it may repeat the token.
      serverVersion = version === undefined ? undefined : redactText(version);
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
    const value = { clientVersion: { gitVersion: session.version }, runtime, ...server };
    return session.printDocument(formatValue(value, output));
  }
  session.print(`Client Version: ${session.version}`);
  session.print(`Runtime: ${runtime.name} ${runtime.version} (${runtime.platform})`);
  if (serverVersion !== undefined) session.print(`Server Version: ${oneLine(serverVersion)}`);
}
