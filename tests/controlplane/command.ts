/**
 * Commands that use a control plane: when the process that started them ends for any reason, the watchdog of the control
 * plane ends them as well.
 */

/** The command, which stores its process id in `pidPath` before it runs. The watchdog reads `DIR/run/*.pid`. */
export function withPidFile(command: readonly string[], pidPath: string): readonly [string, ...string[]] {
  return ["/bin/sh", "-c", 'echo $$ >"$0" && exec "$@"', pidPath, ...command];
}
