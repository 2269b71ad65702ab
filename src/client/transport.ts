/**
 * Transport: the one seam between everything here and an API server (architecture.md D1). A real cluster, the embedded
 * API server called in memory, and a wrapper of either that injects faults all have this type.
 */

/** Sends one request. It rejects when there is no answer; an answer that is an error status resolves. */
export type Transport = (request: Request) => Promise<Response>;
