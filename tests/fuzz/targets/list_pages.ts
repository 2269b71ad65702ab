/**
 * Bodies of a server to Client.listAll() and Client.get(), one part for each page.
 *
 * Promises: a list ends, with a complete list or with one of the errors of the client; a list that is read in chunks is the
 * one of its whole text; the early removal of managed fields gives the same objects as their removal after parsing.
 */
import fc from "fast-check";
import { ConfigMap, printExactJson } from "../../../src/api/mod.ts";
import { VirtualClock } from "../../../src/async/mod.ts";
import { decodeList, dropManagedFields, parseJson } from "../../../src/client/decoder.ts";
import { ListReader } from "../../../src/client/list_reader.ts";
import { ApiError, InvalidResponseError, UnreachableError } from "../../../src/client/mod.ts";
import { testClient } from "../../../src/client/testing/test_client.ts";
import { type FuzzTarget, joinParts, orRefused, partsOf, promise } from "../target.ts";

const item = (name: string) => ({
  metadata: { name, namespace: "ns", managedFields: [{ manager: "x" }], resourceVersion: "5" },
  data: {},
});
const page = (items: readonly unknown[], next?: string) =>
  JSON.stringify({
    kind: "ConfigMapList",
    apiVersion: "v1",
    metadata: { resourceVersion: "7", continue: next },
    items,
  });

/** The page that a reader makes of two chunks; undefined when it is refused. */
function readPage(text: string, dropManagedFields: boolean) {
  const bytes = new TextEncoder().encode(text);
  const reader = new ListReader({ action: "list ConfigMap", dropManagedFields, batchBytes: 64 });
  return orRefused(() => {
    reader.push(bytes.subarray(0, bytes.length >> 1));
    reader.push(bytes.subarray(bytes.length >> 1));
    return decodeList<object>(reader.end(), ConfigMap, { dropManagedFields });
  }, SyntaxError);
}

function checkPage(text: string): void {
  const early = readPage(text, true), late = readPage(text, false);
  const whole = orRefused(() => {
    const sent = new TextDecoder().decode(new TextEncoder().encode(text));
    return decodeList<object>(parseJson(sent), ConfigMap, { dropManagedFields: false });
  }, SyntaxError);
  promise(printExactJson(late ?? null) === printExactJson(whole ?? null), "A list in chunks differs from the whole");
  if (late === undefined || early === undefined) return;
  late.items.forEach((item) => dropManagedFields(item));
  promise(printExactJson(early) === printExactJson(late), "The early removal of managed fields changes a list");
}

const refusals = [ApiError, InvalidResponseError, UnreachableError];

/** The target. */
export const target: FuzzTarget = {
  seeds: [
    joinParts("", page([item("a")], "t"), page([item("b")])),
    joinParts("", page([item("a")], "t"), page([], "t")),
    joinParts("410", '{"kind":"Status","code":410,"reason":"Expired","message":"x"}'),
    joinParts("200", page([{ metadata: null }, null, 5])),
  ],
  arbitrary: fc.tuple(fc.constantFrom("200", "404", "503"), fc.array(fc.json(), { maxLength: 4 }), fc.boolean()).map((
    [code, items, isWhole],
  ) =>
    joinParts(code, isWhole ? page(items.map((text) => JSON.parse(text))) : `{"metadata":{},"items":[${items.join()}]}`)
  ),
  words: [
    '"managedFields":[',
    '"metadata":{',
    '"items":[',
    '"continue":"',
    '"kind":"Status"',
    "\n%%\n",
    "null",
    '"code":',
  ],
  async check(input) {
    const [code = "", ...pages] = partsOf(input, 6);
    pages.forEach(checkPage);
    let answered = 0;
    const status = Math.min(599, Math.max(200, Number.parseInt(code) || 200));
    const { client } = testClient(() => {
      const text = pages[answered++ % pages.length] ?? "";
      return new Response([204, 205, 304].includes(status) ? null : text, { status });
    }, { clock: new VirtualClock() });
    for (const read of [() => client.listAll(ConfigMap), () => client.get(ConfigMap, "ns/a")]) {
      try {
        await read();
      } catch (error) {
        const isNoProgress = error instanceof Error && error.message.startsWith("Cannot read list: ");
        if (!isNoProgress && !refusals.some((refusal) => error instanceof refusal)) throw error;
      }
    }
    promise(answered < 1000, "A list does not end");
  },
};
