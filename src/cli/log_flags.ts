/** The flags of every command about what it says on stderr. */
import { z } from "zod";
import { flagSyntax } from "./flag.ts";
import { oneOf } from "./flag_values.ts";

/** How much is logged, and how. */
export const logFlags = z.object({
  verbose: z.number().default(0).register(flagSyntax, {
    flags: "-v, --verbose",
    about: "say more; errors come with a stack trace",
    arity: "count",
    group: "Logging (on stderr):",
    fromEnvironment: true,
  }),
  logFormat: oneOf(["text", "json"]).prefault("text").register(flagSyntax, {
    flags: "--log-format <format>",
    about: "text for people, json for programs",
    example: "--log-format json",
    group: "Logging (on stderr):",
    fromEnvironment: true,
  }),
});

/** What the flags say. */
export type LogFlags = z.output<typeof logFlags>;
