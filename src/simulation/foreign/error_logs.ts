/**
 * Error logs of a program as a hint beside a finding: the lines that runs without faults do not print. Formats differ, so a line
 * counts as an error by what loggers of Go, Java and Python write.
 *
 * Caveats: a program that logs in another form has none. An error in a log breaks no invariant.
 */
import { shortened } from "../../observe/mod.ts";

const signs: readonly RegExp[] = [
  /"(?:level|severity|lvl)":\s*"(?:error|fatal|panic|dpanic|critical)"/i,
  /\b(?:level|lvl|severity)=(?:error|fatal|panic|critical)\b/i,
  // klog, and a panic of Go.
  /^[EF]\d{4} \d\d:\d\d/,
  /^(?:panic|fatal error): /,
  /\b(?:ERROR|FATAL|SEVERE|CRITICAL|PANIC)\b/,
  // The last line of a traceback of Python, and the first one of a stack trace of Java.
  /^(?:Exception in thread |(?:[\w$]+\.)*[\w$]*(?:Error|Exception)\b(?::|$))/,
];

/** Lines of stack traces and long values help nobody beside a finding. */
const maxCharacters = 300;
const maxKept = 200;
const maxShown = 5;

/** The lines of an output that report errors, oldest first. */
export function errorLines(output: string): readonly string[] {
  const lines = output.split("\n").filter((line) => signs.some((sign) => sign.test(line)));
  return lines.slice(-maxKept);
}

/** A line without what differs each time: times, numbers, ids. Equal errors have equal patterns. */
export function errorPattern(line: string): string {
  return line.replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, "#")
    .replaceAll(/\b[0-9a-f]*\d[0-9a-f]*\b/gi, "#")
    .replaceAll(/\d+/g, "#");
}

/** The errors that are not known, one line for each pattern, with how often it occurs. @param known patterns */
export function newErrors(lines: readonly string[], known: ReadonlySet<string>): readonly string[] {
  const counts = new Map<string, { readonly line: string; count: number }>();
  for (const line of lines) {
    const pattern = errorPattern(line);
    const entry = counts.get(pattern);
    if (entry !== undefined) entry.count++;
    else if (!known.has(pattern)) counts.set(pattern, { line, count: 1 });
  }
  return [...counts.values()].slice(0, maxShown).map(({ line, count }) => {
    const text = shortened(line, maxCharacters);
    return count === 1 ? text : `${text} (${count} times)`;
  });
}
