/** Tests the JUnit report of simulate. */
import { assertEquals, test } from "../../../tests/testing.ts";
import { casesOf, junitXml } from "./junit.ts";

const violation = (invariant: string, message: string) => ({ invariant, message });

test("each violation is a failed case, and each workload without one a passed case", () => {
  const findings = [
    { workload: "scale", violations: [violation("end-state", "a < b")], text: "first" },
    { workload: "scale", violations: [violation("end-state", "b")], text: "second" },
    { workload: "scale", violations: [violation("quiescence", "c"), violation("end-state", "d")], text: "third" },
  ];
  assertEquals(casesOf(["create", "scale"], findings).map(({ name, failure }) => [name, failure?.text]), [
    ["create", undefined],
    ["scale: end-state", "first"],
    ["scale: end-state (2)", "second"],
    ["scale: quiescence", "third"],
  ]);
});

test("the report is XML, also with texts that XML cannot have", () => {
  const text = 'a <b> & "c"\n\u0007 \ud800';
  const xml = junitXml([
    {
      name: "foo",
      seconds: 1.5,
      cases: [{ name: "create" }, { name: "x", failure: { type: "end-state", message: "a\nb", text } }],
    },
  ]);
  assertEquals(
    xml,
    `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="simulate" tests="2" failures="1" errors="0" skipped="0">
  <testsuite name="foo" tests="2" failures="1" errors="0" skipped="0" time="1.500">
    <testcase classname="foo" name="create"/>
    <testcase classname="foo" name="x">
      <failure type="end-state" message="a&#10;b">a &lt;b&gt; &amp; &quot;c&quot;
\ufffd \ufffd</failure>
    </testcase>
  </testsuite>
</testsuites>
`,
  );
});
