/**
 * The conformance suite on a real control plane: every case runs there and on the embedded server. The transcripts must
 * be equal, or differ with a stated reason.
 *
 *   deno task cluster -- deno test -A --no-check tests/conformance/conformance_test.ts
 */
import type { ControlPlane } from "../controlplane/mod.ts";
import { controlPlaneTest } from "../controlplane/test.ts";
import { caseGroups } from "./cases/mod.ts";
import type { ConformanceCase } from "./conformance_case.ts";
import { EmbeddedHost } from "./embedded_host.ts";
import { RealHost } from "./real_host.ts";
import { differenceOf, judge, transcriptOf } from "./transcript.ts";

/**
 * The real server runs beside controllers, and iterates over Go maps in any order, so a response can differ between runs. A
 * difference counts if it occurs in each run.
 */
const maxRuns = 3;

for (const { group, cases } of caseGroups) {
  for (const subject of cases) {
    controlPlaneTest(`conformance, ${group}: ${subject.name}`, async (controlPlane) => {
      let difference = "";
      for (let count = 0; count < maxRuns; count++) {
        difference = await differenceOnce(controlPlane, subject);
        if (difference === "") break;
      }
      judge(subject, difference);
    }, { needs: "kube-controller-manager" });
  }
}

/** Runs a case on both servers. */
async function differenceOnce(controlPlane: ControlPlane, subject: ConformanceCase): Promise<string> {
  using real = new RealHost(controlPlane);
  const expected = await transcriptOf(real, subject);
  await using embedded = await EmbeddedHost.start(subject, controlPlane.description.binaries.kubectl);
  const actual = transcriptOf(embedded, subject);
  // An error of a case with a known difference counts as a difference.
  return differenceOf(expected, subject.known === undefined ? await actual : await actual.catch(() => []));
}
