/**
 * The JUnit report of `simulate --junit`, which CI systems show as test results: a suite for each controller or program, a
 * passed case for each workload without a violation, and a failed one for each violation, with its text and replay line.
 *
 * Guarantees: the file is valid XML 1.0, whatever the texts have; names are equal from run to run as long as the findings are.
 */
import { writeFile } from "../../runtime/mod.ts";
import { CommandError, exitCode } from "../command/mod.ts";

/** One controller or program. */
export interface JUnitSuite {
  readonly name: string;
  readonly cases: readonly JUnitCase[];
  /** The time of the whole suite, if it is known. */
  readonly seconds?: number;
}

/** One workload that passed, or one violation. */
export interface JUnitCase {
  readonly name: string;
  /** @default it passed */
  readonly failure?: { readonly type: string; readonly message: string; readonly text: string };
}

/** A finding, as much as a report needs. */
export interface ReportedFinding {
  readonly workload: string;
  readonly violations: readonly { readonly invariant: string; readonly message: string }[];
  /** The whole text for people. */
  readonly text: string;
}

/** The cases of a suite: those of the findings, and one for each workload without any. */
export function casesOf(workloads: readonly string[], findings: readonly ReportedFinding[]): readonly JUnitCase[] {
  return workloads.flatMap((workload): readonly JUnitCase[] => {
    const failed = findings.filter((one) => one.workload === workload);
    if (failed.length === 0) return [{ name: workload }];
    return failed.map(({ violations: [first], text }, index) => {
      const type = first?.invariant ?? "violation";
      const number = failed.slice(0, index).filter(({ violations: [one] }) => one?.invariant === type).length + 1;
      return {
        name: `${workload}: ${type}${number === 1 ? "" : ` (${number})`}`,
        failure: { type, message: first?.message ?? "", text },
      };
    });
  });
}

/** The report as XML. */
export function junitXml(suites: readonly JUnitSuite[]): string {
  const all = suites.flatMap(({ cases }) => cases);
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="simulate"${countsOf(all)}>`,
    ...suites.flatMap(({ name, cases, seconds }) => [
      `  <testsuite name="${escaped(name)}"${countsOf(cases)}${
        seconds === undefined ? "" : ` time="${seconds.toFixed(3)}"`
      }>`,
      ...cases.flatMap((one) => caseLines(name, one)),
      "  </testsuite>",
    ]),
    "</testsuites>",
  ];
  return `${lines.join("\n")}\n`;
}

/** Writes the report. @throws CommandError when the file cannot be written */
export async function writeJUnit(path: string, suites: readonly JUnitSuite[]): Promise<void> {
  try {
    await writeFile(path, junitXml(suites), { mode: 0o644 });
  } catch (cause) {
    const state = cause instanceof Error ? cause.message : String(cause);
    throw new CommandError(`Cannot write "${path}": ${state}`, { code: exitCode.failed, cause });
  }
}

function countsOf(cases: readonly JUnitCase[]): string {
  const failures = cases.filter(({ failure }) => failure !== undefined).length;
  return ` tests="${cases.length}" failures="${failures}" errors="0" skipped="0"`;
}

function caseLines(suite: string, { name, failure }: JUnitCase): readonly string[] {
  const open = `    <testcase classname="${escaped(suite)}" name="${escaped(name)}"`;
  if (failure === undefined) return [`${open}/>`];
  const { type, message, text } = failure;
  return [
    `${open}>`,
    `      <failure type="${escaped(type)}" message="${escaped(message)}">${escapedText(text)}</failure>`,
    "    </testcase>",
  ];
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\r": "&#13;",
};

/** As the value of an attribute, in which a line break would become a space. */
function escaped(text: string): string {
  return escapedText(text).replaceAll(/[\t\n]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** XML has no form for most control characters and for half of a surrogate pair. */
function escapedText(text: string): string {
  return text.toWellFormed()
    .replaceAll(/[\p{Cc}\ufffe\uffff]/gu, (character) => /[\t\n\r]/.test(character) ? character : "\ufffd")
    .replaceAll(/[&<>"\r]/g, (character) => entities[character] ?? character);
}
