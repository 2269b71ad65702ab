/**
 * Tests that get real Nodes. They share those that with.ts started, and each works in namespaces of its own. Where none
 * can run, a test is reported as skipped, by name and with the reason, in CI, too: a machine of the wrong kind is not a
 * fault of the change.
 */
import { randomBytes } from "node:crypto";
import process from "node:process";
import { test } from "../testing.ts";
import { nodeUnavailableVariable, nodeVariable } from "./layout.ts";
import { RealNode } from "./real_node.ts";

/** Registers a test that gets real Nodes. */
export function realNodeTest(name: string, fn: (node: RealNode) => void | Promise<void>): void {
  if (process.env[nodeVariable] === undefined) {
    return test.skip(name, process.env[nodeUnavailableVariable] ?? "no real node, run it with tests/realnode/with.ts");
  }
  test(name, async () => {
    await using node = await RealNode.attach();
    await fn(node);
  });
}

/** A name that no other test uses. */
export function uniqueName(prefix: string): string {
  return `${prefix}-${randomBytes(3).toString("hex")}`;
}
