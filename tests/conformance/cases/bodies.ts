/**
 * Bodies that are not what clients usually send: byte-order marks, several documents, no body, bytes that are not UTF-8, deep
 * nesting, and content types with parameters, in each way to write built-in kinds and custom resources.
 */
import { type ConformanceCase, scenario } from "../conformance_case.ts";
import type { CaseRun } from "../case_run.ts";
import { at, type Body, configMap, service } from "./_objects.ts";
import { thingDefinition, type Things, withThings } from "./_things.ts";

/** A way to send an object, or a change of it. */
interface Sending {
  readonly name: string;
  readonly method: "POST" | "PUT" | "PATCH" | "DELETE";
  readonly type: string;
  readonly query?: string;
}

const sendings: readonly Sending[] = [
  { name: "a create", method: "POST", type: "application/json" },
  { name: "a create in YAML", method: "POST", type: "application/yaml" },
  { name: "an update", method: "PUT", type: "application/json" },
  { name: "a merge patch", method: "PATCH", type: "application/merge-patch+json" },
  { name: "a strategic merge patch", method: "PATCH", type: "application/strategic-merge-patch+json" },
  { name: "a JSON patch", method: "PATCH", type: "application/json-patch+json" },
  { name: "an apply", method: "PATCH", type: "application/apply-patch+yaml", query: "&fieldManager=me&force=true" },
  { name: "a delete", method: "DELETE", type: "application/json" },
];

/** An object that a case writes. */
interface Target {
  readonly path: string;
  readonly object: Body;
  /** What a patch changes. */
  readonly change: Body;
}

/** What the request would carry, if it were well-formed. */
function usualText({ method, type }: Sending, { object, change }: Target): string {
  if (method === "DELETE") return '{"gracePeriodSeconds":0}';
  if (type === "application/json-patch+json") {
    const [[key, value] = ["", ""]] = Object.entries(change);
    return JSON.stringify([{ op: "add", path: `/${key}`, value }]);
  }
  if (type.includes("merge-patch")) return JSON.stringify(change);
  return JSON.stringify(object);
}

const encoder = new TextEncoder();

function joined(...parts: readonly (string | readonly number[])[]): Uint8Array {
  return Uint8Array.from(
    parts.flatMap((part) => typeof part === "string" ? [...encoder.encode(part)] : [...part]),
  );
}

/** A text with other bytes in the place of the word `value`, which each usual text has once. */
function withValue(text: string, bytes: string | readonly number[]): Uint8Array {
  const [before = "", after = ""] = text.split("value", 2).length === 2 ? splitOnce(text) : [text, ""];
  return joined(before, bytes, after);
}

function splitOnce(text: string): readonly [string, string] {
  const at = text.lastIndexOf("value");
  return [text.slice(0, at), text.slice(at + "value".length)];
}

function nested(open: string, close: string, count: number): string {
  return `${open.repeat(count)}${close.repeat(count)}`;
}

type Form = readonly [name: string, bytes: (text: string) => string | Uint8Array];

