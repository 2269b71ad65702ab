/**
 * The conformance suite on a real control plane: every case runs there and on the embedded server. The transcripts must
 * be equal, or differ with a stated reason.
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
import { differenceOf, judge, transcriptOf } from "./transcript.ts";

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
  for (const subject of cases) {
    controlPlaneTest(`conformance, ${group}: ${subject.name}`, async (controlPlane) => {
      const failures: unknown[] = [];
      for (const pace of paces) {
        try {
          return judge(subject, await differenceOnce(controlPlane, subject, pace));
        } catch (error) {
          failures.push(error);
        }
      }
      throw failures.at(-1);
    }, { needs: "kube-controller-manager" });
  }
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
