/**
 * Ends the processes of a control plane when the process that started them has ended for any reason: return, error,
 * Ctrl-C, SIGKILL.
 *
 * A shell in a separate session reads a pipe whose other end only the harness has. When that end closes, it ends
 * every process whose id is in `DIR/run/*.pid` (SIGTERM, after five seconds SIGKILL) and removes the folder. After
 * a normal end the folder does not exist any more, and the shell exits.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

const script = `
cat >/dev/null
signal() { for file in "$1"/run/*.pid; do [ -f "$file" ] && kill "-$2" "$(cat "$file")" 2>/dev/null; done; }
tries=50
while [ -d "$1" ] && [ "$tries" -gt 0 ]; do
  signal "$1" TERM
  alive=no
  for file in "$1"/run/*.pid; do [ -f "$file" ] && kill -0 "$(cat "$file")" 2>/dev/null && alive=yes; done
  [ "$alive" = no ] && break
  tries=$((tries - 1))
  sleep 0.1
done
[ -d "$1" ] && signal "$1" KILL
rm -rf "$1"
`;

/** Watches one control plane's folder until it is disposed. */
export class Watchdog implements AsyncDisposable {
  readonly #child: ChildProcess;

  /** @param dir The control plane's folder, absolute. It is removed when this process ends. */
  constructor(dir: string) {
    this.#child = spawn("/bin/sh", ["-c", script, "pintle-controlplane-watchdog", dir], {
      stdio: ["pipe", "ignore", "ignore"],
      detached: true,
    });
    this.#child.unref();
  }

  /** Closes the pipe. The folder and its processes should not exist any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.ref();
    const exited = once(this.#child, "exit");
    this.#child.stdin?.end();
    await exited;
  }
}
