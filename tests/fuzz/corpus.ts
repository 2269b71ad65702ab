/** The inputs in the repository: corpus/TARGET reaches the code of a target, regressions/TARGET once broke it. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A file with one input. */
export interface InputFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** The kinds of input files. */
export type InputKind = "corpus" | "regressions";

function folderOf(kind: InputKind, target: string): string {
  return join(import.meta.dirname ?? ".", kind, target);
}

/** The inputs of a target, by name. */
export function readInputs(kind: InputKind, target: string): readonly InputFile[] {
  const folder = folderOf(kind, target);
  if (!existsSync(folder)) return [];
  return readdirSync(folder).sort().map((name) => ({ name, bytes: new Uint8Array(readFileSync(join(folder, name))) }));
}

/** Writes an input, named by its content. @returns the path */
export function writeInput(kind: InputKind, target: string, bytes: Uint8Array): string {
  const folder = folderOf(kind, target);
  mkdirSync(folder, { recursive: true });
  const path = join(folder, createHash("sha256").update(bytes).digest("hex").slice(0, 12));
  writeFileSync(path, bytes);
  return path;
}

/** Makes the files of the corpus the given inputs and no others. */
export function writeCorpus(target: string, inputs: readonly Uint8Array[]): void {
  rmSync(folderOf("corpus", target), { recursive: true, force: true });
  for (const bytes of inputs) writeInput("corpus", target, bytes);
}
