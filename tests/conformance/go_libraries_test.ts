/**
 * Compares patches and managed fields with the libraries of Kubernetes that a real server uses: hundreds of random
 * histories and patches, with a seed that is printed when the two differ.
 *
 * It needs Go, as the tests of the control plane do: deno task cluster -- deno test -A tests/conformance/go_libraries_test.ts
 */
import fc from "fast-check";
import process from "node:process";
import { typeLibrary } from "../../src/apiserver/kinds/mod.ts";
import {
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  read,
  StatusError,
} from "../../src/apiserver/model/mod.ts";
import { jsonPatch, mergePatch, strategicMergePatch } from "../../src/apiserver/patch/mod.ts";
import { thingComponents } from "../../src/apiserver/patch/testing/thing_schema.ts";
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
        // An update that does not fit its type is rejected before its fields are tracked.
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

/** The result of a patch here: the object, or the code of the error. */
function outcomeOf(patched: () => JsonObject): Json {
  try {
    return patched();
  } catch (error) {
    if (error instanceof StatusError) return error.status.code;
    throw error;
  }
}

/** The result of the library: the object, or an error. @returns undefined if the library panicked */
function resultOf(answer: Json): Json | undefined {
  if (!isJsonObject(answer)) return undefined;
  const error = read(answer, "error");
  if (typeof error === "string") return error.startsWith("panic:") ? undefined : "refused";
  return read(answer, "result");
}

function compare(actual: Json, answer: Json): void {
  const expected = resultOf(answer);
  // A patch that turns the object into a list is rejected here at once, and there during decoding.
  if (expected === undefined || isJsonArray(expected)) return;
  assertEquals(typeof actual === "number" ? "refused" : sorted(actual), sorted(expected));
}

/** Sorts the keys of all objects. */
function sorted(value: Json): Json {
  if (isJsonArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  return JSON.parse(JSON.stringify(Object.keys(value).sort().map((key) => [key, sorted(read(value, key) ?? null)])));
}

librariesTest("JSON patches have the results of Kubernetes' libraries", async (libraries) => {
  const property = fc.asyncProperty(arbitraryObject, arbitraryJsonPatch, async (object, patch) => {
    compare(
      outcomeOf(() => jsonPatch(object, patch, "Ignore").object),
      await libraries.ask({ ask: "json", object, patch }),
    );
  });
  await fc.assert(property, { numRuns: runs });
});

librariesTest("merge patches have the results of Kubernetes' libraries", async (libraries) => {
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
