/**
 * The steps that the programs in node, python and java do, and what each prints: every client must get the same answers,
 * in the wire format that is its default.
 */
export const clientSteps: readonly string[] = [
  "definition: Established",
  "default: 1",
  "invalid: 422 Invalid",
  "status: true generation 1",
  "apply: 1",
  "apply of another manager: 409 Conflict",
  "patch: 1 ü",
  "stale replace: 409 Conflict",
  "pages: 2 2 1",
  "watch: ADDED 1 MODIFIED 2 DELETED 2",
  "deleted: 404 NotFound",
  "scale: 2",
  "logs: text",
  "eviction: evicted",
  "token: system:serviceaccount:NAMESPACE:robot",
  "forbidden: 403 Forbidden",
];
