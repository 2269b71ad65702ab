/** The flags of `replay`. */
import { z } from "zod";
import { commandLineOnly, flag, oneOf, text } from "../flags/mod.ts";

/** Where a replay ends. */
export type ReplayEnd =
  | { readonly kind: "entry"; readonly id: number }
  /** Milliseconds since the epoch. */
  | { readonly kind: "time"; readonly at: number };

/** The number of an entry, or a time in RFC 3339. */
function replayEnd(): z.ZodType<ReplayEnd, string> {
  return z.string().transform((value, context) => {
    if (/^[1-9]\d{0,14}$/.test(value)) return { kind: "entry", id: Number(value) } as const;
    const at = /^\d{4}-\d\d-\d\dT/.test(value) ? Date.parse(value) : NaN;
    if (!Number.isNaN(at)) return { kind: "time", at } as const;
    context.addIssue({
      code: "custom",
      message: "it is neither the number of an entry nor a time such as 2026-03-01T09:12:03Z",
    });
    return z.NEVER;
  });
}

export const replayFlags = z.object({
  controllers: flag(z.array(text()).default([]), {
    ...commandLineOnly,
    flags: "--controllers <name>",
    about: "replay this controller; can be repeated (default: all that were recorded)",
    arity: "list",
    completes: "controller",
  }),
  until: flag(replayEnd().optional(), {
    ...commandLineOnly,
    flags: "--until <time or entry>",
    about: "end before this time, or after the entry with this number",
    example: "--until 2026-03-01T09:12:03Z",
  }),
  key: flag(text().optional(), {
    ...commandLineOnly,
    flags: "--key <key>",
    about: "compare only the reconciles of this object: NAMESPACE/NAME, or NAME if it is cluster-scoped",
    example: "--key default/web",
  }),
  step: flag(z.boolean().default(false), {
    ...commandLineOnly,
    flags: "--step",
    about: "show each input and each reconcile; on a terminal, one after the other with Enter",
  }),
  output: flag(oneOf(["text", "json"]).prefault("text"), {
    ...commandLineOnly,
    flags: "-o, --output <format>",
    about: "text for people; json for programs, with --step one document in a line",
    example: "--output json",
  }),
});

/** The values of the flags. */
export type ReplayFlags = z.output<typeof replayFlags>;
