/**
 * Logging: the Logger that every layer writes to, and configureLogging(), which says where the records go and how they
 * look. A thin seam over @logtape/logtape.
 *
 * Guarantees: until a program calls configureLogging() nothing is written, so a library stays quiet; each record is one
 * write; secrets are removed from every field (`redact.ts`) and control characters are escaped in both formats
 * (`line_writer.ts`); a field is at most 4 KiB. Stacks are shown of defects only (`defect.ts`). Identical warnings and errors are written once in 30 s,
 * with their number in the field `repeated`, unless the level is debug (`repetition_filter.ts`). A second call of
 * configureLogging() replaces the first one.
 *
 * A message is a constant text; values belong in fields. Fields must be safe to show: no Secret data, no tokens.
 */
import {
  configureSync,
  getLogger,
  type Logger as LogtapeLogger,
  type LogLevel as LogtapeLevel,
  type LogRecord,
  resetSync,
} from "@logtape/logtape";
import { stacksToShow } from "./defect.ts";
import { type Line, LineWriter, type Tone } from "./line_writer.ts";
import { errorText, isSecretName, mask, type Plain, redact, redactText } from "./redaction/mod.ts";
import { RepetitionFilter } from "./repetition_filter.ts";
import { escaped } from "./safe_text.ts";

/** The values of a log record. They must be safe to show: no Secret data, no tokens. */
export type Fields = Readonly<Record<string, unknown>>;

/**
 * Writes log records. A message is a constant text; values belong in fields, which must be safe to show: no Secret data,
 * no tokens.
 *
 * @example
 * ```ts
 * import type { Logger } from "@pintle/controller";
 *
 * const messages: string[] = [];
 * const write = (message: string) => void messages.push(message);
 * const recorder: Logger = { debug: write, info: write, warn: write, error: write, with: () => recorder };
 *
 * recorder.with({ controller: "foo" }).info("starting workers", { count: 2 });
 * console.assert(messages.join() === "starting workers");
 * ```
 */
export interface Logger {
  /** Writes details for developers. */
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Writes what the program does in normal operation. */
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Writes a problem that the program handles, and that an administrator may want to fix. */
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Writes a failure that needs an administrator. */
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Returns a logger that adds `fields` to each record. */
  with(fields: Readonly<Record<string, unknown>>): Logger;
}

/** The root of all categories of this library; configureLogging() configures it. */
export const rootCategory = "pintle";

/** LogTape looks categories up in a plain object, where `constructor` is a function: it throws for a name that every object has. */
function ownName(name: string): string {
  return name in Object.prototype ? `${name}_` : name;
}

/**
 * Returns the logger of one part of a program. Nothing is written until {@link configureLogging} is called.
 *
 * @param category The name of the part, or its path, e.g. `logger("controller", "foo")` for `controller.foo`.
 *
 * @example
 * ```ts
 * import { configureLogging, logger } from "@pintle/controller";
 *
 * const lines: string[] = [];
 * using _logging = configureLogging({ format: "json", write: (text) => lines.push(text) });
 * logger("controller", "foo").warn("retrying", { delayMs: 100 });
 * console.assert(JSON.parse(lines[0] ?? "").logger === "controller.foo");
 * ```
 */
export function logger(...category: readonly string[]): Logger {
  return wrap(getLogger([rootCategory, ...category.map(ownName)]));
}

/** True while the configured level is debug. A record below the level costs nothing then, not even to find that out. */
let writesDebug = false;

function wrap(inner: LogtapeLogger): Logger {
  return {
    debug: (message, fields) => writesDebug ? inner.debug(message, fields) : undefined,
    info: (message, fields) => inner.info(message, fields),
    warn: (message, fields) => inner.warn(message, fields),
    error: (message, fields) => inner.error(message, fields),
    with: (fields) => wrap(inner.with(fields)),
  };
}

/** The lowest level that is logged. */
export type LogLevel = NonNullable<LoggingOptions["level"]>;

/** Options of {@link configureLogging}. */
export interface LoggingOptions {
  /** The lowest level that is logged. @default "info" */
  readonly level?: "debug" | "info" | "warn" | "error";
  /** Lines for people, or one JSON object per line for programs. @default "text" */
  readonly format?: "text" | "json";
  /** Gets the text of each record, newline included. */
  readonly write: (text: string) => void;
  /** Colors the levels of the text format. @default false */
  readonly color?: boolean;
  /**
   * Categories that log only warnings and errors, unless `level` is debug, e.g. `controller.kubelet`. @default none
   */
  readonly quiet?: readonly string[];
  /** Categories that log nothing, unless `level` is debug. @default none */
  readonly silent?: readonly string[];
  /** Returns the wall time of a record in milliseconds, e.g. that of a VirtualClock. @default the system's time */
  readonly now?: () => number;
}

