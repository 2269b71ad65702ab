/**
 * pods: prints a line for each Pod that exists and for each Pod that was deleted. It re-creates client-go's workqueue example.
 *
 * Guarantees: a Pod counts as reconciled only after its line is printed; a line that cannot be printed is retried five times
 * and then dropped, with a log record. Nothing is written to the cluster.
 */
import {
  controller,
  type ControllerDefinition,
  done,
  flag,
  Pod,
  type RunSetup,
  splitKey,
  withFlags,
  z,
} from "../../mod.ts";
import { KnownPods, knownSource } from "./known_pods.ts";

/** Lines as text for people, or as one JSON object each for programs. */
type LineFormat = "text" | "json";

/** Options of {@link podPrinter}. */
interface PodPrinterOptions {
  /** Prints a line. */
  readonly print: RunSetup["print"];
  /** @default "text" */
  readonly format?: LineFormat;
  /** The Pods of an earlier run. @default none */
  readonly known?: KnownPods;
}

/** Creates the controller. */
export function podPrinter({ print, format = "text", known }: PodPrinterOptions): ControllerDefinition {
  // As in the original, a Pod that has not changed is not printed again.
  const options = { maxRetries: 5, namespace: "default", recordsEvents: false, resyncMs: 0 };
  const pods = controller("pods", options).for(Pod);
  const watched = known === undefined ? pods : pods.source(known.source);
  return watched.reconcileKey(async ({ key }, toolbox) => {
    const exists = toolbox.find(Pod, key) !== undefined;
    // A known Pod that still exists is also added by the watch, which prints it.
    if (exists && toolbox.causes.length > 0 && toolbox.causes.every(({ source }) => source === knownSource)) {
      return done;
    }
    await print(lineOf(exists ? "sync" : "gone", key, format));
    known?.record(key, exists);
    return done;
  });
}

/**
 * Returns the line about a Pod.
 *
 * @param event "gone" for a Pod that was deleted
 * @param key `namespace/name` of the Pod
 */
export function lineOf(event: "sync" | "gone", key: string, format: LineFormat): string {
  const { namespace = "", name } = splitKey(key);
  if (format === "json") return JSON.stringify({ event, namespace, name });
  return event === "sync" ? `Sync/Add/Update for Pod ${name}` : `Pod ${key} does not exist anymore`;
}

const flags = z.object({
  output: flag(z.enum(["text", "json"], { error: "it is neither text nor json" }).optional(), {
    flags: "-o, --output <format>",
    about: "lines as text, or as one JSON object each (default: as the log)",
    example: "-o json",
  }),
  known: flag(z.string().min(1, { error: "it is empty" }).optional(), {
    flags: "--known <file>",
    about: "store the Pods in this file, and report at the next start which of them were deleted",
    example: "--known pods.txt",
    completes: "file",
  }),
});

export const podsController = withFlags(
  podPrinter({ print: () => Promise.resolve() }),
  flags,
  async ({ flags: { output, known: path }, namespaces, print, logFormat, files }) => {
    const format = output ?? logFormat;
    if (path === undefined) return podPrinter({ print, format });
    const known = await KnownPods.open(path, { namespaces, files });
    return { ...podPrinter({ print, format, known }), runnables: [known.saver] };
  },
);
