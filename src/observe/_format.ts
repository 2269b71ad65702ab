/**
 * How a log record looks: a line of text for people, or a line of JSON for programs. Both come with their newline.
 *
 * Text is `time LEVEL category message key=value…`, in columns, as zap's development encoder has it. Stack traces
 * follow as indented lines, so that nothing in them can be taken for a record of its own.
 */
import type { LogLevel, LogRecord } from "@logtape/logtape";
import { cut, escaped, quoted } from "./_escape.ts";
import { isSecretName, mask, type Plain, redact, redactText } from "./redact.ts";

/** How records are written. */
export interface FormatOptions {
  /** Colours the level, for terminals. */
  readonly color: boolean;
  /** Adds the stack traces of errors. */
  readonly stacks: boolean;
}

/** Turns a record into a line. `at` is wall time in milliseconds. */
export type Format = (record: LogRecord, at: number, options: FormatOptions) => string;

const levelNames = {
  trace: "TRACE",
  debug: "DEBUG",
  info: "INFO",
  warning: "WARN",
  error: "ERROR",
  fatal: "FATAL",
} as const satisfies Record<LogLevel, string>;

const levelColors = {
  trace: "90",
  debug: "90",
  info: "36",
  warning: "33",
  error: "31",
  fatal: "31;1",
} as const satisfies Record<LogLevel, string>;

const categoryWidth = 12;
const messageWidth = 40;

/** For people. */
export const textFormat: Format = (record, at, { color, stacks }) => {
  const level = levelNames[record.level].padEnd(5);
  const fields = shownFields(record).map(([name, value]) => `${fieldName(name)}=${textValue(value)}`);
  const message = messageOf(record);
  const columns = [
    new Date(at).toISOString(),
    color ? `\u001b[${levelColors[record.level]}m${level}\u001b[0m` : level,
    categoryOf(record).padEnd(categoryWidth),
    fields.length === 0 ? message : message.padEnd(messageWidth),
    ...fields,
  ];
  const trace = stacks
    ? stacksOf(record).map((stack) => stack.split("\n").map((line) => `    ${escaped(line)}\n`))
    : [];
  return `${columns.join(" ")}\n${trace.flat().join("")}`;
};

/** For programs: one object per record. */
export const jsonFormat: Format = (record, at, { stacks }) => {
  const members: [string, string][] = [
    ["ts", quoted(new Date(at).toISOString())],
    ["level", quoted(levelNames[record.level].toLowerCase())],
    ["logger", quoted(categoryOf(record))],
    ["msg", quoted(messageOf(record))],
  ];
  const reserved = new Set(["ts", "level", "logger", "msg", "stack"]);
  for (const [name, value] of shownFields(record)) {
    members.push([reserved.has(name) ? `field.${name}` : name, jsonValue(value)]);
  }
  const traces = stacks ? stacksOf(record) : [];
  if (traces.length > 0) members.push(["stack", quoted(traces.join("\n"))]);
  return `{${members.map(([name, value]) => `${quoted(name)}:${value}`).join(",")}}\n`;
};

/** Fields as plain data without secrets; those that are undefined are left out. */
function shownFields(record: LogRecord): [string, Plain][] {
  const shown: [string, Plain][] = [];
  for (const [name, value] of Object.entries(record.properties)) {
    if (value !== undefined) shown.push([name, isSecretName(name) && value !== null ? mask : redact(value)]);
  }
  return shown;
}

function messageOf(record: LogRecord): string {
  // The template itself: what varies is in the fields, and braces in a message are just that.
  return escaped(cut(redactText(String(record.rawMessage))));
}

function categoryOf(record: LogRecord): string {
  return escaped(cut(record.category.slice(1).join(".")));
}

function fieldName(name: string): string {
  return /^[\w.\-/]{1,128}$/.test(name) ? name : quoted(name);
}

function textValue(value: Plain): string {
  if (typeof value !== "string") return jsonValue(value);
  return /^[\w.\-/:@+%*]{1,256}$/.test(value) ? value : quoted(value);
}

/** Valid JSON of bounded length: what is too long becomes a text that is cut. */
function jsonValue(value: Plain): string {
  if (typeof value === "string") return quoted(value);
  const json = JSON.stringify(value);
  return json.length === cut(json).length ? escaped(json) : quoted(json);
}

function stacksOf(record: LogRecord): string[] {
  const stacks: string[] = [];
  for (const value of Object.values(record.properties)) {
    for (let at = value, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++) {
      if (at.stack !== undefined) stacks.push(cut(redactText(at.stack)));
    }
  }
  return stacks;
}
