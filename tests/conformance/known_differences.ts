/**
 * Known differences of the embedded server from a kube-apiserver, by group and name of the case. Each case must
 * differ; a fix removes its entry.
 */
export const knownDifferences: ReadonlyMap<string, string> = new Map([
  [
    "strict: a strategic merge patch of a Service with an unknown field and a value of the wrong type",
    "a number in place of a named type of text is described as one in place of a struct",
  ],
  [
    'numbers: the quantity "100000000000000000000000000m"',
    "the real server writes it as 100, but checks it as the number that it was",
  ],
]);
