/** Runs the binary on a terminal, with typed input. `script` of util-linux creates the terminal, if it is installed. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import process from "node:process";
import { binaryPath } from "./_binary.ts";

/** Why a terminal is not available; undefined when it is. */
export const noTerminal: string | undefined = existsSync("/usr/bin/script") && process.platform === "linux"
  ? undefined
  : "script of util-linux is not installed";

/** The result of a session: stdout and stderr together. */
export interface TerminalEnding {
  readonly code: number;
  readonly shown: string;
}

/** Options of {@link onTerminal}. */
export interface TerminalOptions {
  readonly kubeconfig?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Typed as soon as `when` is shown: a text, or a pattern of all that was shown so far. */
  readonly answer?: { readonly when: string | RegExp; readonly text: string };
}

/** Runs the binary on a new terminal. */
export async function onTerminal(
  args: readonly string[],
  options: TerminalOptions = {},
): Promise<TerminalEnding> {
  const { kubeconfig, env = {}, answer } = options;
  const words = [binaryPath(), ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  // Without exec a shell would receive the Ctrl-C as well.
  const command = `exec ${words}`;
  const child = spawn("/usr/bin/script", ["--quiet", "--return", "--command", command, "/dev/null"], {
    stdio: ["pipe", "pipe", "pipe"],
    env: {
      PATH: process.env["PATH"] ?? "",
      HOME: "/nonexistent",
      TERM: "xterm",
      ...(kubeconfig === undefined ? {} : { KUBECONFIG: kubeconfig }),
      ...env,
    },
  });
  let [shown, isAnswered] = ["", false];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    shown += text;
    if (answer === undefined || isAnswered || !isShown(answer.when, shown)) return;
    isAnswered = true;
    child.stdin.write(answer.text);
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => shown += text);
  return await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      child.stdin.destroy();
      resolve({ code: code ?? 128, shown: shown.replaceAll("\r\n", "\n") });
    });
  });
}

function isShown(wanted: string | RegExp, shown: string): boolean {
  return typeof wanted === "string" ? shown.includes(wanted) : wanted.test(shown);
}
