/**
 * Why a strategic merge patch is refused. Only some of what can be wrong with one is a 400 or 422 on the real server; the
 * rest it answers with 500 and the bare text, and so does this one.
 */
import { badRequest, type Draft, type DraftValue, Refusal } from "../model/mod.ts";
import { goPlain, goType } from "./_go_text.ts";

/** 400: a directive that is not written as it should be. */
export function badDirective(which: "primitive list" | "retainKeys" | "setElementOrder list"): Refusal {
  return badRequest(`invalid patch format of ${which}`);
}

/** 422. */
export function listOfLists(): Refusal {
  return new Refusal(422, "Invalid", "the server rejected our request due to an error in our request", {});
}

/** 500 with nothing but a text. */
export function failed(message: string): Refusal {
  return new Refusal(500, "", message);
}

/** An object or a list was wanted. */
export function badType(wanted: "object" | "list", value: DraftValue): Refusal {
  const expected = goType(wanted === "object" ? {} : []);
  return failed(`expected a ${expected}, but received a ${value === null ? "%!s(<nil>)" : goType(value)}`);
}

/** An item of a merged list cannot be told from the others. */
export function missingMergeKey(item: Draft, mergeKey: string): Refusal {
  return failed(`map: ${goPlain(item)} does not contain declared merge key: ${mergeKey}`);
}

/** `$patch` says something that is not known. */
export function badPatchType(directive: DraftValue, item: Draft): Refusal {
  return failed(`unknown patch type: ${goPlain(directive)} in map: ${goPlain(item)}`);
}
