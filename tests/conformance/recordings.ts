/**
 * Recordings: the responses of a real kube-apiserver to the cases, one file for each group, so that the embedded server can
 * be compared without a control plane. Written by `deno task conformance --record`.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ConformanceCase } from "./conformance_case.ts";
import type { Transcript } from "./transcript.ts";

/** True for a case that can be compared without a control plane. */
export function isRecorded(subject: ConformanceCase): boolean {
  return subject.needsKubectl !== true;
}

const folder = join(import.meta.dirname ?? ".", "recordings");

/** Writes the responses to the cases of a group: one line for each step, so that a diff shows single steps. */
export function writeRecording(group: string, transcripts: ReadonlyMap<string, Transcript>): void {
  const cases = [...transcripts].map(([name, steps]) => {
    const lines = steps.map((step) => `    ${JSON.stringify(step)}`);
    return `  ${JSON.stringify(name)}: [\n${lines.join(",\n")}\n  ]`;
  });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${group}.json`), `{\n${cases.join(",\n")}\n}\n`);
}

/** The recorded responses of a group, by the names of its cases. @throws Error when the file does not exist */
export function readRecording(group: string): ReadonlyMap<string, Transcript> {
  const recorded: Readonly<Record<string, Transcript>> = JSON.parse(
    readFileSync(join(folder, `${group}.json`), "utf8"),
  );
  return new Map(Object.entries(recorded));
}
