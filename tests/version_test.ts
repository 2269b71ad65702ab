/** The part of the version that changes of the public API raise. */
import {
  type ApiChanges,
  compareApis,
  isRaised,
  linesOf,
  parseApi,
  printApi,
  risingPart,
  type VersionPart,
} from "../tasks/_public_api.ts";
import { nextVersionOf, versionProblem } from "../tasks/version.ts";
import { assertEquals, assertMatch, assertThrows, test } from "./testing.ts";

const text = { repr: "string", kind: "keyword" };
let calls = 0;

/** The output of `deno doc` for an interface with these properties, and a function. */
function documented(properties: readonly object[], params: readonly object[] = []) {
  const place = { location: { line: calls++ }, jsDoc: { doc: `call ${calls}` } };
  const declared = (kind: string, def: Readonly<Record<string, unknown>>) => [{
    ...{ kind, declarationKind: "export", def },
    ...place,
  }];
  const members = properties.map((property) => ({ ...property, ...place }));
  const symbols = [
    { name: "StartOptions", declarations: declared("interface", { properties: members, methods: [] }) },
    { name: "start", declarations: declared("function", { params, returnType: text }) },
  ];
  return new Map(linesOf({ nodes: { "file:///mod.ts": { symbols } } }, "@a/b"));
}

const port = { name: "port", optional: true, tsType: text };
const none: ApiChanges = { removed: [], changed: [], required: [], added: [] };

const changes: Readonly<Record<string, readonly [ReturnType<typeof documented>, Partial<ApiChanges>]>> = {
  "other comments and places": [documented([port]), {}],
  "an optional property": [documented([port, { ...port, name: "host" }]), {
    added: ["@a/b StartOptions.host? interface"],
  }],
  "a property that users must set": [documented([port, { name: "host", tsType: text }]), {
    required: ["@a/b StartOptions.host interface"],
  }],
  "a property that becomes required": [documented([{ ...port, optional: false }]), {
    removed: ["@a/b StartOptions.port? interface"],
    required: ["@a/b StartOptions.port interface"],
  }],
  "a property that goes": [documented([]), { removed: ["@a/b StartOptions.port? interface"] }],
  "another type of a property": [documented([{ ...port, tsType: { repr: "number", kind: "keyword" } }]), {
    changed: ["@a/b StartOptions.port? interface"],
  }],
  "another parameter": [documented([port], [{ name: "options" }]), { changed: ["@a/b start function"] }],
};

for (const [title, [after, expected]] of Object.entries(changes)) {
  test(`compareApis() finds ${title}`, () => {
    assertEquals(compareApis(documented([port]), after), { ...none, ...expected });
  });
}

test("an API is read as it was printed", () => {
  const api = documented([port]);
  assertEquals(parseApi(printApi("1.2.3", api)), { version: "1.2.3", api });
});

const line = ["@a/b start function"];
const parts: readonly (readonly [version: string, Partial<ApiChanges>, VersionPart])[] = [
  ["1.2.3", { removed: line }, "major"],
  ["1.2.3", { changed: line }, "major"],
  ["1.2.3", { required: line }, "major"],
  ["1.2.3", { added: line }, "minor"],
  ["1.2.3", {}, "patch"],
  ["0.2.3", { removed: line }, "minor"],
  ["0.2.3", { added: line }, "patch"],
];

for (const [version, some, part] of parts) {
  test(`${Object.keys(some)[0] ?? "no"} declarations after ${version} raise the ${part} part`, () => {
    assertEquals(risingPart(version, { ...none, ...some }), part);
  });
}

const raised: readonly (readonly [from: string, to: string, VersionPart, boolean])[] = [
  ["0.1.0", "0.2.0", "minor", true],
  ["0.1.0", "0.2.0-next.1", "minor", true],
  ["0.1.0", "1.0.0", "minor", true],
  ["0.1.9", "0.1.10", "minor", false],
  ["0.1.9", "0.1.10", "patch", true],
  ["0.1.9", "0.1.9", "patch", false],
  ["1.9.0", "1.10.0", "major", false],
  ["1.9.0", "2.0.0", "major", true],
  ["1.9.0", "soon", "patch", false],
];

for (const [from, to, part, expected] of raised) {
  test(`isRaised() says ${expected} for the ${part} part of ${from} in ${to}`, () => {
    assertEquals(isRaised(from, to, part), expected);
  });
}

test("a version that is too low is a problem, and so is a change without a new version", () => {
  const problem = (next: string, some: Partial<ApiChanges>) =>
    versionProblem({ last: "0.1.0", next, changes: { ...none, ...some } });
  assertMatch(
    problem("0.1.1", { removed: line }) ?? "",
    /is 0\.1\.1 in CHANGELOG\.md, but the minor part of 0\.1\.0 must/,
  );
  assertMatch(problem("0.1.0", { added: line }) ?? "", /the patch part of 0\.1\.0 must rise/);
  assertEquals([problem("0.2.0", { removed: line }), problem("0.1.0", {})], [undefined, undefined]);
});

test("the next version is that of the first heading", () => {
  assertEquals(nextVersionOf("# Changelog\n\n## Unreleased (0.2.0)\n\n## 0.1.0\n"), "0.2.0");
  assertEquals(nextVersionOf("# Changelog\n\n## 0.2.0-next.1\n\n## 0.1.0\n"), "0.2.0-next.1");
  assertMatch(String(assertThrows(() => nextVersionOf("## Unreleased\n"))), /begins with "## Unreleased"\. Write/);
});
