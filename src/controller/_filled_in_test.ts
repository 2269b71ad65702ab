import { assertEquals, test } from "../../tests/testing.ts";
import { builtin } from "../api/mod.ts";
import { FilledIn } from "./_filled_in.ts";

const { ConfigMap, Deployment } = builtin;

const cpu = { field: "spec.cpu", live: "1", wanted: "1000m" };

test("what an apply left as it is explains the same difference of the same kind, and no other", () => {
  const filledIn = new FilledIn();
  assertEquals(filledIn.explains(Deployment, cpu), false);
  filledIn.learn(Deployment, [cpu]);
  assertEquals(filledIn.explains(Deployment, { ...cpu }), true);
  assertEquals(filledIn.explains(Deployment, { ...cpu, live: "2" }), false);
  assertEquals(filledIn.explains(Deployment, { ...cpu, wanted: "2000m" }), false);
  assertEquals(filledIn.explains(ConfigMap, cpu), false);
});

test("a thousand answers are remembered, the oldest goes first", () => {
  const filledIn = new FilledIn();
  const answer = (number: number) => ({ ...cpu, live: String(number) });
  for (let number = 0; number <= 1_000; number++) filledIn.learn(Deployment, [answer(number)]);
  assertEquals([0, 1, 1_000].map((number) => filledIn.explains(Deployment, answer(number))), [false, true, true]);
});
