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

/** The number of random cases of each test. */
const runs = 300;

/** Registers a test that gets the libraries. */
function librariesTest(name: string, fn: (libraries: GoLibraries) => Promise<void>): void {
  if (process.env[descriptionVariable] === undefined) return test.skip(name, "needs the control plane and Go");
  test(name, async () => {
    await using libraries = await GoLibraries.start();
    await fn(libraries);
  });
}

librariesTest(
  "after each write, a Thing and its managed fields equal those of the Kubernetes libraries",
  async (libraries) => {
    assertEquals(await libraries.call({ operation: "types", openAPI: thingComponents }), {});
    const property = fc.asyncProperty(arbitraryHistory, async (writes) => {
      const responses = await libraries.call({ operation: "history", writes });
      const expected = isJsonArray(responses) ? responses : [];
      const actual = await replay(writes);
      for (const [index, write] of writes.entries()) {
        // An update that does not fit its type is rejected before its fields are tracked.
        if (write.how === "update" && isRejected(expected[index])) return;
        assertEquals(comparable(actual[index] ?? null), comparable(expected[index] ?? null));
      }
    });
    await fc.assert(property, { numRuns: runs });
  },
);

function isRejected(response: Json | undefined): boolean {
  return isJsonObject(response) && Object.hasOwn(response, "error");
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
function resultOf(response: Json): Json | undefined {
  if (!isJsonObject(response)) return undefined;
  const error = read(response, "error");
  if (typeof error === "string") return error.startsWith("panic:") ? undefined : "rejected";
  return read(response, "result");
}

function compare(actual: Json, response: Json): void {
  const expected = resultOf(response);
  // A patch that replaces the object with a list: patch/ rejects it immediately, the server only when it decodes the result.
  if (expected === undefined || isJsonArray(expected)) return;
  assertEquals(typeof actual === "number" ? "rejected" : sorted(actual), sorted(expected));
}

/** Sorts the keys of all objects. */
function sorted(value: Json): Json {
  if (isJsonArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  return JSON.parse(JSON.stringify(Object.keys(value).sort().map((key) => [key, sorted(read(value, key) ?? null)])));
}

librariesTest("JSON patches have the results of the Kubernetes libraries", async (libraries) => {
  const property = fc.asyncProperty(arbitraryObject, arbitraryJsonPatch, async (object, patch) => {
    compare(
      outcomeOf(() => jsonPatch(object, patch, "Ignore").object),
      await libraries.call({ operation: "json", object, patch }),
    );
  });
  await fc.assert(property, { numRuns: runs });
});

librariesTest("merge patches have the results of the Kubernetes libraries", async (libraries) => {
  const property = fc.asyncProperty(arbitraryObject, arbitraryMergePatch, async (object, patch) => {
    compare(
      outcomeOf(() => mergePatch(object, patch, "Ignore")),
      await libraries.call({ operation: "merge", object, patch }),
    );
  });
  await fc.assert(property, { numRuns: runs });
});

for (const [kind, arbitrary] of arbitraryBuiltins) {
  librariesTest(
    `strategic merge patches of a ${kind} have the results of the Kubernetes libraries`,
    async (libraries) => {
      const type = typeLibrary().named(`io.k8s.api.${kind === "Deployment" ? "apps" : "core"}.v1.${kind}`);
      const property = fc.asyncProperty(arbitrary, arbitrary, arbitrary, async (before, after, other) => {
        const patch = resultOf(await libraries.call({ operation: "difference", kind, object: before, patch: after }));
        if (!isJsonObject(patch)) return;
        for (const object of [before, other]) {
          const response = await libraries.call({ operation: "strategic", kind, object, patch });
          compare(outcomeOf(() => strategicMergePatch(object, patch, type)), response);
        }
      });
      await fc.assert(property, { numRuns: runs });
    },
  );
}
