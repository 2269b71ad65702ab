/**
 * A real Kubernetes control plane for tests. `deno run -A tests/controlplane/with.ts -- COMMAND` runs a command with
 * one; `controlPlaneTest()` of test.ts is a test that gets it; both use this module.
 */
export { type Binaries, buildControlPlane, type BuildOutcome } from "./build.ts";
export { CertificateAuthority, type IssueOptions, type KeyPair } from "./certificate_authority.ts";
export { ControlPlane } from "./control_plane.ts";
export { type Component, type Description, descriptionVariable, unavailableVariable } from "./description.ts";
export type { ControlPlaneOptions, KubeconfigOptions, KubectlOptions, KubectlResult } from "./options.ts";
export { patienceMs, type Probe, until, type UntilOptions } from "./poll.ts";
