/**
 * Recordings: what a real kube-apiserver answered to the cases, one file for each group, so that the embedded server can be
 * compared where no control plane is. Written by `deno task conformance --record`.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ConformanceCase } from "./conformance_case.ts";
import type { Transcript } from "./transcript.ts";

/** True for a case that can be compared where no control plane is. */
export function isRecorded(subject: ConformanceCase): boolean {
  return subject.needsKubectl !== true;
}

const folder = join(import.meta.dirname ?? ".", "recordings");

/** Writes what was answered to the cases of a group: one line for each step, so that a change of one shows as one. */
export function writeRecording(group: string, transcripts: ReadonlyMap<string, Transcript>): void {
  const cases = [...transcripts].map(([name, steps]) => {
    const lines = steps.map((step) => `    ${JSON.stringify(step)}`);
    return `  ${JSON.stringify(name)}: [\n${lines.join(",\n")}\n  ]`;
  });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${group}.json`), `{\n${cases.join(",\n")}\n}\n`);
}

/** What was answered to the cases of a group, by their names. @throws Error when there is no such file */
export function readRecording(group: string): ReadonlyMap<string, Transcript> {
  const recorded: Readonly<Record<string, Transcript>> = JSON.parse(
    readFileSync(join(folder, `${group}.json`), "utf8"),
  );
  return new Map(Object.entries(recorded));
}
