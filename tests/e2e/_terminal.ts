/** Runs the binary on a terminal, with typed input. `script` of util-linux creates the terminal, if it is installed. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync, readlinkSync } from "node:fs";
import process from "node:process";
import { until } from "../controlplane/mod.ts";
import { TinyTerminal } from "../fakes/terminal.ts";
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

/** The binary on a terminal that stays: a test types, resizes it and sends signals, and looks at its screen. */
export class TerminalSession implements AsyncDisposable {
  readonly screen: TinyTerminal;
  readonly #child: ChildProcess;
  readonly #closed: Promise<void>;
  #before = "";
  #after = "";

  constructor(
    args: readonly string[],
    { rows, columns, env = {} }: {
      readonly rows: number;
      readonly columns: number;
      readonly env?: Readonly<Record<string, string>>;
    },
  ) {
    this.screen = new TinyTerminal({ rows, columns });
    const words = [binaryPath(), ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
    // The shell says how the terminal was before and is after the program; it ignores what is meant for the program.
    const script = `stty rows ${rows} cols ${columns}; before=$(stty -g); trap : INT QUIT; ${words}; code=$?; ` +
      `echo "ended with $code"; [ "$(stty -g)" = "$before" ] && echo "modes restored"`;
    this.#child = spawn("/usr/bin/script", ["--quiet", "--return", "--command", script, "/dev/null"], {
      stdio: ["pipe", "pipe", "inherit"],
      env: { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent", TERM: "xterm", SHELL: "/bin/sh", ...env },
    });
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => this.#received(text));
    this.#closed = new Promise((resolve) => this.#child.once("close", () => resolve()));
  }

  /** What was written outside of the second buffer: the messages, and what the shell says at the end. */
  get text(): string {
    return `${this.#before}${this.#after}`.replaceAll("\r\n", "\n");
  }

  /** What the screen shows. */
  get shown(): string {
    return this.screen.lines.map((line) => line.trimEnd()).join("\n");
  }

  /** Waits until the screen shows it. */
  async shows(pattern: RegExp): Promise<void> {
    await until(
      `see ${pattern} on the terminal`,
      () =>
        pattern.test(this.shown) ? { kind: "found", value: undefined } : {
          kind: "pending",
          state: `it shows\n${this.shown}\n${this.text}`,
        },
    );
  }

  type(text: string): void {
    this.#child.stdin?.write(text);
  }

  /** Gives the terminal another size. */
  resize(rows: number, columns: number): void {
    this.screen.rows = rows;
    this.screen.columns = columns;
    this.screen.lines = Array.from({ length: rows }, () => "");
    execFileSync("stty", [
      "-F",
      readlinkSync(`/proc/${this.#program()}/fd/0`),
      "rows",
      `${rows}`,
      "cols",
      `${columns}`,
    ]);
  }

  /** Sends a signal to the program, not to the shell. */
  signal(name: "SIGTERM" | "SIGINT" | "SIGHUP" | "SIGQUIT"): void {
    process.kill(this.#program(), name);
  }

  /** Waits until the program and the shell have ended. @returns what they have written outside of the second buffer */
  async ended(): Promise<string> {
    await this.#closed;
    return this.text;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    this.#child.stdin?.destroy();
    await this.#closed;
  }

  /** The second buffer is between two sequences; what is outside of it is text. */
  #received(text: string): void {
    const [enter, leave] = ["\u001b[?1049h", "\u001b[?1049l"];
    // deno-lint-ignore no-control-regex
    for (const part of text.split(/(\u001b\[\?1049[hl])/)) {
      if (part === enter || part === leave || this.screen.modes.has("?1049")) this.screen.write(part);
      else if (this.screen.writes === 0) this.#before += part;
      else this.#after += part;
    }
  }

  /** The process of the program: the child of the shell, which is the child of `script`. */
  #program(): number {
    const childrenOf = (pid: number) =>
      readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").map(Number);
    const [shell = 0] = childrenOf(this.#child.pid ?? 0);
    const found = childrenOf(shell).find((pid) =>
      readFileSync(`/proc/${pid}/cmdline`, "utf8").startsWith(binaryPath())
    );
    if (found === undefined) throw new Error("Cannot find the program: the shell has no such child");
    return found;
  }
}
