import { assertEquals, assertThrows, test } from "../../tests/testing.ts";
import { parseLabelSelector } from "./parse_label_selector.ts";
import { formatLabelSelector } from "./selector.ts";

test("parseLabelSelector() reads the notation of kubectl", () => {
  const cases: readonly (readonly [text: string, formatted: string])[] = [
    ["app=web", "app=web"],
    ["app == web", "app=web"],
    ["app!=web", "app!=web"],
    ["tier in (front, back)", "tier in (front,back)"],
    ["tier notin (a),x", "tier!=a,x"],
    ["!canary , example.com/a=", "!canary,example.com/a="],
    ["in in (in,notin)", "in in (in,notin)"],
  ];
  for (const [text, formatted] of cases) assertEquals(formatLabelSelector(parseLabelSelector(text)), formatted, text);
});

test("parseLabelSelector() says what is wrong", () => {
  const cases: readonly (readonly [text: string, message: RegExp])[] = [
    ["", /"" is not a requirement/],
    ["a,,b", /"" is not a requirement/],
    ["a>1", /"a>1" is not a requirement/],
    ["a in b", /"a in b" is not a requirement/],
    ["a in (b", /"a in \(b" is not a requirement/],
    ["-a=b", /the key "-a" is wrong/],
    ["a=b/c", /the value "b\/c" is wrong/],
    ["a".repeat(5_000), /more than 4096 characters/],
  ];
  for (const [text, message] of cases) assertThrows(() => parseLabelSelector(text), message);
});
