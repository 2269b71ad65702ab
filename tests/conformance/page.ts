/**
 * The page docs/CONFORMANCE.md: the number of cases, the differences of the embedded server, on purpose or not yet, the depth of
 * each kind, and what is not served.
 */
import { caseGroups } from "./cases/mod.ts";
import type { ConformanceCase } from "./conformance_case.ts";
import { effectText, kindLines, notServed } from "./kind_depths.ts";

/** The page, in Markdown. */
export async function conformancePage(): Promise<string> {
  const all = caseGroups.flatMap(({ group, cases }) => cases.map((subject) => ({ group, ...subject })));
  const deliberate = all.filter((subject) => subject.deliberate !== undefined);
  const known = all.filter((subject) => subject.known !== undefined);
  return [
    "# Conformance",
    "",
    "The embedded API server and a real kube-apiserver 1.36.3 (with kube-controller-manager) get the same requests, and",
    "their responses are compared: codes, reasons, messages, bodies, warnings, watch events, managed fields, and the",
    "output of kubectl. If they differ, the real one is right. `deno task e2e` compares live; `deno task ok` compares with",
    "`tests/conformance/recordings`. `deno task conformance --page` writes this page.",
    "",
    `${all.length} cases: ${all.length - deliberate.length - known.length} agree, ${deliberate.length} differ on ` +
    `purpose, ${known.length} not yet.`,
    "",
    "| group | cases | on purpose | not yet |",
    "| --- | --- | --- | --- |",
    ...caseGroups.map(({ group, cases }) =>
      `| ${group} | ${cases.length} | ${count(cases, "deliberate")} | ${count(cases, "known")} |`
    ),
    "",
    "## Different on purpose",
    "",
    ...deliberate.map(({ group, name, deliberate: why }) => `- ${group}: ${escaped(name)} (${why})`),
    "",
    "## Not yet",
    "",
    ...known.map(({ group, name, known: why }) => `- ${group}: ${escaped(name)} (${why})`),
    "",
    "## Kinds",
    "",
    "- full: checked as by the real server, and what Kubernetes does with it happens here, too",
    "- shallow: only some checks are those of the real server, or only a part of what Kubernetes does happens here",
    "",
    "Controllers are those of the simulated cluster: `dev --bare` and `envtest` have none, as a kube-apiserver alone.",
    "",
    "| kind | depth | checks | who acts on it |",
    "| --- | --- | --- | --- |",
    ...kindLines().map(({ collection, depth, checks, effect }) =>
      `| ${collection} | ${depth} | ${checks} | ${effectText(effect)} |`
    ),
    "",
    "## Not served",
    "",
    ...(await notServed()).map((path) => `- \`${path}\``),
    "- kinds in alpha and beta versions, which a real server serves only if it is told to",
    "",
  ].join("\n");
}

function count(cases: readonly ConformanceCase[], mark: "deliberate" | "known"): number {
  return cases.filter((subject) => subject[mark] !== undefined).length;
}

/** A name as text, with Markdown's special characters. */
function escaped(name: string): string {
  return `\`${name.replaceAll("`", "'")}\``;
}
