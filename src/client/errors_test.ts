/** What goes wrong, in words: answers of the server, connections, text that would harm a terminal. */
import { inspect } from "node:util";
import { assert, assertEquals, assertStringIncludes, test } from "../../tests/testing.ts";
import { printable } from "./_printable.ts";
import { statusOf } from "./_requester.ts";
import { retryAfterMs } from "./_retry_after.ts";
import { warningTexts } from "./_warnings.ts";
import * as api from "./api_error.ts";
import { Masked } from "./masked.ts";
import { unreachable, UnreachableError } from "./unreachable_error.ts";

const { ApiError } = api;
const action = 'get Pod "a/b"';

test("every question about an ApiError is answered yes by its own reason alone", () => {
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
  const questions = new Set(table.map(([, , question]) => question));
  for (const [reason, code, own] of table) {
    const error = new ApiError({ code, reason }, { action });
    for (const question of questions) assertEquals(question(error), question === own, `${reason} ${question.name}`);
  }
  for (const question of questions) assertEquals(question(new Error("NotFound")), false);
});

test("a bare status implies its reason", () => {
  assert(api.isNotFound(new ApiError({ code: 404 }, { action })));
  // What a lister throws, without the client knowing its class.
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

test("[81] a body that is no Status becomes one: a page of HTML, half a Status, nothing", () => {
  const page = "<html><head><style>b{}</style></head><body><h1>502 Bad Gateway</h1>\n<p>nginx</p></body></html>";
  assertEquals(statusOf(page, 502).message, "502 Bad Gateway nginx");
  assertEquals(statusOf('{"kind":"Status","code":40', 404).reason, "NotFound");
  assertEquals(statusOf("", 503), {
    kind: "Status",
    status: "Failure",
    code: 503,
    reason: "ServiceUnavailable",
    message: "the answer has no text",
  });
  assertEquals(statusOf('{"kind":"Status","reason":"Conflict"}', 409).code, 409);
  assert((statusOf("x".repeat(100_000), 500).message ?? "").length <= 512);
  assert((statusOf("<".repeat(60_000), 500).message ?? "").length <= 512);
});

test("[security 19] text of the server is shown without control characters, on one line, bounded", () => {
  assertEquals(printable("a\u001b[31mred\u001b[0m\r\nb\u0007\u202ec"), "ared b c");
  assertEquals(printable("\u001b]0;title\u0007x\u001b]8;;http://evil\u001b\\y"), "xy");
  assertEquals(printable("x".repeat(2000)).length, 1025);
  const error = new ApiError({ code: 500, message: "bad\u001b[2J\nline" }, { action });
  assertEquals(error.message, 'Cannot get Pod "a/b": bad line (500 InternalError)');
});

test("[74] Retry-After is read in seconds and capped at five minutes", () => {
  const read = (text: string) => retryAfterMs(new Headers({ "retry-after": text }));
  assertEquals([read("0"), read("7"), read("1000000000"), read("99999999999999999999")], [0, 7000, 300_000, 300_000]);
  assertEquals([read("soon"), read("-1"), read("1.5"), retryAfterMs(new Headers())], [
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

test("the server's warnings are taken out of their header", () => {
  const header = '299 - "apps/v1beta1 Deployment is deprecated", 299 - "unknown field \\"spec.x\\"", 199 - "cache"';
  assertEquals(warningTexts(header), ["apps/v1beta1 Deployment is deprecated", 'unknown field "spec.x"']);
  assertEquals(warningTexts('299 - "never ends'), []);
});

test("what the runtimes call trouble gets one vocabulary", () => {
  const withCode = (code: string) => Object.assign(new TypeError("fetch failed"), { code });
  const cases: readonly (readonly [unknown, string])[] = [
    [withCode("ECONNREFUSED"), "unreachable.refused"],
    [new TypeError("fetch failed", { cause: withCode("ECONNRESET") }), "unreachable.reset"],
    [withCode("ENOTFOUND"), "unreachable.nameNotFound"],
    [withCode("ERR_PROXY"), "unreachable.proxy"],
    [withCode("SELF_SIGNED_CERT_IN_CHAIN"), "tls.unknownAuthority"],
    [withCode("CERT_HAS_EXPIRED"), "tls.expired"],
    [withCode("ERR_TLS_CERT_ALTNAME_INVALID"), "tls.wrongName"],
    [new TypeError("invalid peer certificate: UnknownIssuer"), "tls.unknownAuthority"],
    [new TypeError("received corrupt message of type InvalidContentType"), "tls.notTls"],
    [new DOMException("Timed out after 5 ms", "TimeoutError"), "timeout.noAnswer"],
    [new Error("something new"), "unreachable.other"],
    ["not even an error", "unreachable.other"],
  ];
  for (const [error, expected] of cases) {
    const { reason } = unreachable(error, "get Pod");
    assertEquals(`${reason.kind}.${reason.detail}`, expected);
  }
  const refused = unreachable(withCode("ECONNREFUSED"), "get Pod");
  assertEquals(refused.message, "Cannot get Pod: the connection was refused");
  assertStringIncludes(refused.hint, "`server`");
  assertEquals(unreachable(refused, "something else"), refused);
  assert(refused instanceof UnreachableError);
});

test("[security 5] a masked text shows itself only to who asks", () => {
  const secret = "canary-9f3b";
  const holder = { token: new Masked(secret), list: [new Masked(secret)] };
  const shown = [
    JSON.stringify(holder),
    `${holder.token}`,
    String(holder.list),
    inspect(holder, { depth: 9, showHidden: true }),
  ];
  for (const text of shown) assert(!text.includes(secret), text);
  assertEquals(holder.token.reveal(), secret);
});
