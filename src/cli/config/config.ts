/**
 * `config`: prints the settings that `run` would have with the same flags, variables and file, and where each comes from.
 *
 * Guarantees: values are checked as by `run`; a secret is never printed; no request is sent.
 */
import type { z } from "zod";
import { mask, redactText } from "../../observe/mod.ts";
import { type Call, type ExitCode, exitCode, selectNamedOrAll, subcommand } from "../command/mod.ts";
import type { Setting } from "../flags/mod.ts";
import { table } from "../output/mod.ts";
import { checkValues, controllerFlagGroups, runFlags } from "../run/mod.ts";

/** The command. */
export const config = subcommand({
  description: [
    "Prints the settings of run, and where each of them comes from: a flag, an environment variable, a line of the file of",
    "--config, or the default, in this order. RELOADS says whether a running process takes over a changed file. It takes",
    "the flags of run, and sends no requests.",
  ].join(" "),
  positionals: { syntax: "[names...]", about: "controllers whose flags to check (default: all)" },
  examples: [
    { line: "--config controller.yaml", about: "check a file, and show what it sets" },
    { line: "--config controller.yaml --workers 4", about: "and what a flag changes" },
  ],
  flags: runFlags,
  extraFlags: controllerFlagGroups,
  run: (call) => Promise.resolve(printSettings(call)),
});

function printSettings(
  { positionals, flags, extraFlags, settings, session }: Call<z.output<typeof runFlags>>,
): ExitCode {
  const { operator } = session;
  const all = flags.all || positionals.length === 0;
  const controllers = selectNamedOrAll({ operator, names: positionals, all, action: "configure" });
  checkValues({ flags, extraFlags }, controllers);
  session.print(...table([["SETTING", "VALUE", "RELOADS", "FROM"], ...settings.map(rowOf)]));
  return exitCode.done;
}

function rowOf(setting: Setting): readonly string[] {
  const { flag, from } = setting;
  return [flag.key, valueOf(setting), flag.isReloadable === true ? "yes" : "-", from];
}

function valueOf({ flag, given }: Setting): string {
  if (given === undefined) return flag.defaultText ?? (flag.isSwitch ? "false" : "-");
  if (flag.isSecret === true) return mask;
  return redactText(Array.isArray(given) ? given.join(",") : String(given));
}