const levels = { debug: "debug", info: "info", warn: "warning", error: "error" } as const satisfies Record<
  LogLevel,
  LogtapeLevel
>;

/**
 * Sends the records of all loggers to a function. A second call replaces the first one. Fields with names of secrets are
 * masked. Stack traces are included of defects, such as a TypeError, and not of expected errors, such as a conflict. A
 * warning or an error that repeats itself is written once in 30 s with the field `repeated`, unless the level is debug;
 * fields that are numbers, such as the retries, do not count as a difference. `operatorCli()` calls it for you.
 *
 * @param options The level, the format, and where the text goes.
 * @returns Dispose it to stop the logging.
 *
 * @example
 * ```ts
 * import { configureLogging, logger } from "@pintle/controller";
 *
 * const lines: string[] = [];
 * using _logging = configureLogging({ write: (text) => lines.push(text) });
 * logger("worker").info("reconciled", { key: "default/a", token: "s3cret" });
 * console.assert(lines[0]?.endsWith("key=default/a token=\"[masked]\"\n"));
 * ```
 */
export function configureLogging(options: LoggingOptions): ConfiguredLogging {
  const { write, color: hasColors = false } = options;
  return configureLineLogging(options, new LineWriter({ write }, { hasColors }));
}

/** {@link configureLogging} for a writer that other output shares. */
export function configureLineLogging(
  options: Omit<LoggingOptions, "write" | "color">,
  writer: LineWriter,
): ConfiguredLogging {
  const { level = "info", format = "text", quiet = [], silent = [], now } = options;
  const linesOf = format === "json" ? jsonLines : textLines;
  const isVerbose = level === "debug";
  const write = (timed: TimedRecord, repeated: number) => writer.writeLines(...linesOf(timed, repeated, isVerbose));
  const filter = new RepetitionFilter<TimedRecord>(write);
  const line = (record: LogRecord) => {
    const timed = { record, at: now?.() ?? record.timestamp };
    if (!isVerbose && isProblem(record)) return filter.add(identityOf(record), timed, timed.at);
    filter.expire(timed.at);
    write(timed, 1);
  };
  writesDebug = isVerbose;
  configureSync({
    reset: true,
    sinks: { line },
    loggers: [
      { category: [rootCategory], sinks: ["line"], lowestLevel: levels[level] },
      ...(isVerbose ? [] : silent).map((name) => ({
        category: [rootCategory, ...name.split(".")],
        sinks: [],
        lowestLevel: null,
      })),
      ...(isVerbose ? [] : quiet).map((name) => ({
        category: [rootCategory, ...name.split(".")],
        sinks: [],
        lowestLevel: level === "error" ? levels.error : levels.warn,
      })),
      { category: ["logtape", "meta"], sinks: ["line"], lowestLevel: "error" },
    ],
  });
  return {
    flush: () => filter.flush(),
    [Symbol.dispose]: () => {
      filter.flush();
      reset();
    },
  };
}

/** Drops the records of all loggers. It costs less than a writer that writes nothing, for which records become text. */
export function muteLogging(): Disposable {
  writesDebug = false;
  configureSync({
    reset: true,
    sinks: {},
    loggers: [rootCategory, "logtape"].map((category) => ({ category: [category], sinks: [], lowestLevel: null })),
  });
  return { [Symbol.dispose]: reset };
}

function reset(): void {
  writesDebug = false;
  resetSync();
}

/** Logging that has been configured. Disposing it ends the output. */
export interface ConfiguredLogging extends Disposable {
  /** Writes how often the last warnings were repeated, so that other output can follow. */
  flush(): void;
}

interface TimedRecord {
  readonly record: LogRecord;
  /** Wall time, in milliseconds. */
  readonly at: number;
}

function isProblem({ level }: LogRecord): boolean {
  return level === "warning" || level === "error" || level === "fatal";
}

/** The same text for records that say the same. Numbers, such as retries and delays, differ between repetitions. */
function identityOf(record: LogRecord): string {
  const fields = shownFields(record).filter(([, value]) => typeof value !== "number");
  return JSON.stringify([record.level, categoryOf(record), messageOf(record), fields]);
}

const levelNames = {
  trace: "TRACE",
  debug: "DEBUG",
  info: "INFO",
  warning: "WARN",
  error: "ERROR",
  fatal: "FATAL",
} as const satisfies Record<LogtapeLevel, string>;

