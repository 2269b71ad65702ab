/**
 * The conformance suite without a control plane: the embedded server against recorded responses of a kube-apiserver. Part
 * of `deno task ok`; cases without recordings (kubectl) run in conformance_test.ts only.
 */
import { test } from "../testing.ts";
import { caseGroups } from "./cases/mod.ts";
import { EmbeddedHost } from "./embedded_host.ts";
import { isRecorded, readRecording } from "./recordings.ts";
import { differenceOf, judge, transcriptOf } from "./transcript.ts";

for (const { group, cases } of caseGroups) {
  const recorded = cases.filter(isRecorded);
  if (recorded.length === 0) continue;
  const recording = readRecording(group);
  for (const subject of recorded) {
    test(`conformance, ${group}: ${subject.name}`, async () => {
      const expected = recording.get(subject.name);
      if (expected === undefined) throw new Error("Cannot compare: not recorded, run deno task conformance --record");
      await using embedded = await EmbeddedHost.start(subject);
      const attempt = transcriptOf(embedded, subject);
      const actual = await (subject.known === undefined ? attempt : attempt.catch(() => []));
      judge(subject, differenceOf(expected, actual));
    });
  }
}
