/**
 * The keys of the queues over HTTP: pages of one or several states, as lists of Kubernetes are read: with `limit`, and with
 * `continue` from the page before.
 */
import type { Clock } from "../../async/mod.ts";
import { fromBase64, toBase64 } from "../../runtime/mod.ts";
import { jsonResponse, refuse } from "./debug_guard.ts";
import type { DebugState } from "./debug_state.ts";
import { type KeyPosition, type KeyStateName, keyStates } from "./key_states.ts";

/** The most keys of a page, and how many it has unless a client asks for less. */
const maxKeys = 1_000;
/** Longer than any controller's name and key, which have at most 253 characters each and a namespace of 63. */
const maxContinueChars = 4_096;

/** `/debug/keys?state=failing&state=parked&limit=100&continue=...` */
export function keysResponse(
  request: Request,
  { state, clock }: { readonly state: DebugState; readonly clock: Clock },
): Response {
  const { searchParams } = new URL(request.url);
  const states: KeyStateName[] = [];
  for (const given of searchParams.getAll("state")) {
    const name = keyStates.find((one) => one === given);
    if (name === undefined) return refuse(400, `state is none of ${keyStates.join(", ")}`);
    if (!states.includes(name)) states.push(name);
  }
  const limit = Number(searchParams.get("limit") ?? maxKeys);
  if (!(Number.isSafeInteger(limit) && limit >= 1 && limit <= maxKeys)) {
    return refuse(400, `limit is not a number from 1 to ${maxKeys}`);
  }
  const given = searchParams.get("continue");
  const after = given === null ? undefined : positionOf(given);
  if (given !== null && after === undefined) return refuse(400, "continue is not that of an answer");
  const { keys, remaining } = state.keys({ states, limit, ...(after === undefined ? {} : { after }) });
  const last = keys.at(-1);
  return jsonResponse(200, {
    now: clock.now(),
    isComplete: remaining === 0,
    remaining,
    ...(remaining === 0 || last === undefined ? {} : { continue: tokenOf(last) }),
    keys,
  });
}

function tokenOf({ controller, key }: KeyPosition): string {
  return toBase64(JSON.stringify([controller, key]), "base64url");
}

function positionOf(token: string): KeyPosition | undefined {
  if (token.length > maxContinueChars) return undefined;
  try {
    const bytes = fromBase64(token, "base64url");
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    if (!Array.isArray(value) || value.length !== 2) return undefined;
    const [controller, key]: readonly unknown[] = value;
    return typeof controller === "string" && typeof key === "string" ? { controller, key } : undefined;
  } catch {
    return undefined;
  }
}