/** Each of them is sent in each way. */
const forms: readonly Form[] = [
  ["with a byte-order mark", (text) => joined([0xef, 0xbb, 0xbf], text)],
  ["with a byte-order mark behind a space", (text) => joined(" ", [0xef, 0xbb, 0xbf], text)],
  ["with a trailing separator of documents", (text) => `${text}\n---\n`],
  ["with a trailing separator without a line end", (text) => `${text}\n---`],
  ["with a second document", (text) => `${text}\n---\n${text}\n`],
  ["with a leading separator of documents", (text) => `---\n${text}\n`],
  ["with an end of the document", (text) => `${text}\n...\n`],
  ["with two leading separators", (text) => `---\n---\n${text}\n`],
  ["twice", (text) => `${text}${text}`],
  ["with trailing text", (text) => `${text} more`],
  ["with a trailing brace", (text) => `${text}}`],
  ["with a trailing comma", (text) => `${text},`],
  ["with trailing space", (text) => `${text} \r\n\t \n`],
  ["cut off", (text) => text.slice(0, -1)],
  ["without bytes", () => new Uint8Array()],
  ["of spaces", () => " \n "],
  ["of a comment", () => "# nothing\n"],
  ["of a separator", () => "---\n"],
  ["null", () => "null"],
  ["an empty object", () => "{}"],
  ["an empty list", () => "[]"],
  ["a list with an object", () => "[{}]"],
  ["a text", () => '"text"'],
  ["a word", () => "text"],
  ["a number", () => "1"],
  ["true", () => "true"],
  ["in single quotes", (text) => text.replaceAll('"', "'")],
  ["with a comma before the end", (text) => text.replace(/([}\]])$/, ",$1")],
  ["with a comment of JavaScript", (text) => `/* a */ ${text}`],
  ["with bytes that are not UTF-8 in a value", (text) => withValue(text, [0x61, 0xff, 0xfe, 0x62])],
  ["with a cut-off character in a value", (text) => withValue(text, [0x61, 0xe2, 0x82])],
  ["with an overlong character in a value", (text) => withValue(text, [0xc0, 0xaf])],
  ["with an encoded surrogate in a value", (text) => withValue(text, [0xed, 0xa0, 0x80])],
  ["with an escaped lone surrogate in a value", (text) => withValue(text, "a\\ud800b")],
  ["with an escaped pair of surrogates in a value", (text) => withValue(text, "a\\ud83d\\ude00b")],
  ["with an escaped zero in a value", (text) => withValue(text, "a\\u0000b")],
  ["with a zero in a value", (text) => withValue(text, [0x61, 0, 0x62])],
  ["with a zero at the end", (text) => joined(text, [0])],
  ["with a control character in a value", (text) => withValue(text, [0x61, 1, 0x62])],
  ["with a tab in a value", (text) => withValue(text, "a\tb")],
  ["with a line end in a value", (text) => withValue(text, "a\nb")],
  ["with a delete character in a value", (text) => withValue(text, [0x61, 0x7f, 0x62])],
  ["with an unknown escape in a value", (text) => withValue(text, "a\\xb")],
  ["with a short escape in a value", (text) => withValue(text, "a\\u12")],
  ["with a line separator in a value", (text) => withValue(text, "a\u2028b")],
  ["with a replacement character in a value", (text) => withValue(text, "a\ufffdb")],
];

const builtIn: readonly ConformanceCase[] = forms.map(([name, bytes]) =>
  scenario(`a body ${name}`, async (run) => {
    const target = await mapTarget(run);
    for (const sending of sendings) await sendOne(run, target, sending, bytes);
  })
);

/** A definition takes the real server seconds, so these share one. */
const custom: readonly ConformanceCase[] = sendings.map((sending) =>
  withThings(`${sending.name} of a custom resource with each body`, async (run, things) => {
    for (const [, bytes] of forms) await sendOne(run, thingTarget(things), sending, bytes);
  })
);

async function mapTarget(run: CaseRun): Promise<Target> {
  const path = at(run, "configmaps");
  await run.prepare({ path, body: configMap("a") });
  return { path, object: configMap("a", { key: "value" }), change: { data: { other: "value" } } };
}

function thingTarget({ path, thing }: Things): Target {
  return { path, object: thing("a", { name: "value" }), change: { spec: { name: "value" } } };
}

async function sendOne(run: CaseRun, target: Target, sending: Sending, bytes: Form[1]): Promise<void> {
  const { method, type, query = "" } = sending;
  const path = `${target.path}${method === "POST" ? "" : "/a"}?dryRun=All${query}`;
  const object = method === "POST" ? { ...target, object: renamed(target.object) } : target;
  await run.call({ method, path, type, body: bytes(usualText(sending, object)), pick: partOf });
}

function renamed(object: Body): Body {
  return { ...object, metadata: { name: "b" } };
}

/** The part of an object that the body decides. */
// deno-lint-ignore no-explicit-any
function partOf({ kind, metadata, data, spec, status, details }: any): unknown {
  return { kind, name: metadata?.name, data, spec: kind === "Service" ? undefined : spec, status, details };
}

const types: readonly string[] = [
  "",
  "application/json",
  "application/json; charset=utf-8",
  "application/json;charset=latin1",
  "application/json ; a=b",
  "APPLICATION/JSON",
  "application/json;",
  "application/json; a",
  "application/json, application/yaml",
  "application/yaml",
  "application/yaml; charset=utf-8",
  "Application/Yaml",
  "application/x-yaml",
  "text/yaml",
  "text/plain",
  "json",
  "*/*",
  "application/*",
  ";",
  "application/x-www-form-urlencoded",
  "application/cbor",
  "application/merge-patch+json",
  "application/merge-patch+json; charset=utf-8",
  "Application/Merge-Patch+JSON",
  "application/merge-patch+yaml",
  "application/strategic-merge-patch+json;charset=utf-8",
  "application/json-patch+json; q=1",
  "application/apply-patch+yaml; charset=utf-8",
  "application/apply-patch+yaml;",
  "application/apply-patch+json",
  "application/apply-patch+cbor",
  "application/apply-patch",
];

