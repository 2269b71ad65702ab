/**
 * Known differences of the embedded server from a kube-apiserver, by group and name of the case. Each case must
 * differ; a fix removes its entry.
 */
export const knownDifferences: ReadonlyMap<string, string> = new Map([
  [
    "invalid: what is wrong with an autoscaler without policies",
    "a list that was written empty is read as one that was left out, and gets its default",
  ],
]);
