/**
 * The order of API versions in Kubernetes: v2, v1, v1beta2, v1beta1, v1alpha1, and then all others by name.
 * Source: apimachinery `pkg/version/helpers.go` (CompareKubeAwareVersionStrings) of Kubernetes 1.36.
 */

/** Compares two versions: below 0 when `left` is older, above 0 when it is newer. */
export function compareKubeVersions(left: string, right: string): number {
  if (left === right) return 0;
  const [a, b] = [partsOf(left), partsOf(right)];
  // Any other name is older than every version of the form v1beta1; among such names "a" is newer than "b".
  if (a === undefined && b === undefined) return left < right ? 1 : -1;
  if (a === undefined) return -1;
  if (b === undefined) return 1;
  return a.stability - b.stability || a.major - b.major || a.minor - b.minor;
}

interface Parts {
  /** 2 for general availability, 1 for beta, 0 for alpha. */
  readonly stability: number;
  readonly major: number;
  readonly minor: number;
}

const stabilities = ["alpha", "beta"];

function partsOf(version: string): Parts | undefined {
  const [, major, stage, minor] = /^v(\d{1,9})(?:(alpha|beta)(\d{1,9}))?$/.exec(version) ?? [];
  if (major === undefined) return undefined;
  const stability = stage === undefined ? stabilities.length : stabilities.indexOf(stage);
  return { stability, major: Number(major), minor: Number(minor ?? 0) };
}
