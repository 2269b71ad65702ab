/**
 * A machine that refuses what the compiled binary needs: too few open files, closed standard streams, a full disk.
 *
 * The rules (behaviour 84): the command works, or ends with 1 to 5 and one line; the exit code is never 70, no stack
 * trace is printed, and a result that could not be written is no success.
 */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import process from "node:process";
import { run } from "../controlplane/run.ts";
import { assert, assertEquals, assertMatch, test } from "../testing.ts";
import { binaryPath } from "./_binary.ts";

/** Runs a line of a shell in which `$0` is the binary, with its own folder for temporary files. */
async function shell(
  line: string,
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const folder = mkdtempSync("/tmp/pintle-limits-");
  try {
    const env = { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent", KUBECONFIG: "", TMPDIR: folder };
    const result = await run("/bin/sh", ["-c", line, binaryPath()], { env });
    assert(result.kind === "ended");
    assertEquals(readdirSync(folder), [], line);
    return result;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function assertNoDefect({ code, stderr }: { readonly code: number; readonly stderr: string }, line: string): void {
  assert(code <= 5, `${line}: ${code}\n${stderr}`);
  assert(!/defect|^ +at /m.test(stderr), `${line}: ${stderr}`);
  if (code !== 0 && stderr !== "") assertMatch(stderr, /(^|\n)controller: Cannot [^\n]+\n$/);
}

const quickLines = [
  "version --client",
  "manifests",
  "--help",
  "completions bash",
  "install-crds --dry-run=client -o yaml",
  "run foo --server https://127.0.0.1:1 --connect-timeout 100ms",
  "doctor foo --server https://127.0.0.1:1 --connect-timeout 100ms",
  "dev foo --samples --until-settled --quiet",
];

const lines = [
  ...quickLines,
  `simulate foo --seeds 0 --faults crash --jobs 2 --workload "create"`,
];

test("[84] too few open files are an error of the machine, in every command", async () => {
  // Below 5 the runtime itself does not start.
  for (const files of [5, 8, 12, 16]) {
    for (const line of lines) assertNoDefect(await shell(`ulimit -n ${files}; exec "$0" ${line}`), `${files}: ${line}`);
  }
});

test("[84] closed standard streams are no defect, and change no exit code", async () => {
  for (const line of quickLines) {
    const { code } = await shell(`exec "$0" ${line}`);
    for (const streams of ["<&-", ">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-", "2>/dev/full"]) {
      const ended = await shell(`exec "$0" ${line} ${streams}`);
      assertNoDefect(ended, `${line} ${streams}`);
      assertEquals(ended.code, code, `${line} ${streams}: ${ended.stderr}`);
    }
  }
});

test("[84] a result that a full disk does not take is exit code 1", async () => {
  for (const line of lines) {
    const { code, stdout } = await shell(`exec "$0" ${line}`);
    const ended = await shell(`exec "$0" ${line} >/dev/full`);
    assertNoDefect(ended, line);
    assertEquals(ended.code, code === 0 && stdout !== "" ? 1 : code, `${line}: ${ended.stderr}`);
    if (code === 0) assertMatch(ended.stderr, /(^|\n)controller: Cannot print: ENOSPC[^\n]*\n$/);
  }
});
