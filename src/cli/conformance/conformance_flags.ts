/** The flags of `conformance`: which servers, and the output. */
import { z } from "zod";
import { commandLineOnly, durationMs, flag, oneOf, text } from "../flags/mod.ts";

const group = "Servers:";

export const conformanceFlags = z.object({
  kubeconfig: flag(z.array(text()).default([]), {
    ...commandLineOnly,
    group,
    flags: "--kubeconfig <path>",
    about: "kubeconfig of a server; twice for two (default: $KUBECONFIG, else ~/.kube/config)",
    arity: "list",
    completes: "file",
  }),
  context: flag(z.array(text()).default([]), {
    ...commandLineOnly,
    group,
    flags: "--context <name>",
    about: "context of a server; twice for two, in the order of --kubeconfig (default: the current context)",
    arity: "list",
    completes: "context",
  }),
  embedded: flag(z.boolean().default(false), {
    ...commandLineOnly,
    group,
    flags: "--embedded",
    about: "compare with a new embedded API server in this process, in place of a second server",
  }),
  requestTimeout: flag(durationMs().prefault("60s"), {
    group,
    flags: "--request-timeout <duration>",
    about: "timeout of one request, beside the timeoutSeconds of a watch; 0 means no timeout",
    example: "--request-timeout 30s",
  }),
  connectTimeout: flag(durationMs().prefault("30s"), {
    group,
    flags: "--connect-timeout <duration>",
    about: "how long to try to reach a server",
    example: "--connect-timeout 1m30s",
  }),
  output: flag(oneOf(["diff", "json"]).prefault("diff"), {
    ...commandLineOnly,
    flags: "-o, --output <format>",
    about: "diff for people, json for programs",
    example: "--output json",
  }),
  dryRun: flag(z.boolean().default(false), {
    ...commandLineOnly,
    flags: "--dry-run",
    about: "print the requests, and send none",
  }),
});

/** The values of the flags. */
export type ConformanceFlags = z.output<typeof conformanceFlags>;
