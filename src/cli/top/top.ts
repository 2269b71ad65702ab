/**
 * `top`: what the controllers of a running process do at this moment, and which keys fail, as `top` and `htop` show processes.
 * It asks the debug endpoint; on a terminal it stays and refreshes, elsewhere it prints once.
 *
 * Guarantees: it changes nothing; of the cluster it asks only where the leader is; however it ends, the terminal is as it was.
 */
import { z } from "zod";
import { type Call, type ExitCode, exitCode, listenForInterrupts, subcommand } from "../command/mod.ts";
import { debugClientFlags, openDebugClient } from "../debug/mod.ts";
import { commandLineOnly, durationMs, flag, oneOf, text } from "../flags/mod.ts";
import { formatValue, type Screen } from "../output/mod.ts";
import { Sampler } from "./sample.ts";
import { runTopScreen } from "./top_screen.ts";
import { selected, sortColumns, type View, wholeLines, wholeView } from "./view.ts";

/** Asked more often, a process would be busy with answers. */
const [minIntervalMs, maxIntervalMs] = [200, 3_600_000];

const topFlags = z.object({
  interval: flag(
    durationMs().refine((ms) => ms >= minIntervalMs && ms <= maxIntervalMs, {
      error: "it is not between 200ms and 1h",
    }).prefault("2s"),
    { flags: "--interval <duration>", about: "time between two readings, of which the rates are; 200ms to 1h" },
  ),
  once: flag(z.boolean().default(false), {
    ...commandLineOnly,
    flags: "--once",
    about: "print one reading, of one interval, and end; so it does without a terminal, too",
  }),
  sortBy: flag(oneOf(sortColumns).default("name"), {
    ...commandLineOnly,
    flags: "--sort-by <column>",
    about: `order of the controllers: ${sortColumns.join(", ")}; numbers from the largest`,
    example: "--sort-by queued",
  }),
  filter: flag(text().optional(), {
    ...commandLineOnly,
    flags: "--filter <text>",
    about: "only controllers and keys with this text in their name or error",
  }),
  output: flag(oneOf(["json", "yaml"]).optional(), {
    ...commandLineOnly,
    flags: "-o, --output <format>",
    about: "json or yaml of one reading, instead of tables",
    example: "-o json",
  }),
  ...debugClientFlags.shape,
});

type TopFlags = z.output<typeof topFlags>;

/** The command. */
export const top = subcommand({
  description: [
    "Shows the controllers of a running process: reconciles and failures per second, how long they take, what is queued and for",
    "how long, workers that are busy, and how far the caches lag; then each key that fails, with its error and its next",
    "retry. It asks the debug endpoint of the process (run --debug-bind-address), which is the leader unless --address names",
    "another one. Keys: q quit, s sort, r reverse, / filter,",
    "arrows scroll.",
  ].join(" "),
  examples: [
    { line: "--debug-token-file token", about: "watch the process of this machine" },
    { line: "--once --sort-by queued", about: "one reading, the longest queue first" },
    { line: "-o json", about: "for a script" },
  ],
  flags: topFlags,
  // Lines of a log would be written over the screen.
  quietLoggers: ["cli"],
  async run(call) {
    const { flags, session } = call;
    const screen = flags.once || flags.output !== undefined ? undefined : session.screen();
    // What is printed once is of use only if it is whole: a signal is then a failure.
    using interrupts = listenForInterrupts(session, { mode: screen === undefined ? "undo" : "finish" });
    const ending = screen === undefined ? printOnce(call, interrupts.stop) : watch(call, screen, interrupts.stop);
    return await Promise.race([interrupts.forced, ending]);
  },
});

async function watch({ flags, session }: Call<TopFlags>, screen: Screen, stop: AbortSignal): Promise<ExitCode> {
  using _screen = screen;
  try {
    await using client = await openDebugClient(flags, session, stop);
    const sampler = new Sampler(client);
    const { processEnvironment: { clock, stdin }, operator: { name } } = session;
    const read = (signal: AbortSignal) => sampler.read(signal);
    await runTopScreen({ screen, stdin, clock, name, intervalMs: flags.interval, view: viewOf(flags), read }, stop);
  } catch (error) {
    if (!stop.aborted) throw error;
  }
  return exitCode.done;
}

async function printOnce({ flags, session }: Call<TopFlags>, stop: AbortSignal): Promise<ExitCode> {
  try {
    await using client = await openDebugClient(flags, session, stop);
    if (client.note !== undefined) session.info(client.note);
    const sampler = new Sampler(client);
    await sampler.read(stop);
    await session.processEnvironment.clock.sleep(flags.interval, stop);
    const reading = selected(await sampler.read(stop), viewOf(flags));
    if (flags.output !== undefined) session.printDocument(formatValue(reading, flags.output));
    else session.print(...wholeLines(reading));
    return exitCode.done;
  } catch (error) {
    throw stop.aborted ? stop.reason : error;
  }
}

function viewOf({ sortBy, filter = "" }: TopFlags): View {
  return { ...wholeView, sortBy, filter };
}
