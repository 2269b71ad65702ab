/**
 * maxConnectionsOf(): the connections of one server, in a process that may open only few files. Bun 1.4.5 is busy without
 * end while it cannot accept a connection for lack of a file, and Deno 2.9.6 then accepts no more or panics.
 *
 * Caveats: on Deno a burst can still reach the limit, between accepting connections and closing them. On other systems than
 * Linux the limit of the process is not known, and `maxConnections` holds.
 */
import { readFileSync } from "node:fs";

/** The part of the files that the connections of one server may be: there are three servers, clients and files. */
const part = 1 / 4;

/** `maxConnections`, or less if the process may open fewer than four times as many files. At least 1. */
export function maxConnectionsOf(maxConnections: number, limits: string = processLimits()): number {
  const maxFiles = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
  return maxFiles === undefined
    ? maxConnections
    : Math.max(1, Math.min(maxConnections, Math.floor(Number(maxFiles) * part)));
}

function processLimits(): string {
  try {
    return readFileSync("/proc/self/limits", "utf8");
  } catch {
    return "";
  }
}
