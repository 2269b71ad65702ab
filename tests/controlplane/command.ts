/**
 * Commands that use a control plane: when the process that started them ends for any reason, the watchdog of the control
 * plane ends them as well.
 */
import { spawn } from "node:child_process";
import { constants } from "node:os";
import process from "node:process";

/** The command, which stores its process id in `pidPath` before it runs. The watchdog reads `DIR/run/*.pid`. */
export function withPidFile(command: readonly string[], pidPath: string): readonly [string, ...string[]] {
  return ["/bin/sh", "-c", 'echo $$ >"$0" && exec "$@"', pidPath, ...command];
}

/** Runs a command to its end and returns its exit code. It gets Ctrl-C from the terminal and SIGTERM from us; we end after it. */
export async function runCommand(
  command: readonly string[],
  environment: Readonly<Record<string, string>>,
  pidPath: string,
): Promise<number> {
  const [shell, ...args] = withPidFile(command, pidPath);
  const forward = () => child.pid !== undefined && process.kill(child.pid, "SIGTERM"); // see Daemon on child.kill
  const ignore = () => {};
  process.on("SIGTERM", forward).on("SIGINT", ignore); // before the command can tell anybody that it runs
  const child = spawn(shell, args, {
    stdio: "inherit",
    env: { ...process.env, ...environment },
  });
  const code = await new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  });
  process.off("SIGTERM", forward).off("SIGINT", ignore);
  return code;
}

/** Resolves when this process is told to end. */
export function interrupted(): Promise<void> {
  return new Promise((resolve) => {
    process.once("SIGINT", () => resolve());
    process.once("SIGTERM", () => resolve());
  });
}
