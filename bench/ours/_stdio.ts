/** The two sides of bench/protocol.ts: a line out, and waiting for the driver. */
import process from "node:process";

/** Writes one line. */
export function report(line: Readonly<Record<string, unknown>>): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** Resolves when the driver wants the next line. */
export async function asked(): Promise<void> {
  await new Promise((resolve) => process.stdin.once("data", resolve));
}

/** Resolves when the driver has closed our stdin. */
export async function inputEnded(): Promise<void> {
  await new Promise((resolve) => process.stdin.once("end", resolve).resume());
}
