import { assertEquals, assertMatch, test } from "../../../tests/testing.ts";
import { policyRules } from "../../manager/mod.ts";
import { formatClusterSource, parseClusterSource } from "./clusters_flag.ts";
import { providerGrants } from "./provider_grants.ts";

test("each form of --clusters is parsed, and printed as it was written", () => {
  const forms = [
    ["contexts:a,b", { kind: "contexts", contexts: ["a", "b"] }],
    ["contexts:*", { kind: "contexts", contexts: undefined }],
    ["folder:/etc/fleet", { kind: "folder", path: "/etc/fleet" }],
    ["secrets:fleet", { kind: "secrets", namespace: "fleet", labelSelector: undefined }],
    ["capi", { kind: "capi", namespace: undefined }],
    ["capi:clusters", { kind: "capi", namespace: "clusters" }],
  ] as const;
  for (const [text, source] of forms) {
    assertEquals<unknown>(parseClusterSource(text), source);
    assertEquals(formatClusterSource(source), text);
  }
  const selected = parseClusterSource("secrets:fleet/env=prod,tier!=test");
  if (selected.kind === "invalid") throw new Error(selected.state);
  const printed = formatClusterSource(selected);
  const again = parseClusterSource(printed);
  assertEquals(again.kind === "invalid" ? again.state : formatClusterSource(again), printed);
});

test("what is no source is refused with the reason", () => {
  const cases = [
    ["east", /none of contexts/],
    ["", /none of contexts/],
    ["contexts:", /none of contexts/],
    ["contexts:,", /names no context/],
    ["folder", /names no folder/],
    ["secrets", /its namespace cannot exist/],
    ["secrets:A_B", /its namespace cannot exist/],
    ["secrets:fleet/a in", /./],
    ["capi:A_B", /its namespace cannot exist/],
  ] as const;
  for (const [text, message] of cases) {
    const source = parseClusterSource(text);
    assertMatch(source.kind === "invalid" ? source.state : "accepted", message);
  }
});

test("[security 7] the provider may only list and watch what it reads, where it reads it", () => {
  const rulesOf = (text: string) => {
    const source = parseClusterSource(text);
    if (source.kind === "invalid") throw new Error(source.state);
    return [...policyRules(providerGrants(source))].map(([namespace, rules]) =>
      `${namespace}: ${rules.map(({ resources, verbs }) => `${resources?.join()} ${verbs.join()}`).join("; ")}`
    );
  };
  assertEquals(rulesOf("contexts:*"), []);
  assertEquals(rulesOf("secrets:fleet"), ["fleet: events create,patch; secrets list,watch"]);
  assertEquals(rulesOf("capi"), [": clusters list,watch; events create,patch; secrets list,watch"]);
});
