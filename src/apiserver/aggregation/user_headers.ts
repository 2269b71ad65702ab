/** The fields by which an aggregated API server learns who sent a request (client-go `transport`, auth proxy). */
import type { HeaderLines } from "../../runtime/mod.ts";
import type { User } from "../model/mod.ts";

/** The fields of a user, each value on its own line. */
export function userHeaders({ name, uid, groups, extra }: User): HeaderLines {
  return {
    "x-remote-user": [name],
    ...(uid === "" ? {} : { "x-remote-uid": [uid] }),
    ...(groups.length === 0 ? {} : { "x-remote-group": groups }),
    ...Object.fromEntries([...extra].map(([key, values]) => [`x-remote-extra-${escapedKey(key)}`, values])),
  };
}

/** True for a field of a user, which no client may set. */
export function isUserHeader(name: string): boolean {
  return name === "x-remote-user" || name === "x-remote-uid" || name === "x-remote-group" ||
    name.startsWith("x-remote-extra-");
}

/** Percent and what may not be in the name of a field. */
function escapedKey(key: string): string {
  return [...new TextEncoder().encode(key)].map((byte) => {
    const character = String.fromCharCode(byte);
    if (/[\w!#$&'*+.^`|~-]/.test(character)) return character;
    return `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }).join("").toLowerCase();
}
