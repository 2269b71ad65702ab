import { assertEquals, test } from "../../../../tests/testing.ts";
import { derOutlineError, pemBlocks } from "./pem.ts";

const block = (body: string, type = "X") => `-----BEGIN ${type}-----\n${body}\n-----END ${type}-----\n`;

test("PEM blocks are found among other text", () => {
  const text = `before\n${block("AAEC")}between\n${block("AA==", "CERTIFICATE REQUEST")}`;
  assertEquals(pemBlocks(text).map(({ type, bytes }) => [type, [...bytes]]), [
    ["X", [0, 1, 2]],
    ["CERTIFICATE REQUEST", [0]],
  ]);
});

test("headers of a block are detected, and are not part of its bytes", () => {
  const [found] = pemBlocks(block("Proc-Type: 4\n\nAAEC"));
  assertEquals([found?.hasHeaders, [...found?.bytes ?? []]], [true, [0, 1, 2]]);
  assertEquals(pemBlocks(block("AAEC"))[0]?.hasHeaders, false);
});

const noBlocks = ["", "x", "-----BEGIN X-----\nAAEC\n-----END Y-----\n", block("not base64!")];

for (const text of noBlocks) {
  test(`${JSON.stringify(text)} has no PEM block`, () => assertEquals(pemBlocks(text), []));
}

const outlines: readonly (readonly [what: string, bytes: readonly number[], error: string | undefined])[] = [
  ["a signed structure", [0x30, 6, 0x30, 0, 0x30, 0, 0x03, 0], undefined],
  ["nothing", [], "asn1: structure error: tags don't match"],
  ["what is no sequence", [0x02, 1, 0], "asn1: structure error: tags don't match"],
  ["more than a structure", [0x30, 6, 0x30, 0, 0x30, 0, 0x03, 0, 0], "asn1: syntax error: trailing data"],
  ["a structure without a signature", [0x30, 4, 0x30, 0, 0x30, 0], "asn1: syntax error: sequence truncated"],
  ["a structure signed by a number", [0x30, 6, 0x30, 0, 0x30, 0, 0x02, 0], "asn1: structure error: tags don't match"],
];

for (const [what, bytes, error] of outlines) {
  test(`the outline of ${what} is ${error === undefined ? "valid" : "invalid"}`, () => {
    assertEquals(derOutlineError(new Uint8Array(bytes)), error);
  });
}
