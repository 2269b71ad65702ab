/** The user's home folder: where `.kube/config` is looked for. */
import { homedir } from "node:os";
import type { Environment } from "./environment.ts";

/** `$HOME`, else what the system says of the user; undefined when neither knows. */
export function homeDirectory(environment: Environment): string | undefined {
  const home = environment.HOME;
  if (home !== undefined && home !== "") return home;
  try {
    return homedir() || undefined;
  } catch {
    return undefined; // a user id without an entry in the password file, as containers have
  }
}
