/**
 * The conformance suite on a real control plane: every case runs there and on the embedded server, and the transcripts must
 * be equal, or differ where it is said why.
 *
 *   deno task cluster -- deno test -A --no-check tests/conformance/conformance_test.ts
 */
import { controlPlaneTest } from "../controlplane/test.ts";
import { caseGroups } from "./cases/mod.ts";
import { EmbeddedHost } from "./embedded_host.ts";
import { RealHost } from "./real_host.ts";
import { differenceOf, judge, transcriptOf } from "./transcript.ts";

for (const { group, cases } of caseGroups) {
  for (const subject of cases) {
    controlPlaneTest(`conformance, ${group}: ${subject.name}`, async (controlPlane) => {
      using real = new RealHost(controlPlane);
      const expected = await transcriptOf(real, subject);
      await using embedded = await EmbeddedHost.start(subject, controlPlane.description.binaries.kubectl);
      judge(subject, differenceOf(expected, await attemptOn(embedded)));

      /** A case that the embedded server cannot even be asked differs too. */
      async function attemptOn(host: EmbeddedHost) {
        if (subject.known === undefined) return await transcriptOf(host, subject);
        return await transcriptOf(host, subject).catch(() => []);
      }
    }, { needs: "kube-controller-manager" });
  }
}
