/**
 * Patches and managed fields against the libraries of Kubernetes that a real server has them from: hundreds of random
 * histories and patches, each with a seed that is printed when the two differ.
 *
 * It needs Go, so it runs where the control plane's tests do: deno task cluster -- deno test -A tests/conformance/go_libraries_test.ts
 */
import fc from "fast-check";
import process from "node:process";
import { typeLibrary } from "../../src/apiserver/kinds/mod.ts";
import { isJsonArray, isJsonObject, type Json, type JsonObject, read, Refusal } from "../../src/apiserver/model/mod.ts";
import { jsonPatch, mergePatch, strategicMergePatch } from "../../src/apiserver/patch/mod.ts";
import { thingComponents } from "../../src/apiserver/patch/thing_schema_test_data.ts";
import { descriptionVariable } from "../controlplane/description.ts";
import { assertEquals, test } from "../testing.ts";
import { arbitraryBuiltins, arbitraryJsonPatch, arbitraryMergePatch, arbitraryObject } from "./arbitrary_patches.ts";
import { arbitraryHistory } from "./arbitrary_writes.ts";
import { GoLibraries } from "./go_libraries.ts";
import { comparable, replay } from "./thing_history.ts";

/** How many random cases each test compares. */
const runs = 300;

/** Registers a test that gets the libraries. */
function librariesTest(name: string, fn: (libraries: GoLibraries) => Promise<void>): void {
  if (process.env[descriptionVariable] === undefined) return test.skip(name, "no control plane, and so perhaps no Go");
  test(name, async () => {
    await using libraries = new GoLibraries();
    await fn(libraries);
  });
}

librariesTest(
  "a Thing and its managed fields are after each write what Kubernetes' libraries make of them",
  async (libraries) => {
    assertEquals(await libraries.ask({ ask: "types", openAPI: thingComponents }), {});
    const property = fc.asyncProperty(arbitraryHistory, async (writes) => {
      const answers = await libraries.ask({ ask: "history", writes });
      const expected = isJsonArray(answers) ? answers : [];
      const actual = await replay(writes);
      for (const [index, write] of writes.entries()) {
        // An update that does not fit its type never comes to be tracked: it is refused before.
        if (write.how === "update" && isRefused(expected[index])) return;
        assertEquals(comparable(actual[index] ?? null), comparable(expected[index] ?? null));
      }
    });
    await fc.assert(property, { numRuns: runs });
  },
);

function isRefused(answer: Json | undefined): boolean {
  return isJsonObject(answer) && Object.hasOwn(answer, "error");
}

/** What a patch comes to here: the object, or the code of the refusal. */
function outcomeOf(patched: () => JsonObject): Json {
  try {
    return patched();
  } catch (error) {
    if (error instanceof Refusal) return error.status.code;
    throw error;
  }
}

/** What it comes to there: the object, or that it is refused. @returns undefined where the library broke down */
function resultOf(answer: Json): Json | undefined {
  if (!isJsonObject(answer)) return undefined;
  const error = read(answer, "error");
  if (typeof error === "string") return error.startsWith("panic:") ? undefined : "refused";
  return read(answer, "result");
}

function compare(actual: Json, answer: Json): void {
  const expected = resultOf(answer);
  // A patch that makes a list of the object is refused here at once, there when it is decoded.
  if (expected === undefined || isJsonArray(expected)) return;
  assertEquals(typeof actual === "number" ? "refused" : sorted(actual), sorted(expected));
}

/** With the keys of all objects in order. */
function sorted(value: Json): Json {
  if (isJsonArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  return JSON.parse(JSON.stringify(Object.keys(value).sort().map((key) => [key, sorted(read(value, key) ?? null)])));
}

librariesTest("JSON patches come to what Kubernetes' libraries make of them", async (libraries) => {
  const property = fc.asyncProperty(arbitraryObject, arbitraryJsonPatch, async (object, patch) => {
    compare(
      outcomeOf(() => jsonPatch(object, patch, "Ignore").object),
      await libraries.ask({ ask: "json", object, patch }),
    );
  });
  await fc.assert(property, { numRuns: runs });
});

librariesTest("merge patches come to what Kubernetes' libraries make of them", async (libraries) => {
  const property = fc.asyncProperty(arbitraryObject, arbitraryMergePatch, async (object, patch) => {
    compare(outcomeOf(() => mergePatch(object, patch, "Ignore")), await libraries.ask({ ask: "merge", object, patch }));
  });
  await fc.assert(property, { numRuns: runs });
});

for (const [kind, arbitrary] of arbitraryBuiltins) {
  librariesTest(
    `strategic merge patches of a ${kind} come to what Kubernetes' libraries make of them`,
    async (libraries) => {
      const type = typeLibrary().named(`io.k8s.api.${kind === "Deployment" ? "apps" : "core"}.v1.${kind}`);
      const property = fc.asyncProperty(arbitrary, arbitrary, arbitrary, async (before, after, other) => {
        const patch = resultOf(await libraries.ask({ ask: "difference", kind, object: before, patch: after }));
        if (!isJsonObject(patch)) return;
        for (const object of [before, other]) {
          const answer = await libraries.ask({ ask: "strategic", kind, object, patch });
          compare(outcomeOf(() => strategicMergePatch(object, patch, type)), answer);
        }
      });
      await fc.assert(property, { numRuns: runs });
    },
  );
}
