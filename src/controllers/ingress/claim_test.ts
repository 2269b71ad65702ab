import { seededRandom } from "../../testing.ts";
import { assert, assertEquals, test } from "../../../tests/testing.ts";
import { hostileValues } from "./testing/hostile_values.ts";
import { readClaim } from "./claim.ts";

function claimOf(value: string): readonly [string, string] | string {
  const reading = readClaim(value);
  return reading.kind === "claim" ? [reading.claim.host, reading.claim.path] : reading.problem;
}

test("an annotation is empty, true, a host, or a host and a path", () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ["", "example.com", "/"],
    ["true", "example.com", "/"],
    ["shop.example.org", "shop.example.org", "/"],
    ["shop.example.org/", "shop.example.org", "/"],
    ["shop.example.org/cart", "shop.example.org", "/cart"],
    ["a/B/c.d_e~f-g/", "a", "/B/c.d_e~f-g/"],
    ["0-a.b-1.c", "0-a.b-1.c", "/"],
    [`${"a".repeat(63)}.x`, `${"a".repeat(63)}.x`, "/"],
    ["xn--bcher-kva.example", "xn--bcher-kva.example", "/"],
    ["constructor", "constructor", "/"],
    ["a/__proto__/...", "a", "/__proto__/..."],
  ];
  for (const [value, host, path] of cases) assertEquals(claimOf(value), [host, path], value);
});

test("the message for an invalid annotation does not quote it", () => {
  assertEquals(claimOf("/path"), "the host is missing");
  assertEquals(claimOf("Example.com"), "the host is not a DNS name in lower case");
  assertEquals(claimOf("10.0.0.1"), "the host looks like an IP address, not like a name");
  assertEquals(claimOf(`${"a.".repeat(150)}b`), "the host has more than 253 characters");
  assertEquals(claimOf("a/../b"), 'the path has a segment "." or ".."');
  assertEquals(claimOf("a//"), "the path has an empty segment, or other characters than A-Z a-z 0-9 . _ ~ -");
  assertEquals(claimOf(`a/${"b".repeat(600)}`), "the path has more than 512 characters");
  assertEquals(claimOf("false"), "remove the annotation to have no Ingress");
});

test("[security 9] more than 200 hostile values are rejected, and none is quoted", () => {
  assert(new Set(hostileValues).size >= 200, `there are ${new Set(hostileValues).size}`);
  for (const value of hostileValues) {
    const reading = readClaim(value);
    assert(reading.kind === "rejected", `accepted ${JSON.stringify(value)} as ${JSON.stringify(reading)}`);
    assert(value.length < 6 || !reading.problem.includes(value), reading.problem);
  }
});

test("[security 20] any text is either rejected, or is exactly the claimed host and path", () => {
  const random = seededRandom(7);
  const alphabet = [..."ab9.-/_~%A \n*:\u0000"];
  for (let round = 0; round < 20_000; round++) {
    const length = Math.floor(random.next() * 24);
    const value = Array.from({ length }, () => alphabet[Math.floor(random.next() * alphabet.length)]).join("");
    const reading = readClaim(value);
    if (reading.kind === "rejected" || value === "") continue;
    const { host, path } = reading.claim;
    assert(value === host + path || `${value}/` === host + path, JSON.stringify([value, reading.claim]));
    assert(/^[a-z0-9.-]+\/[A-Za-z0-9._~/-]*$/.test(host + path) && !(host + path).includes("//"), value);
  }
});
