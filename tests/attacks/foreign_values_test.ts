/**
 * Attacks by complaint: zod collects every problem of a value, and a value of another program can have millions. So zod meets
 * values of files, servers, plugins and peers only through boundedParse() and parseBounded(), or ends at the first problem.
 *
 * A generator writes wrong values of many shapes and sizes; the number of problems, their text, and the parts that zod visits
 * are counted.
 */
import { readdirSync, readFileSync } from "node:fs";
import { z } from "zod";
import { seededRandom } from "../../src/async/mod.ts";
import { boundedParse, parseBounded } from "../../src/schema/mod.ts";
import { assert, assertEquals, assertThrows, test } from "../testing.ts";

const random = seededRandom(14);
const below = (count: number) => Math.floor(random.next() * count);

/** Where zod may parse directly: its input is the first problem only, or is written by the code itself. */
const exceptions: ReadonlyMap<string, string> = new Map([
  ["src/schema/_zod.ts", "boundedParse itself"],
  ["src/schema/object_problems.ts", "one text"],
  ["src/schema/structural.ts", "a default value in the code"],
  ["src/schema/define_resource.ts", "the author's own objects"],
  ["src/webhook/_decode.ts", "safeParse of a resource, which is boundedParse"],
  ["src/client/kubeconfig/kubeconfig.ts", "empty entries"],
  ["src/cli/completions/value_source.ts", "flags that were typed"],
  ["src/cli/uninstall/uninstall.ts", "an empty object, for the defaults of flags"],
]);

test("[security 17] zod meets values of others only with a bound on its problems", () => {
  const unbounded = readdirSync("src", { recursive: true, encoding: "utf8" })
    .map((path) => `src/${path}`).filter((path) => path.endsWith(".ts") && !/_test\.ts$|\/testing\//.test(path))
    .filter((path) => {
      const text = readFileSync(path, "utf8");
      if (!/from "zod"|schema\/mod\.ts"|_zod\.ts"/.test(text)) return false;
      const calls = text.split("\n").filter((line) => {
        const code = line.replace(/^\s*(\*|\/\/).*/, "").replace(/\b(JSON|Date|URL)\.parse\(/g, "");
        return /\.(safeParse|parse|parseAsync|safeParseAsync)\(/.test(code) && !code.includes("firstProblemOnly");
      });
      return calls.length > 0;
    });
  assertEquals(unbounded.filter((path) => !exceptions.has(path)), []);
});

const item = z.object({ name: z.string(), sizes: z.array(z.int()), more: z.record(z.string(), z.boolean()) });
const schema = z.object({
  items: z.array(item),
  fields: z.record(z.string(), item),
  choice: z.union([z.string(), z.array(z.int()), item]),
});

const wrong: readonly (() => unknown)[] = [
  () => 1,
  () => null,
  () => "x".repeat(below(2_000)),
  () => [],
  () => ({ a: 1 }),
];
const wrongValue = () => wrong[below(wrong.length)]?.();

function wrongItem(size: number): unknown {
  return {
    name: wrongValue(),
    sizes: Array.from({ length: size }, wrongValue),
    more: Object.fromEntries(Array.from({ length: size }, (_, index) => [`k${index}`, 1])),
    ["unknown".repeat(below(1_000))]: 1,
  };
}

test("[security 17] a wrong value of any size has at most 20 problems of 256 characters", () => {
  for (let round = 0; round < 60; round++) {
    const size = [1, 2, 50, 5_000, 60_000][below(5)] ?? 0;
    const value = {
      items: below(2) === 0 ? [wrongItem(size)] : Array.from({ length: size }, wrongValue),
      fields: below(2) === 0
        ? { a: wrongItem(size) }
        : Object.fromEntries(Array.from({ length: size }, (_, at) => [at, 1])),
      choice: below(2) === 0 ? wrongItem(size) : Array.from({ length: size }, wrongValue),
    };
    const parsed = boundedParse(schema, value);
    if (parsed.kind === "valid") throw new Error("a wrong value is valid");
    assert(parsed.issues.length <= 20, `${parsed.issues.length} problems`);
    for (const { message } of parsed.issues) assert(message.length <= 256, `${message.length} characters`);
    const error = assertThrows(() => parseBounded(schema, value));
    assert(error instanceof SyntaxError && error.message.length < 10_000);
  }
});

test("zod visits no item of a list after the first wrong one", () => {
  let visits = 0;
  const counted = z.array(
    z.unknown().check((payload) => {
      visits++;
      payload.issues.push({ code: "custom", message: "wrong", input: payload.value });
    }),
  );
  const parsed = boundedParse(counted, Array(500_000).fill(0));
  assertEquals([parsed.kind, visits], ["invalid", 1]);
});