const contentTypes: readonly ConformanceCase[] = [
  ...types.map((type) =>
    scenario(`the content type ${JSON.stringify(type)}`, async (run) => {
      await sendTyped(run, await mapTarget(run), type);
    })
  ),
  withThings("the content types of a custom resource", async (run, things) => {
    for (const type of types) await sendTyped(run, thingTarget(things), type);
  }),
];

async function sendTyped(run: CaseRun, { path, object, change }: Target, type: string): Promise<void> {
  await run.call({ path: `${path}?dryRun=All`, type, body: renamed(object), pick: partOf });
  await run.call({ method: "PUT", path: `${path}/a?dryRun=All`, type, body: object, pick: partOf });
  const isApply = type.includes("apply");
  const query = isApply ? "&fieldManager=me&force=true" : "";
  const body = type.toLowerCase().includes("json-patch") ? [] : isApply ? object : change;
  await run.call({ method: "PATCH", path: `${path}/a?dryRun=All${query}`, type, body, pick: partOf });
  const options = '{"dryRun":["All"]}';
  await run.call({ method: "DELETE", path: `${path}/a`, type, body: options, pick: partOf });
  await run.call({ method: "DELETE", path, type, body: options, pick: (list) => list.kind });
}

/** The embedded server reads a tenth of the depth of the real one. */
const depths = [10, 99, 100, 101, 500, 990];

const nesting: readonly ConformanceCase[] = [
  ...depths.map((depth) =>
    scenario(`${depth} lists and objects in each other`, async (run) => {
      for (const inner of innerTexts(depth)) {
        const body = `{"metadata":{"name":"b"},"data":{"a":"b"},"more":${inner}}`;
        await run.call({ path: `${at(run, "configmaps")}?dryRun=All`, body, pick: ({ kind }) => kind });
      }
    })
  ),
  withThings("lists and objects in each other in a custom resource", async (run, { path, group }) => {
    const type = "application/merge-patch+json";
    const pick = ({ kind }: { readonly kind: unknown }) => kind;
    for (const inner of depths.flatMap(innerTexts)) {
      const body = `{"kind":"Thing","metadata":{"name":"b"},"spec":{"free":{"a":${inner}}},"apiVersion":"${group}/v1"}`;
      await run.call({ path: `${path}?dryRun=All`, body, pick });
      await run.call({
        method: "PATCH",
        path: `${path}/a?dryRun=All`,
        type,
        body: `{"spec":{"free":{"a":${inner}}}}`,
        pick,
      });
    }
  }),
];

function innerTexts(depth: number): readonly string[] {
  return [nested("[", "]", depth), nested('{"a":', "}", depth).replace(":}", ":1}")];
}

const options: readonly (readonly [string, unknown])[] = [
  ["with an unknown field", { kind: "DeleteOptions", apiVersion: "v1", more: 1 }],
  ["of another version", { kind: "DeleteOptions", apiVersion: "v2" }],
  ["of a group", { kind: "DeleteOptions", apiVersion: "apps/v1" }],
  ["of another kind", { kind: "ConfigMap", apiVersion: "v1" }],
  ["of the meta group", { kind: "DeleteOptions", apiVersion: "meta.k8s.io/v1" }],
  ["without a kind", { apiVersion: "v1", gracePeriodSeconds: 0 }],
  ["with duplicate keys", '{"gracePeriodSeconds":0,"gracePeriodSeconds":5}'],
  ["with a text as period", { gracePeriodSeconds: "0" }],
  ["with a fraction as period", '{"gracePeriodSeconds":0.5}'],
  ["with 1.0 as period", '{"gracePeriodSeconds":1.0}'],
  ["with a negative period", { gracePeriodSeconds: -1 }],
  ["with a large period", '{"gracePeriodSeconds":9223372036854775808}'],
  ["with a text as orphanDependents", { orphanDependents: "yes" }],
  ["with an unknown policy", { propagationPolicy: "Later" }],
  ["with an empty policy", { propagationPolicy: "" }],
  ["with a policy and orphanDependents", { propagationPolicy: "Orphan", orphanDependents: true }],
  ["with a number as policy", { propagationPolicy: 1 }],
  ["with dryRun as text", { dryRun: "All" }],
  ["with an unknown dryRun", { dryRun: ["Some"] }],
  ["with two dryRuns", { dryRun: ["All", "All"] }],
  ["with null everywhere", { dryRun: null, gracePeriodSeconds: null, propagationPolicy: null, preconditions: null }],
  ["with a number in dryRun", { dryRun: [1] }],
  ["with a wrong UID", { preconditions: { uid: "a" } }],
  ["with a wrong version", { preconditions: { resourceVersion: "1" } }],
  ["with a number as UID", { preconditions: { uid: 1 } }],
  ["with text as preconditions", { preconditions: "a" }],
  ["with a list as preconditions", { preconditions: [] }],
  ["with ignoreStoreReadErrorWithClusterBreakingPotential", { ignoreStoreReadErrorWithClusterBreakingPotential: true }],
];

