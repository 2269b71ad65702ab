/**
 * Known differences of the embedded server from a kube-apiserver, by group and name of the case. Each case must
 * differ; a fix removes its entry.
 */
export const knownDifferences: ReadonlyMap<string, string> = new Map([
  [
    'numbers: the quantity "100000000000000000000000000m"',
    "the real server writes it as 100, but checks it as the number that it was",
  ],
]);
