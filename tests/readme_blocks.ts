/**
 * The blocks of README.md (shell_blocks.ts) as tests: each one is run by bash in a copy of the repository, with a scratch home
 * folder and an embedded Kubernetes API as its cluster. Lines that run until Ctrl-C are ended by SIGINT when their
 * controllers run.
 */
import { spawn } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import process from "node:process";
import type { ShellBlock } from "./shell_blocks.ts";

const root = join(import.meta.dirname ?? ".", "..");

/** Copies what a reader of the README uses of the repository: not its tests, and no results of builds. */
export function copyRepository(to: string): void {
  const isCopied = (path: string) => !/\/(node_modules|\.git|dist|bench|tests)(\/|$)/.test(path.slice(root.length));
  cpSync(root, to, { recursive: true, filter: isCopied });
  symlinkSync(join(root, "node_modules"), join(to, "node_modules"));
}

/** A copy of the repository, in which blocks are run one after the other. */
export class ReadmeReader implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "pintle-readme-"));
  readonly #clone = join(this.#folder, "clone");

  constructor() {
    copyRepository(this.#clone);
    const [bin, home] = [join(this.#folder, "bin"), join(this.#folder, "home")];
    mkdirSync(bin);
    mkdirSync(home);
    this.#addProgram("controller", `exec deno run -A --no-check "${this.#clone}/main.ts" "$@"`);
    // Without the download: npx -y deno@VERSION is this Deno.
    this.#addProgram("npx", 'shift 2; exec deno "$@"');
  }

  /** Runs a block. @returns Its exit code and what it printed */
  async run(block: ShellBlock): Promise<{ readonly code: number; readonly output: string }> {
    const file = join(this.#folder, "block.sh");
    writeFileSync(file, scriptOf(block));
    const main = join(this.#clone, "main.ts");
    // One cluster for all lines of the block, as the reader has one.
    const args = ["run", "-A", "--no-check", main, "dev", "--quiet", "--", "bash", file];
    const env = {
      ...process.env,
      PATH: `${join(this.#folder, "bin")}${delimiter}${process.env["PATH"] ?? ""}`,
      HOME: join(this.#folder, "home"),
      DENO_DIR: process.env["DENO_DIR"] ?? join(process.env["HOME"] ?? "", ".cache", "deno"),
      NO_COLOR: "1",
    };
    const child = spawn(process.execPath, args, { cwd: this.#clone, env, stdio: "pipe" });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text: Uint8Array) => output += String(text));
    child.stdin.end();
    const code = await new Promise<number>((resolve) => child.once("close", (code) => resolve(code ?? 1)));
    return { code, output };
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #addProgram(name: string, command: string): void {
    const path = join(this.#folder, "bin", name);
    writeFileSync(path, `#!/bin/sh\n${command}\n`);
    chmodSync(path, 0o755);
  }
}

/** The end of a line that a user would end by Ctrl-C: its process group gets the signal, as from a terminal. */
const untilCtrlC = `
until_ctrl_c() {
  local log pid
  log=$(mktemp)
  "$@" >"$log" 2>&1 &
  pid=$!
  until grep -q "starting workers" "$log"; do
    kill -0 $pid 2>/dev/null || { cat "$log"; return 1; }
    sleep 0.1
  done
  kill -INT -- -$pid
  wait $pid || { cat "$log"; return 1; }
}`;

/** The block as a script that ends with the first line that fails. */
function scriptOf({ commands }: ShellBlock): string {
  // "set -e" does not see a failure in the middle of "a && b".
  const lines = commands.flatMap(({ text }) => text.split(" && ")).flatMap((command) => [
    `echo '> ${command.replaceAll("'", "")}'`,
    isEndless(command) ? `until_ctrl_c ${command}` : command,
  ]);
  return `set -euo pipefail; set -m${untilCtrlC}\n${lines.join("\n")}\n`;
}

function isEndless(command: string): boolean {
  return /^(\S+|deno task) (run|dev)\b/.test(command) && !/ -A .*\.ts| -- |--once|--until-settled/.test(command) ||
    command === "deno task dev";
}