const deletes: readonly ConformanceCase[] = [
  ...options.map(([what, body]) =>
    scenario(`DeleteOptions ${what}`, async (run) => await deleteWith(run, await mapTarget(run), body))
  ),
  withThings("DeleteOptions of a custom resource", async (run, things) => {
    const { path, object } = thingTarget(things);
    for (const [, body] of options) {
      await run.until({ path, body: object }, (_, code) => code === 201 || code === 409);
      await deleteWith(run, thingTarget(things), body);
    }
  }),
];

async function deleteWith(run: CaseRun, { path }: Target, body: unknown): Promise<void> {
  await run.call({ method: "DELETE", path: `${path}/a?dryRun=All`, body, pick: partOf });
  await run.call({ method: "DELETE", path: `${path}?dryRun=All`, body, pick: (list) => list.kind });
}

/** Texts of YAML that are read as something else than they look like. */
const yamlTexts: readonly (readonly [string, string])[] = [
  ["an anchor and an alias", "data:\n  a: &x text\n  b: *x"],
  ["a merge key", "data:\n  <<: {a: b}\n  c: d"],
  ["an unknown alias", "data:\n  a: *none"],
  ["a tag", "data:\n  a: !!str 1"],
  ["a binary", "data:\n  a: !!binary aGVsbG8="],
  ["an unknown tag", "data:\n  a: !mine text"],
  ["yes", "data:\n  a: yes"],
  ["a number", "data:\n  a: 1"],
  ["a number as key", "data:\n  1: a"],
  ["true as key", "data:\n  true: a"],
  ["null as key", "data:\n  ~: a"],
  ["a date", "data:\n  a: 2020-01-01"],
  ["a time as key", "data:\n  2020-01-01: a"],
  ["a list as key", "data:\n  [a]: b"],
  ["an empty value", "data:\n  a:"],
  ["a literal block", "data:\n  a: |\n    x\n    y\n"],
  ["a folded block", "data:\n  a: >-\n    x\n    y\n"],
  ["a tab before a key", "data:\n\ta: b"],
  ["a tab in a value", "data:\n  a: b\tc"],
  ["wrong indentation", "data:\n  a: b\n c: d"],
  ["two colons", "data: a: b"],
  ["a directive", "%YAML 1.1\n---\ndata: {a: b}"],
  ["a directive of YAML 2", "%YAML 2.0\n---\ndata: {a: b}"],
  ["an unclosed list", "data: [a"],
  ["an unclosed text", 'data: {a: "b'],
  ["a reserved character", "data:\n  a: @b"],
  ["a percent sign", "data:\n  a: %b"],
  ["a backtick", "data:\n  a: `b"],
  ["duplicate keys", "data:\n  a: b\n  a: c"],
  ["duplicate keys at the top", "data: {a: b}\ndata: {c: d}"],
  ["a duplicate name", "data: {a: b}\nmetadata: {name: c}"],
  ["a question mark", "data:\n  ? a\n  : b"],
  ["carriage returns", "data:\r\n  a: b\r\n"],
  ["an unknown escape", 'data: {a: "\\q"}'],
  ["a list", "- a\n- b"],
  ["octal digits", "data: {a: 0o17, b: 017}"],
  ["a base of 60", "data: {a: 1:30}"],
  ["infinity", "data: {a: .inf}"],
  ["a next document only", "...\n---\ndata: {a: b}"],
];

