import { assertEquals, test } from "../../../tests/testing.ts";
import { knownBodyOf, knownTextOf, rememberBody, rememberText } from "./mod.ts";

const url = "https://server/api";

test("a remembered text is what reading the body gives; without it, and for a copy, nothing is known", async () => {
  const text = '{"name":"ü"}';
  const request = new Request(url, { method: "POST", body: text });
  assertEquals(knownBodyOf(request), undefined);
  rememberBody(request, text);
  assertEquals([knownBodyOf(request), knownBodyOf(request.clone())], [text, undefined]);
  const response = rememberText(new Response(text), text);
  assertEquals([knownTextOf(response), await response.text()], [text, text]);
  assertEquals(knownTextOf(new Response(text)), undefined);
});

test("a text that UTF-8 cannot represent, and a long one, are not remembered", () => {
  for (const text of ["\ud800", "a".repeat(64 * 1024 + 1)]) {
    const request = new Request(url, { method: "POST", body: text });
    rememberBody(request, text);
    assertEquals(knownBodyOf(request), undefined);
    assertEquals(knownTextOf(rememberText(new Response(text), text)), undefined);
  }
});
