/** The users of the system: how ServiceAccounts are called, and what everybody who is known is. */
import type { User } from "../model/mod.ts";

const nothing: ReadonlyMap<string, readonly string[]> = new Map();

/** The group of everybody who has proved who they are. */
export const authenticated = "system:authenticated";

/** A ServiceAccount as a user. */
export function serviceAccountUser(namespace: string, name: string, uid: string): User {
  const groups = ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, authenticated];
  return { name: `system:serviceaccount:${namespace}:${name}`, uid, groups, extra: nothing };
}

/** Somebody by name and groups, who counts as authenticated. */
export function knownUser(name: string, groups: readonly string[] = [], uid = ""): User {
  return { name, uid, groups: groups.includes(authenticated) ? groups : [...groups, authenticated], extra: nothing };
}
