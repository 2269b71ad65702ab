/**
 * configureLogging(): where log records go, and how they look. A program calls it once; a library never does.
 *
 * Guarantees: a record is one write; secrets are taken out of every field (`redact.ts`) and control characters escaped,
 * whatever the format; a field is at most 4 KiB. Records of one program go to one place: configuring again replaces
 * what was configured before.
 */
import { configureSync, type LogLevel as LogtapeLevel, resetSync } from "@logtape/logtape";
import { jsonFormat, textFormat } from "./_format.ts";
import { rootCategory } from "./logger.ts";

/** How much is logged: records of this level and above. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** Options of {@link configureLogging}. */
export interface LoggingOptions {
  /** @default "info" */
  readonly level?: LogLevel;
  /** Lines for people, or an object per line for programs. @default "text" */
  readonly format?: "text" | "json";
  /** Takes a record, its newline included. */
  readonly write: (text: string) => void;
  /** Colours the levels of the text format. @default false */
  readonly color?: boolean;
  /** Parts of the program of which only warnings and errors are of interest, unless level is debug: `controller.kubelet`. @default none */
  readonly quiet?: readonly string[];
  /** Wall time of the records in milliseconds, e.g. a VirtualClock's. @default the machine's */
  readonly now?: () => number;
}

const levels = { debug: "debug", info: "info", warn: "warning", error: "error" } as const satisfies Record<
  LogLevel,
  LogtapeLevel
>;

/**
 * Sends the records of all loggers to `write`. Stack traces of errors are part of them at level debug only.
 *
 * @example
 * ```ts
 * import { configureLogging, logger } from "../mod.ts";
 *
 * const lines: string[] = [];
 * using _logging = configureLogging({ write: (text) => lines.push(text) });
 * logger("worker").info("Reconciled", { key: "default/a", token: "s3cret" });
 * console.assert(lines[0]?.endsWith("key=default/a token=\"[masked]\"\n"));
 * ```
 * @returns stops the logging when disposed
 */
export function configureLogging(options: LoggingOptions): Disposable {
  const { level = "info", format = "text", write, color = false, quiet = [], now } = options;
  const line = format === "json" ? jsonFormat : textFormat;
  const look = { color, stacks: level === "debug" };
  configureSync({
    reset: true,
    sinks: { line: (record) => write(line(record, now?.() ?? record.timestamp, look)) },
    loggers: [
      { category: [rootCategory], sinks: ["line"], lowestLevel: levels[level] },
      ...(level === "debug" ? [] : quiet).map((name) => ({
        category: [rootCategory, ...name.split(".")],
        sinks: [],
        lowestLevel: level === "error" ? levels.error : levels.warn,
      })),
      { category: ["logtape", "meta"], sinks: ["line"], lowestLevel: "error" },
    ],
  });
  return { [Symbol.dispose]: () => resetSync() };
}