const yamls: readonly ConformanceCase[] = [
  ...yamlTexts.map(([what, text]) =>
    scenario(`YAML with ${what}`, (run) => sendYaml(run, at(run, "configmaps"), yamlOf(text)))
  ),
  withThings("each YAML of a custom resource", async (run, { path, group }) => {
    for (const [, text] of yamlTexts) {
      const body = yamlOf(text).replace("ConfigMap", "Thing").replace("apiVersion: v1\n", "")
        .replace("metadata: {name: b}", `metadata: {name: b}\napiVersion: ${group}/v1`)
        .replace(/^data:/gm, "spec:");
      await sendYaml(run, path, body);
    }
  }, { definition: (group) => thingDefinition(group, anySpec) }),
];

/** Real servers name the first undeclared field in the order of a Go map. */
const anySpec: Body = {
  type: "object",
  properties: { spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
};

/** A ConfigMap with the text. */
function yamlOf(text: string): string {
  const head = "kind: ConfigMap\nmetadata: {name: b}\napiVersion: v1\n";
  if (text.startsWith("- ") || text.startsWith("...")) return `${text}\n`;
  return text.startsWith("%") ? `${text}\n${head}` : `${head}${text}\n`;
}

async function sendYaml(run: CaseRun, path: string, body: string): Promise<void> {
  await run.call({ path: `${path}?dryRun=All`, type: "application/yaml", body, pick: partOf });
  const type = "application/apply-patch+yaml";
  await run.call({ method: "PATCH", path: `${path}/b?dryRun=All&fieldManager=me`, type, body, pick: partOf });
}

const heads: readonly (readonly [string, Body])[] = [
  ["no kind", { kind: undefined }],
  ["no apiVersion", { apiVersion: undefined }],
  ["neither apiVersion nor kind", { apiVersion: undefined, kind: undefined }],
  ["an empty kind", { kind: "" }],
  ["null as kind", { kind: null }],
  ["a number as kind", { kind: 1 }],
  ["a number as apiVersion", { apiVersion: 1 }],
  ["another kind", { kind: "Secret" }],
  ["an unknown kind", { kind: "Nothing" }],
  ["the kind of a list", { kind: "List" }],
  ["a kind in lower case", { kind: "service" }],
  ["another version", { apiVersion: "v2" }],
  ["a group", { apiVersion: "apps/v1" }],
  ["too many slashes", { apiVersion: "a/b/c" }],
  ["a slash at the end", { apiVersion: "v1/" }],
  ["a slash at the start", { apiVersion: "/v1" }],
  ["a space", { apiVersion: " v1" }],
];

const headCases: readonly ConformanceCase[] = [
  ...heads.map(([what, head]) =>
    scenario(`a body with ${what}`, async (run) => {
      const path = at(run, "services");
      await run.prepare({ path, body: service("a") });
      await sendHead(run, path, { ...service("a"), ...head }, head);
    })
  ),
  withThings("bodies of a custom resource with other heads", async (run, { path, thing, version }) => {
    for (const [, head] of heads) await sendHead(run, path, { ...thing("a"), ...head }, head, version);
  }),
];

async function sendHead(run: CaseRun, path: string, body: Body, head: Body, resourceVersion?: string): Promise<void> {
  const pick = ({ kind, apiVersion }: Body) => ({ kind, apiVersion });
  await run.call({ path: `${path}?dryRun=All`, body: renamed(body), pick });
  const whole = { ...body, metadata: { name: "a", resourceVersion } };
  await run.call({ method: "PUT", path: `${path}/a?dryRun=All`, body: whole, pick });
  const query = "dryRun=All&fieldManager=me&force=true";
  await run.call({ method: "PATCH", path: `${path}/a?${query}`, type: "application/apply-patch+yaml", body, pick });
  const type = "application/merge-patch+json";
  await run.call({ method: "PATCH", path: `${path}/a?dryRun=All`, type, body: head, pick });
}

export const bodyCases: readonly ConformanceCase[] = [
  ...builtIn,
  ...custom,
  ...contentTypes,
  ...nesting,
  ...deletes,
  ...yamls,
  ...headCases,
];
