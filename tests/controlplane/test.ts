/**
 * Tests that get a real control plane. They share the one that with.ts started, so each works in a separate namespace
 * (`createNamespace`); a test that disturbs others requests a separate control plane.
 *
 * Without a control plane the test is reported as skipped, by name and with the reason; in CI it fails.
 */
import { randomBytes } from "node:crypto";
import process from "node:process";
import { test } from "../testing.ts";
import { ControlPlane } from "./control_plane.ts";
import { type Component, type Description, readDescription } from "./description.ts";
import { descriptionVariable, unavailableVariable } from "./description.ts";
import type { ControlPlaneOptions } from "./options.ts";
import { until } from "./poll.ts";

/** Options of a test with a control plane. */
export interface ControlPlaneTestOptions {
  /** Starts a control plane for this test alone, with these options. @default the shared one */
  readonly own?: ControlPlaneOptions;
  /** A server without which the test is skipped, since KUBEBUILDER_ASSETS may lack it. @default none */
  readonly needs?: Component;
}

type Situation =
  | { readonly kind: "shared"; readonly description: Description }
  | { readonly kind: "none"; readonly reason: string };

/** Registers a test that gets a control plane. */
export function controlPlaneTest(
  name: string,
  fn: (controlPlane: ControlPlane) => void | Promise<void>,
  options: ControlPlaneTestOptions = {},
): void {
  const { own, needs } = options;
  const situation = currentSituation();
  if (situation.kind === "none") return registerMissing(name, situation.reason);
  const { binaries } = situation.description;
  if (needs === "kube-controller-manager" && binaries.kubeControllerManager === undefined) {
    return test.skip(name, "KUBEBUILDER_ASSETS has no kube-controller-manager");
  }
  test(name, async () => {
    await using controlPlane = own === undefined
      ? await ControlPlane.attach()
      : await ControlPlane.start({ binaries, ...own });
    await fn(controlPlane);
  });
}

/** Creates a namespace for one test, and waits until Pods can be created in it. */
export async function createNamespace(controlPlane: ControlPlane): Promise<string> {
  const name = `test-${randomBytes(4).toString("hex")}`;
  await controlPlane.kubectlOutput(["create", "namespace", name]);
  if (controlPlane.description.binaries.kubeControllerManager === undefined) return name;
  return await until(`see the service account ${name}/default`, async () => {
    const { code, stderr } = await controlPlane.kubectl(["get", "serviceaccount", "default", "--namespace", name]);
    return code === 0 ? { kind: "found", value: name } : { kind: "pending", state: stderr.trim() };
  });
}

function currentSituation(): Situation {
  const path = process.env[descriptionVariable];
  if (path !== undefined) return { kind: "shared", description: readDescription(path) };
  const reason = process.env[unavailableVariable] ?? "no control plane, run it with tests/controlplane/with.ts";
  return { kind: "none", reason };
}

function registerMissing(name: string, reason: string): void {
  if (process.env["CI"] !== "true") return test.skip(name, reason);
  test(name, () => {
    throw new Error(`Cannot skip a test in CI: ${reason}`);
  });
}
