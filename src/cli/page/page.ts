/**
 * `page`: opens the recording of a process in a browser: the same page as that of a running process, served on loopback until
 * a signal ends it.
 *
 * Guarantees: it changes nothing, sends no request to the cluster, and answers only who has the token that it shows.
 */
import { z } from "zod";
import { logger } from "../../observe/mod.ts";
import { isLoopback, knownController, recordingEndpoints, runEndpoints } from "../../manager/mod.ts";
import { type Call, exitCode, listenForInterrupts, subcommand } from "../command/mod.ts";
import { commandLineOnly, flag, UsageError } from "../flags/mod.ts";
import { readRecordingFiles } from "../recording/mod.ts";
import { bindAddress, debugTokenFileFlag, serveForToken } from "../run/mod.ts";

const pageFlags = z.object({
  bindAddress: flag(bindAddress().prefault("127.0.0.1:0"), {
    ...commandLineOnly,
    flags: "--bind-address <address>",
    about: "loopback address of the page; port 0 is any free one",
    example: "--bind-address 127.0.0.1:8083",
  }),
  debugTokenFile: debugTokenFileFlag,
});

type PageFlags = z.output<typeof pageFlags>;

/** The command. */
export const page = subcommand({
  description: [
    "Opens a recording of run --record or dev --record in a browser, as the page that a running process has at its debug",
    "endpoint: the controllers, the objects, and what happened to each and why. The older parts of the recording, FILE.1 and",
    "so on, are read, too. It serves loopback until Ctrl-C.",
  ].join(" "),
  positionals: { syntax: "<file...>", about: "the recording", choices: [] },
  examples: [
    { line: "incident.jsonl", about: "shows the address to open in a browser" },
    { line: "incident.jsonl --bind-address 127.0.0.1:8083", about: "at the same address each time" },
  ],
  flags: pageFlags,
  async run(call) {
    const { session, flags } = call;
    const address = addressOf(flags);
    const path = fileOf(call);
    using interrupts = listenForInterrupts(session);
    const recording = await readRecordingFiles(path, { keepsStates: true });
    const { entries, header, isFirstMissing } = recording;
    logger("page").info("opening the recording", { file: path, entries: entries.length });
    const source = {
      ...{ name: header.operator, version: header.version, file: path, isFirstMissing },
      isTruncated: recording.cutLine !== undefined,
    };
    const names = header.controllers;
    const known = session.operator.controllers.map(knownController);
    const controllers = known.filter(({ name }) => names.length === 0 || names.includes(name));
    const server = await serveForToken(
      { what: "the page", address, session },
      flags,
      (access) => recordingEndpoints({ entries, controllers, source, ...access }),
    );
    return await Promise.race([interrupts.forced, runEndpoints(server, interrupts.stop).then(() => exitCode.done)]);
  },
});

/** @throws UsageError for no address, and for one of other machines */
function addressOf({ bindAddress: address }: PageFlags) {
  if (address !== undefined && isLoopback(address.hostname)) return address;
  throw new UsageError(
    "Cannot serve the page there: it is for this machine only",
    "Example: --bind-address 127.0.0.1:8083",
  );
}

/** @throws UsageError when there is not one file */
function fileOf({ positionals: [file, ...more], session }: Call<PageFlags>): string {
  if (file !== undefined && more.length === 0) return file;
  throw new UsageError(
    "Cannot open a page: it needs one file",
    `Example: ${session.operator.name} page incident.jsonl; its older parts are found`,
  );
}