const levelTones = {
  trace: "faint",
  debug: "faint",
  info: "info",
  warning: "warning",
  error: "error",
  fatal: "fatal",
} as const satisfies Record<LogtapeLevel, Tone>;

const categoryWidth = 12;
const messageWidth = 40;

/**
 * A record for people: `time LEVEL category message key=value…` in columns, as zap's development encoder writes it.
 * Stack traces follow as indented lines, so that no line of a stack can look like a record.
 */
function textLines({ record, at }: TimedRecord, repeated: number, isVerbose: boolean): readonly Line[] {
  const level = levelNames[record.level].padEnd(5);
  const fields = [...shownFields(record), ...repeatedField(repeated)].map(([name, value]) =>
    `${fieldName(name)}=${textValue(value)}`
  );
  const message = messageOf(record);
  const columns = [
    categoryOf(record).padEnd(categoryWidth),
    fields.length === 0 ? message : message.padEnd(messageWidth),
    ...fields,
  ];
  const stacks = stacksOf(record, isVerbose).flatMap((stack) => stack.split("\n").map((line) => `    ${line}`));
  const first = [
    `${new Date(at).toISOString()} `,
    { text: level, tone: levelTones[record.level] },
    ` ${columns.join(" ")}`,
  ];
  return [first, ...stacks];
}

/** A record for programs: one JSON object on one line. */
function jsonLines({ record, at }: TimedRecord, repeated: number, isVerbose: boolean): readonly Line[] {
  const members: [string, string][] = [
    ["ts", quoted(new Date(at).toISOString())],
    ["level", quoted(levelNames[record.level].toLowerCase())],
    ["logger", quoted(categoryOf(record))],
    ["msg", quoted(messageOf(record))],
  ];
  const reserved = new Set(["ts", "level", "logger", "msg", "repeated", "stack"]);
  for (const [name, value] of shownFields(record)) {
    members.push([reserved.has(name) ? `field.${name}` : name, jsonValue(value)]);
  }
  for (const [name, value] of repeatedField(repeated)) members.push([name, jsonValue(value)]);
  const stacks = stacksOf(record, isVerbose);
  if (stacks.length > 0) members.push(["stack", quoted(stacks.join("\n"))]);
  return [`{${members.map(([name, value]) => `${quoted(name)}:${value}`).join(",")}}`];
}

/** The fields as plain data without secrets. Undefined fields are left out, except for `error`. */
function shownFields(record: LogRecord): [string, Plain][] {
  const shown: [string, Plain][] = [];
  for (const [name, value] of Object.entries(record.properties)) {
    // A rejection without a reason is a failure, too: the record says what was thrown.
    const isThrown = name === "error" && (value === undefined || value === "");
    if (value === undefined && !isThrown) continue;
    const plain = isThrown ? errorText(value) : redact(value);
    shown.push([redactText(name), isSecretName(name) && value !== null ? mask : plain]);
  }
  return shown;
}

function messageOf(record: LogRecord): string {
  // The raw message: braces in it are no placeholders, because values are in the fields.
  return escaped(cut(redactText(String(record.rawMessage))));
}

function categoryOf(record: LogRecord): string {
  return escaped(cut(redactText(record.category.slice(1).join("."))));
}

function fieldName(name: string): string {
  return /^[\w.\-/]{1,128}$/.test(name) ? name : quoted(name);
}

function textValue(value: Plain): string {
  if (typeof value !== "string") return jsonValue(value);
  return /^[\w.\-/:@+%*]{1,256}$/.test(value) ? value : quoted(value);
}

/** Valid JSON of bounded length: a value that is too long becomes a string that is cut. */
function jsonValue(value: Plain): string {
  if (typeof value === "string") return quoted(value);
  const json = JSON.stringify(value);
  return json.length === cut(json).length ? escaped(json) : quoted(json);
}

/** How many identical records a line stands for, if that is more than one. */
function repeatedField(repeated: number): [string, Plain][] {
  return repeated === 1 ? [] : [["repeated", repeated]];
}

function stacksOf(record: LogRecord, isVerbose: boolean): string[] {
  const stacks = Object.values(record.properties).flatMap((value) => stacksToShow(value, isVerbose));
  return stacks.map((stack) => cut(redactText(stack)));
}

/** The most characters of a field. */
const maxFieldLength = 4_096;

/** `text`, or its beginning and its full length. */
function cut(text: string): string {
  return text.length <= maxFieldLength ? text : `${text.slice(0, maxFieldLength - 32)}…[${text.length} characters]`;
}

/** `text` as a JSON string that is safe to show, at most {@link maxFieldLength} characters of it. */
function quoted(text: string): string {
  return escaped(JSON.stringify(cut(text)));
}
