/**
 * Watchdog: ends the daemons of a folder when the process that started them has ended for any reason: return, error,
 * Ctrl-C, SIGKILL.
 *
 * A shell in a separate session reads a pipe whose other end only this process has. When that end closes, it ends
 * every process whose id is in `DIR/run/*.pid` (SIGTERM, after five seconds SIGKILL) and, when none of them is left,
 * removes the folder. After a normal end the folder does not exist any more, and the shell exits.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

const script = `
cat >/dev/null
tries=0
while [ -d "$1" ] && [ "$tries" -lt 600 ]; do
  name=TERM
  [ "$tries" -lt 50 ] || name=KILL
  alive=no
  for file in "$1"/run/*.pid; do
    [ -f "$file" ] && kill "-$name" "$(cat "$file")" 2>/dev/null && alive=yes
  done
  # What still runs may write into the folder while it is removed.
  [ "$alive" = no ] && rm -rf "$1"
  [ -d "$1" ] || break
  tries=$((tries + 1))
  sleep 0.1
done
rm -rf "$1"
`;

/** Watches one folder of daemons until it is disposed. */
export class Watchdog implements AsyncDisposable {
  readonly #child: ChildProcess;

  /** @param dir The folder, absolute. It is removed when this process ends. */
  constructor(dir: string) {
    this.#child = spawn("/bin/sh", ["-c", script, "pintle-watchdog", dir], {
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
