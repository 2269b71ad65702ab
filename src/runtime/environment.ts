/**
 * The environment variables of this process, as a snapshot: whoever depends on one takes it as a parameter, so a test
 * passes its own.
 */
import process from "node:process";

/** Names and values. Absent is undefined; "" is a value. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A copy of this process's environment. Without a prototype, since names come from outside. */
export function environment(): Environment {
  return Object.assign(Object.create(null), process.env);
}
