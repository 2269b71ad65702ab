/**
 * pods: prints a line for each Pod that is there and for each that has gone. Re-creates client-go's workqueue example.
 *
 * Guarantees: a line is out before its Pod counts as done; one that cannot be printed is tried five times more and then
 * given up, with a log record. Nothing is written to the cluster.
 */
import { controller, type ControllerDefinition, done, flag, Pod, type RunSetup, withFlags, z } from "../../mod.ts";
import { KnownPods, knownSource } from "./known_pods.ts";
import { type LineFormat, lineOf } from "./line.ts";

/** Options of {@link podPrinter}. */
export interface PodPrinterOptions {
  /** Takes a line. */
  readonly print: RunSetup["print"];
  /** @default "text" */
  readonly format?: LineFormat;
  /** Pods of an earlier run. @default none */
  readonly known?: KnownPods;
}

/** Makes the controller. */
export function podPrinter({ print, format = "text", known }: PodPrinterOptions): ControllerDefinition {
  const pods = controller("pods", { maxRetries: 5, namespace: "default", recordsEvents: false }).for(Pod);
  const watched = known === undefined ? pods : pods.source(known.source);
  return watched.reconcileKey(async ({ key }, toolbox) => {
    const exists = toolbox.find(Pod, key) !== undefined;
    // One that is still there has a turn of its own, as every Pod has at the start.
    if (exists && toolbox.causes.length > 0 && toolbox.causes.every(({ source }) => source === knownSource)) {
      return done;
    }
    await print(lineOf(exists ? "sync" : "gone", key, format));
    known?.note(key, exists);
    return done;
  });
}

const flags = z.object({
  output: flag(z.enum(["text", "json"], { error: "it is neither text nor json" }).default("text"), {
    flags: "-o, --output <format>",
    about: "lines as text, or as one JSON object each",
    example: "-o json",
  }),
  known: flag(z.string().min(1, { error: "it is empty" }).optional(), {
    flags: "--known <file>",
    about: "remember the Pods in this file, and report at the next start which of them have gone",
    example: "--known pods.txt",
  }),
});

export const podsController = withFlags(
  podPrinter({ print: () => Promise.resolve() }),
  flags,
  async ({ flags: { output: format, known: path }, namespaces, print }) => {
    if (path === undefined) return podPrinter({ print, format });
    const known = await KnownPods.open(path, namespaces);
    return { ...podPrinter({ print, format, known }), runnables: [known.saver] };
  },
);
