/**
 * What the embedded server does not do yet as a kube-apiserver does: cases by group and name, and what is amiss. Each must
 * differ; whoever mends one takes it off.
 */
export const knownDifferences: ReadonlyMap<string, string> = new Map([
  [
    "invalid: what is wrong with an autoscaler without policies",
    "a list that was written empty is read as one that was left out, and gets its default",
  ],
]);
