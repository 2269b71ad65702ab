import { assert, assertEquals, test } from "../../tests/testing.ts";
import * as api from "./api_error.ts";

const { ApiError } = api;
const action = 'get Pod "a/b"';

test("each function that classifies an ApiError is true for its own reasons only", () => {
  const table: readonly (readonly [string, number, (error: unknown) => boolean])[] = [
    ["NotFound", 404, api.isNotFound],
    ["AlreadyExists", 409, api.isAlreadyExists],
    ["Conflict", 409, api.isConflict],
    ["Gone", 410, api.isGone],
    ["Expired", 410, api.isGone],
    ["Unauthorized", 401, api.isUnauthorized],
    ["Forbidden", 403, api.isForbidden],
    ["Invalid", 422, api.isInvalid],
    ["TooManyRequests", 429, api.isTooManyRequests],
    ["Timeout", 504, api.isTimeout],
    ["ServerTimeout", 500, api.isTimeout],
    ["InternalError", 500, api.isInternalError],
    ["ServiceUnavailable", 503, api.isInternalError],
  ];
  const predicates = new Set(table.map(([, , predicate]) => predicate));
  for (const [reason, code, own] of table) {
    const error = new ApiError({ code, reason }, { action });
    for (const predicate of predicates) {
      assertEquals(predicate(error), predicate === own, `${reason} ${predicate.name}`);
    }
  }
  for (const predicate of predicates) assertEquals(predicate(new Error("NotFound")), false);
});

test("a status without a reason implies one", () => {
  assert(api.isNotFound(new ApiError({ code: 404 }, { action })));
  // The error of a lister, whose class the client does not know.
  assert(api.isNotFound(Object.assign(new Error("not in the cache"), { code: 404, reason: "NotFound" })));
  assert(!api.isNotFound(Object.assign(new Error("x"), { reason: "NotFound" })) && !api.isNotFound(undefined));
  assert(api.isConflict(new ApiError({ code: 409 }, { action })));
  assertEquals(new ApiError({ code: 418 }, { action }).message, 'Cannot get Pod "a/b": no reason given (418)');
});

test("[1] a version the server does not have yet is recognized in all three wire formats", () => {
  const details = { causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }] };
  const formats = [
    { code: 504, reason: "Timeout", details },
    { code: 504, reason: "Timeout", details: { causes: [{ message: "Too large resource version" }] } },
    { code: 500, reason: "Timeout", message: "Too large resource version: 100, current: 5" },
  ];
  for (const status of formats) assert(api.isTooLargeResourceVersion(new ApiError(status, { action })));
  assert(!api.isTooLargeResourceVersion(new ApiError({ code: 504, reason: "Timeout" }, { action })));
});

test("[security 19] the message of an ApiError is on one line and has no control characters", () => {
  const error = new ApiError({ code: 500, message: "bad\u001b[2J\nline" }, { action });
  assertEquals(error.message, 'Cannot get Pod "a/b": bad line (500 InternalError)');
});
