/** isServed(): whether the API server serves a kind, by its discovery document, which everybody who is logged in may read. */
import type { Resource } from "../api/mod.ts";
import { isForbidden, isNotFound } from "../client/mod.ts";
import { z } from "zod";
import type { Connection } from "./connection.ts";

/** A kind, as far as discovery knows it. */
export type ServedKind = Pick<Resource, "group" | "version" | "plural">;

const discoveryAnswer = z.object({ resources: z.array(z.object({ name: z.string() })) });

/** Looks the kind up; where discovery is forbidden or odd, it counts as served, since nothing says otherwise. */
export async function isServed(connection: Connection, kind: ServedKind, signal: AbortSignal): Promise<boolean> {
  const root = kind.group === "" ? "/api" : `/apis/${kind.group}`;
  try {
    const text = await connection.client.raw(`${root}/${kind.version}`, { signal });
    const answer = discoveryAnswer.safeParse(JSON.parse(text));
    return !answer.success || answer.data.resources.some(({ name }) => name === kind.plural);
  } catch (error) {
    if (isNotFound(error)) return false;
    if (isForbidden(error)) return true;
    throw error;
  }
}
