import { assert, assertEquals, assertStringIncludes, test } from "../../tests/testing.ts";
import { unreachable, UnreachableError } from "./unreachable_error.ts";

test("unreachable() maps errors of all runtimes to the same reasons", () => {
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
    [new DOMException("Timed out after 5 ms", "TimeoutError"), "timeout.noResponse"],
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
