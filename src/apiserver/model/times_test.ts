/** Tests of the canonical forms of timestamps. */
import { assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import { canonicalMicroTime, canonicalTime } from "./times.ts";

test("canonicalTime() returns whole seconds in UTC", () => {
  const canonical: Readonly<Record<string, string>> = {
    "2026-01-28T23:59:59Z": "2026-01-28T23:59:59Z",
    "2026-01-31T00:00:00Z": "2026-01-31T00:00:00Z",
    "2026-01-01T01:00:00+01:00": "2026-01-01T00:00:00Z",
    "2026-01-01T00:00:00.75Z": "2026-01-01T00:00:00Z",
  };
  for (const [text, expected] of Object.entries(canonical)) assertEquals(canonicalTime(text), expected);
});

test("canonicalMicroTime() returns six digits in UTC", () => {
  const canonical: Readonly<Record<string, string>> = {
    "2026-01-28T23:59:59.123456Z": "2026-01-28T23:59:59.123456Z",
    "2026-01-31T00:00:00.000001Z": "2026-01-31T00:00:00.000001Z",
    "2026-01-01T01:00:00.000000+01:00": "2026-01-01T00:00:00.000000Z",
    "2026-01-01T00:00:00,123456Z": "2026-01-01T00:00:00.123456Z",
  };
  for (const [text, expected] of Object.entries(canonical)) assertEquals(canonicalMicroTime(text), expected);
});

test("a time out of range, or without its six digits, is rejected", () => {
  for (const text of ["2026-13-01T00:00:00Z", "2026-01-01T24:00:01Z", "2026-01-32T00:00:00Z", "2026-01-01"]) {
    assertThrows(() => canonicalTime(text), /^parsing time/);
  }
  for (const text of ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.123Z", "2026-01-00T00:00:00.123456Z"]) {
    assertThrows(() => canonicalMicroTime(text), /^parsing time/);
  }
});
