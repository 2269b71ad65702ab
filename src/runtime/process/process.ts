/**
 * This process: which runtime runs it, its environment, its arguments, its machine, and the events that end it.
 *
 * Everything that depends on the environment takes an Environment as a parameter, so that a test passes its own.
 */
import { readFileSync } from "node:fs";
import { homedir, hostname } from "node:os";
import process from "node:process";
import { setImmediate } from "node:timers";

/**
 * The runtime of this process. Use it only in bug reports and where the runtimes differ, in this folder; code above this
 * folder must not depend on it.
 */
export const runtimeName: "deno" | "bun" | "node" = "Bun" in globalThis
  ? "bun"
  : "Deno" in globalThis
  ? "deno"
  : "node";

/** The version of the runtime, e.g. `1.4.5`. */
export const runtimeVersion: string = process.versions[runtimeName] ?? "unknown";

/** Environment variables by name. Undefined if not set; "" is a value. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A copy of the environment of this process. It has no prototype, because the names come from outside. */
export function environment(): Environment {
  return Object.assign(Object.create(null), process.env);
}

/** The arguments of the program, the same under `deno run`, `bun run` and in a compiled binary. */
export function programArguments(): readonly string[] {
  return process.argv.slice(2);
}

/** The home folder of the user: `$HOME`, else the entry of the system. Undefined if neither exists. */
export function homeDirectory(environment: Environment): string | undefined {
  const home = environment.HOME;
  if (home !== undefined && home !== "") return home;
  try {
    return homedir() || undefined;
  } catch {
    return undefined; // A user id without an entry in the password file, as in containers.
  }
}

/** Facts about the process and its machine that do not change while it runs. */
export interface ProcessFacts {
  readonly pid: number;
  /** The name of the machine; in a Pod, the name of the Pod. */
  readonly hostname: string;
  /** In the spelling of Go: `linux`, `darwin`, `windows`. */
  readonly os: string;
  /** In the spelling of Go: `amd64`, `arm64`. */
  readonly arch: string;
  /** Absolute path of the running program: the compiled binary, or the runtime. */
  readonly executable: string;
  readonly workingDirectory: string;
}

/** Reads the facts. */
export function processFacts(): ProcessFacts {
  return {
    pid: process.pid,
    hostname: hostname(),
    os: process.platform === "win32" ? "windows" : process.platform,
    arch: process.arch === "x64" ? "amd64" : process.arch,
    executable: process.execPath,
    workingDirectory: process.cwd(),
  };
}

/** The signals that a server handles. */
export type SignalName = "SIGINT" | "SIGTERM" | "SIGHUP" | "SIGUSR1" | "SIGUSR2" | "SIGQUIT";

/** Linux tells which signals the parent has told this process to ignore, as `nohup` does with SIGHUP. */
function isHangupIgnored(): boolean {
  try {
    const ignored = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "0";
    return (BigInt(`0x${ignored}`) & 1n) === 1n;
  } catch {
    return false;
  }
}

/**
 * Calls `react` for each of `signals`, except for a SIGHUP that was ignored when the process started. Until the subscription is disposed, these signals do not end the process.
 *
 * @returns Dispose it to end the subscription.
 */
export function onSignal(signals: readonly SignalName[], react: (signal: SignalName) => void): Disposable {
  const heard = signals.filter((signal) => signal !== "SIGHUP" || !isHangupIgnored());
  const listeners = heard.map((signal) => ({ signal, listener: () => react(signal) }));
  for (const { signal, listener } of listeners) process.on(signal, listener);
  return {
    [Symbol.dispose]: () => {
      for (const { signal, listener } of listeners) process.off(signal, listener);
    },
  };
}

/**
 * Calls `react` for each rejected promise and each thrown error that no code handled. Until the subscription is
 * disposed, the runtime does not end the process for such an error, so `react` must do it (behaviour 89).
 *
 * @returns Dispose it to end the subscription.
 */
export function onUnhandledRejection(react: (error: unknown) => void): Disposable {
  const rejected = (reason: unknown) => react(reason);
  const thrown = (error: unknown) => react(error);
  process.on("unhandledRejection", rejected);
  process.on("uncaughtException", thrown);
  return {
    [Symbol.dispose]: () => {
      process.off("unhandledRejection", rejected);
      process.off("uncaughtException", thrown);
    },
  };
}

/**
 * Resolves in the next turn of the event loop, after it has handled its sockets and timers once. Code that awaits only
 * promises never lets the event loop turn, so sockets and timers would wait for it.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

/**
 * Collects the garbage of this process now. It takes as long as the live objects need, so it is for rare moments after large
 * work. Without effect on Deno, which offers no way.
 */
export function collectGarbage(): void {
  collector()?.(true);
}

/** True if {@link collectGarbage} has an effect. */
export function canCollectGarbage(): boolean {
  return collector() !== undefined;
}

function collector(): ((isNow: boolean) => void) | undefined {
  const bun: unknown = Reflect.get(globalThis, "Bun");
  if (typeof bun !== "object" || bun === null) return undefined;
  const collect: unknown = Reflect.get(bun, "gc");
  return typeof collect === "function" ? (isNow) => void collect(isNow) : undefined;
}

/** Ends this process. */
export function exitProcess(code: number): never {
  process.exit(code);
}
