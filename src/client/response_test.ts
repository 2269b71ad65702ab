import { assertEquals, test } from "../../tests/testing.ts";
import { retryAfterMs } from "./response.ts";

test("[74] retryAfterMs() reads seconds, with a maximum of five minutes", () => {
  const read = (text: string) => retryAfterMs(new Headers({ "retry-after": text }));
  assertEquals([read("0"), read("7"), read("1000000000"), read("99999999999999999999")], [0, 7000, 300_000, 300_000]);
  assertEquals([read("soon"), read("-1"), read("1.5"), retryAfterMs(new Headers())], [
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});
