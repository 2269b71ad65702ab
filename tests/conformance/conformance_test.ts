/**
 * The conformance suite on a real control plane. Its responses must be those of the recordings, with which recordings_test.ts
 * compares the embedded server. A case that is not recorded runs on both servers: the transcripts must be equal, or
 * differ with a stated reason.
 *
 *   deno task cluster -- deno test -A --no-check tests/conformance/conformance_test.ts
 */
import type { ControlPlane } from "../controlplane/mod.ts";
import { controlPlaneTest } from "../controlplane/test.ts";
import { caseGroups } from "./cases/mod.ts";
import { fullPace, type Pace } from "./case_run.ts";
import type { ConformanceCase } from "./conformance_case.ts";
import { EmbeddedHost } from "./embedded_host.ts";
import { RealHost } from "./real_host.ts";
import { isRecorded, readRecording } from "./recordings.ts";
import { differenceOf, judge, type Transcript, transcriptOf } from "./transcript.ts";

/**
 * The real server runs beside controllers, answers from caches, and iterates over Go maps in any order, so a response can
 * differ between runs: the more often, the slower the machine is. A difference, and an error, count if they occur in each
 * run. Every run is slower than the one before it, so that caches and controllers have time to catch up.
 */
const paces: readonly Pace[] = [
  fullPace,
  { pauseMs: 200, shortSeconds: 5 },
  { pauseMs: 1_000, shortSeconds: 15 },
  { pauseMs: 3_000, shortSeconds: 45 },
];

for (const { group, cases } of caseGroups) {
  const recording = cases.some(isRecorded) ? readRecording(group) : new Map<string, Transcript>();
  for (const subject of cases) {
    controlPlaneTest(`conformance, ${group}: ${subject.name}`, async (controlPlane) => {
      const failures: unknown[] = [];
      for (const pace of paces) {
        try {
          if (!isRecorded(subject)) return judge(subject, await differenceOnce(controlPlane, subject, pace));
          return await compareWithRecording(controlPlane, subject, { pace, recorded: recording.get(subject.name) });
        } catch (error) {
          failures.push(error);
        }
      }
      throw failures.at(-1);
    }, { needs: "kube-controller-manager" });
  }
}

/** Runs a case on the real server. @throws Error when it responds in another way than recorded */
async function compareWithRecording(
  controlPlane: ControlPlane,
  subject: ConformanceCase,
  { pace, recorded }: { readonly pace: Pace; readonly recorded: Transcript | undefined },
): Promise<void> {
  using real = new RealHost(controlPlane);
  const answers = await transcriptOf(real, subject, pace);
  const difference = recorded === undefined ? "It is not recorded" : differenceOf(answers, recorded, "recorded");
  if (difference === "") return;
  throw new Error(`Cannot find what is recorded: run deno task conformance --record\n${difference}`);
}

/** Runs a case on both servers. The embedded server has no caches to wait for. */
async function differenceOnce(controlPlane: ControlPlane, subject: ConformanceCase, pace: Pace): Promise<string> {
  using real = new RealHost(controlPlane);
  const expected = await transcriptOf(real, subject, pace);
  await using embedded = await EmbeddedHost.start(subject, controlPlane.description.binaries.kubectl);
  const actual = transcriptOf(embedded, subject, { ...pace, pauseMs: 0 });
  // An error of a case with a known difference counts as a difference.
  return differenceOf(expected, subject.known === undefined ? await actual : await actual.catch(() => []));
}
