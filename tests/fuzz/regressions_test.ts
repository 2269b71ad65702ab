/**
 * Replays the inputs of `deno task fuzz` in the gate: those that broke a target once, those that reach the most code of it,
 * and its seeds. A test below shows that a broken promise is noticed.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { readInputs } from "./corpus.ts";
import { minimised, Mutator } from "./mutate.ts";
import { ReachedCode } from "./coverage.ts";
import { loadTarget, targetNames } from "./targets.ts";
import { Finding, type FuzzTarget, promise, signatureOf } from "./target.ts";
import { seededRandom } from "../../src/async/mod.ts";
import { assert, assertEquals, test } from "../testing.ts";

async function replay(target: FuzzTarget, name: string, input: Uint8Array): Promise<void> {
  try {
    await target.check(input);
  } catch (cause) {
    throw new Error(`Cannot replay ${name}: ${signatureOf(cause)}`, { cause });
  }
}

for (const name of targetNames) {
  test(`[security 26] ${name} keeps its promises on the corpus and on each input that broke it once`, async () => {
    const target = await loadTarget(name);
    for (const seed of target.seeds) {
      await replay(target, "a seed", typeof seed === "string" ? new TextEncoder().encode(seed) : seed.slice());
    }
    for (const kind of ["regressions", "corpus"] as const) {
      for (const { name: file, bytes } of readInputs(kind, name)) {
        await replay(target, `${kind}/${name}/${file}`, bytes);
      }
    }
  });
}

test("[security 26] the folders of inputs belong to targets", () => {
  const here = import.meta.dirname ?? ".";
  const kinds = ["corpus", "regressions"].map((kind) => join(here, kind)).filter((folder) => existsSync(folder));
  const folders = kinds.flatMap((folder) => readdirSync(folder));
  assertEquals(folders.filter((folder) => !targetNames.some((name) => name === folder)), []);
});

test("[security 26] a find is reported once for a defect, whatever its values", () => {
  const of = (message: string) => signatureOf(new Finding(message));
  assertEquals(of('Cannot read "a" at 12'), of('Cannot read "b" at 7'));
  assert(of("A list does not end") !== of("A list is cut"));
  assert(signatureOf(new TypeError("x")) !== signatureOf(new RangeError("x")));
});

test("[security 26] an input is made small as long as it breaks the same promise", async () => {
  const input = new TextEncoder().encode("some text with a needle in it");
  const isSame = (candidate: Uint8Array) => {
    try {
      promise(!new TextDecoder().decode(candidate).includes("needle"), "There is a needle");
    } catch {
      return true;
    }
    return false;
  };
  assertEquals(new TextDecoder().decode(await minimised(input, isSame, 1000)), "needle");
});

test("[security 26] the same seed gives the same mutations", () => {
  const [one, other] = [new Mutator(seededRandom(7), ["word"]), new Mutator(seededRandom(7), ["word"])];
  const input = new TextEncoder().encode('{"a":[1,2,{"b":"c"}]}');
  const made = Array.from({ length: 200 }, () => one.mutate(input, input));
  assertEquals(Array.from({ length: 200 }, () => other.mutate(input, input)), made);
  assert(new Set(made.map((bytes) => new TextDecoder().decode(bytes))).size > 150);
});

test("[security 26] only a run that reaches new code has a gain", () => {
  const reached = new ReachedCode();
  reached.add(new Map([["f", [[10, 20], [30, 40]]]]));
  assertEquals(reached.gainOf(new Map([["f", [[10, 20], [30, 40]]]])), 0);
  assertEquals(reached.gainOf(new Map([["f", [[5, 20]]]])), 10);
  assert(reached.gainOf(new Map([["g", []]])) > 0);
  reached.add(new Map([["f", [[10, 20]]]]));
  assertEquals(reached.gainOf(new Map([["f", [[30, 40]]]])), 10);
});
