/**
 * Continue tokens: where the next page of a list begins, and of which revision it is. Opaque to clients; the form is that
 * of apiserver `storage/continue.go`, errors included.
 */
import { badRequest, jsonError } from "../model/mod.ts";

/** Where a page begins. */
export interface ContinueToken {
  /** First key that may be in the page. */
  readonly from: string;
  /** The revision of the whole list; undefined for "as it is now", after the consistent one expired. */
  readonly revision: number | undefined;
}

const tokenVersion = "meta.k8s.io/v1";

/** The page after the item with `key`. */
export function continueAfter(key: string, revision: number): string {
  return encodeContinue({ from: `${key}\0`, revision });
}

/** A token as text. */
export function encodeContinue(token: ContinueToken): string {
  const text = JSON.stringify({ v: tokenVersion, rv: token.revision ?? -1, start: token.from });
  const bytes = new TextEncoder().encode(text);
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

/** @throws Refusal 400 when it is no token of ours */
export function decodeContinue(text: string): ContinueToken {
  const token = parsed(text);
  const { v, rv, start } = token;
  if (v !== tokenVersion) {
    throw invalidToken(`server does not recognize this encoded version ${typeof v === "string" ? v : ""}`);
  }
  if (typeof rv !== "number" || !Number.isSafeInteger(rv) || rv === 0) {
    throw invalidToken(`incorrect encoded start resourceVersion (version ${tokenVersion})`);
  }
  if (typeof start !== "string" || start === "") {
    throw invalidToken(`encoded start key empty (version ${tokenVersion})`);
  }
  const key = start.startsWith("/") ? start : `/${start}`;
  if (key.split("/").slice(1).some((part) => part === "" || part === "." || part === "..")) {
    throw badRequest(`invalid continue token: continue key is not valid: ${start}`);
  }
  return { from: key.slice(1), revision: rv < 0 ? undefined : rv };
}

function parsed(text: string): { v?: unknown; rv?: unknown; start?: unknown } {
  const json = decoded(text);
  if (json === undefined) throw invalidToken("illegal base64 data");
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === "object" && value !== null) return value;
  } catch {
    throw invalidToken(jsonError(json));
  }
  throw invalidToken("json: cannot unmarshal value into Go value of type storage.continueToken");
}

function decoded(text: string): string | undefined {
  try {
    return new TextDecoder().decode(Uint8Array.fromBase64(text, { alphabet: "base64url" }));
  } catch {
    return undefined;
  }
}

function invalidToken(why: string): Error {
  return badRequest(`invalid continue token: continue key is not valid: ${why}`);
}
