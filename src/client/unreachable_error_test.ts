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

test("unreachable() knows the alert of a server that refuses the handshake, as each TLS library says it", () => {
  const messages = {
    "certificate required": [
      "C06C:error:0A00045C:SSL routines:ssl3_read_bytes:tlsv13 alert certificate required:ssl/record/rec_layer_s3.c:1:",
      "error:1000045c:SSL routines:OPENSSL_internal:TLSV1_ALERT_CERTIFICATE_REQUIRED",
      "received fatal alert: CertificateRequired",
    ],
    "protocol version": [
      "write EPROTO C06C:error:0A00042E:SSL routines:ssl3_read_bytes:tlsv1 alert protocol version:ssl/record.c:1:",
      "error:1000042e:SSL routines:OPENSSL_internal:TLSV1_ALERT_PROTOCOL_VERSION",
      "received fatal alert: ProtocolVersion",
    ],
    "handshake failure": [
      "C06C:error:0A000410:SSL routines:ssl3_read_bytes:ssl/tls alert handshake failure:ssl/record.c:1:SSL alert number 40",
      "error:10000410:SSL routines:OPENSSL_internal:SSLV3_ALERT_HANDSHAKE_FAILURE",
    ],
  };
  for (const [alert, texts] of Object.entries(messages)) {
    const state = alert === "certificate required"
      ? "it refused the client certificate"
      : `it refused the TLS handshake (${alert})`;
    for (const text of texts) {
      const error = unreachable(Object.assign(new Error(text), { code: "EPROTO" }), "get Pod");
      assertEquals(error.reason.kind, "tls");
      assertEquals(error.message, `Cannot get Pod: ${state}`);
    }
  }
  const plain = Object.assign(new Error("write EPROTO C06C:error:0A00010B:SSL routines::wrong version number:"), {
    code: "EPROTO",
  });
  assertEquals(unreachable(plain, "get Pod").reason.detail, "notTls");
});
