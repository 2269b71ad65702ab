/**
 * Files of a Pod for a program on this machine: host names of Services, and the folder of the service account. They are mounted
 * over the real ones, in a mount namespace of the program's own, so that nothing else on the machine sees them.
 *
 * Caveats: Linux with unprivileged user namespaces. The program is not forked: a signal to the started process reaches it.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What the program finds in its namespace. */
export interface PrivateFiles {
  /** A folder for the files. */
  readonly dir: string;
  /** Names that resolve to 127.0.0.1. */
  readonly hosts: readonly string[];
  /** The contents of the folder of the service account by file name. */
  readonly account: Readonly<Record<"namespace" | "token" | "ca.crt", string>>;
}

const accountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";

const script = [
  'hosts="$1"; account="$2"; shift 2',
  'mount --bind "$hosts" /etc/hosts || exit 125',
  // The folder is made in a copy of /run that only this namespace has.
  "mount -t tmpfs none /run 2>/dev/null",
  `mkdir -p ${accountFolder} 2>/dev/null && mount --bind "$account" ${accountFolder} || exit 125`,
  'exec "$@"',
].join("; ");

/** Writes the files. @returns The command that starts `command` where it finds them */
export function withPrivateFiles(command: readonly string[], { dir, hosts, account }: PrivateFiles): readonly string[] {
  const hostsPath = join(dir, "hosts");
  const accountPath = join(dir, "serviceaccount");
  mkdirSync(accountPath, { recursive: true, mode: 0o700 });
  for (const [name, text] of Object.entries(account)) writeFileSync(join(accountPath, name), text, { mode: 0o600 });
  writeFileSync(hostsPath, ["localhost", ...hosts].map((host) => `127.0.0.1 ${host}\n`).join(""));
  return ["unshare", "-rm", "sh", "-c", script, "sh", hostsPath, accountPath, ...command];
}
