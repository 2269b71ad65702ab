/**
 * Unmodified clients of other projects on the server of `controller dev`: client-go and controller-runtime in Go, kube-rs
 * in Rust, client-node, the client of Python, and fabric8 in Java. Their programs are in tests/clients; no real control
 * plane is needed.
 */
import { missingRuntimes } from "../../tasks/_runtimes.ts";
import { buildGo, goChecks, missing } from "../clients/build.ts";
import { type ClientCommand, javaClient, nodeClient, pythonClient } from "../clients/packaged.ts";
import { buildRust } from "../clients/rust.ts";
import { clientSteps } from "../clients/steps.ts";
import { assertEquals, test } from "../testing.ts";
import { runBinary } from "./_binary.ts";

function clientTest(
  name: string,
  tool: "go" | "cargo",
  build: () => Promise<string>,
  checks: readonly string[],
): void {
  const reason = missing(tool);
  if (reason !== undefined) return test.skip(name, reason);
  test(name, async () => {
    const { code, stdout, stderr } = await runBinary(["dev", "-q", "--", await build()]);
    assertEquals(code, 0, stderr);
    assertEquals(stdout.trimEnd().split("\n").map((line) => line.replace(/\d+\.\d+/, "V")), checks);
  });
}

clientTest(
  "client-go and controller-runtime work on dev, in JSON and in protobuf",
  "go",
  buildGo,
  goChecks,
);

clientTest(
  "kube-rs works on dev: a CRD, a watcher, a reflector, apply, status, finalizers, scale and rejected writes",
  "cargo",
  buildRust,
  [
    "version V",
    "the definition is established",
    "a streaming list ends",
    "apply creates",
    "apply twice changes nothing",
    "a status is patched",
    "a status patch keeps the generation",
    "a watcher delivers each change in order",
    "a reflector has the selected objects",
    "a reflector follows a create",
    "a reflector forgets an object that its selector no longer matches",
    "apply of another manager's field is a conflict",
    "a forced apply takes over the field",
    "a replace of an old version is a conflict",
    "a deleted object is not found",
    "a delete of another UID is a conflict",
    "a delete of an old version is a conflict",
    "a finalizer keeps a deleted object",
    "an object without finalizers is gone",
    "a scale is patched",
    "a strategic merge keeps the other container",
    "a list has pages",
    "a list can contain only metadata",
    "a foreground deletion ends",
    "a value that is too large is rejected with its path",
    "a dry run stores nothing",
  ],
);

/** Clients that do the same steps, and why each cannot run here. */
const packaged: readonly (readonly [name: string, reason: string | undefined, client: () => Promise<ClientCommand>])[] =
  [
    ["client-node", missingRuntimes, nodeClient],
    ["the client of Python", missing("python3"), pythonClient],
    ["fabric8", missing("java") ?? missing("mvn"), javaClient],
  ];

for (const [name, reason, client] of packaged) {
  const title = `${name} gets from dev what the other clients get: a kind, objects, errors, a watch, a token`;
  if (reason !== undefined) test.skip(title, reason);
  else {
    test(title, async () => {
      const { code, stdout, stderr } = await runBinary(["dev", "-q", "--", ...await client()]);
      assertEquals(stdout.trimEnd().split("\n"), clientSteps, stderr);
      assertEquals(code, 0, stderr);
    });
  }
}
