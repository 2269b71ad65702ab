/**
 * Attacks by size on YAML: texts of one character pattern or of mixed pieces, repeated up to the limit of a body. The library
 * needs microseconds for each token and up to minutes for nesting, aliases and errors.
 *
 * The rules: parsing never throws and reports at most 20 problems; a large text is parsed in many turns, so that other
 * requests are served meanwhile, or is refused; what the API server says about it is short. There is no clock here: without
 * the limits these texts take many minutes.
 */
import { KubernetesTestServer } from "../../src/apiserver/testing/kubernetes_test_server.ts";
import { seededRandom } from "../../src/async/mod.ts";
import { parseYaml, parseYamlInTurns } from "../../src/yaml/mod.ts";
import { assert, assertEquals, test } from "../testing.ts";

const random = seededRandom(14);
const below = (count: number) => Math.floor(random.next() * count);

const maxCharacters = 3 * 1024 * 1024;
const pieces =
  "\r\n|\t|a|: |- |? |, |[|]|{|}|\n|\n  |\t|'|\"|\\x|#|&a |*a|<<: *a|!|!!int |%|---\n|...\n|> \n|7|0x|~|key: 1\n|é"
    .split("|");

const head = "apiVersion: v1\nkind: Config\ncurrent-context: a\n";

/** Kubeconfigs of a megabyte whose own lists are long, empty or wrong, in each notation. */
function* hostileKubeconfigs(): Generator<string> {
  const entries = [
    "{name: x#, context: {cluster: a, user: a}}",
    "{name: a, user: {token: t}}",
    "{}",
    "1",
    "",
    "&a# [x]",
  ];
  for (const name of ["contexts", "clusters", "users", "extensions"]) {
    const entry = entries[below(entries.length)] ?? "";
    const items = Array.from({ length: 15_000 }, (_, index) => entry.replace("#", String(index)));
    yield `${head}${name}:\n${items.map((item) => `- ${item}`).join("\r\n".slice(below(2)))}`;
    yield `${head}${name}: [${items.filter((item) => item !== "").join(", ")}]`;
  }
  for (const name of ["x\t", '"x\\u0041"', "*a", "<<"]) yield `${head}a: &a {b: 1}\n${`${name}: *a\n`.repeat(90_000)}`;
  yield `${head}${Array.from({ length: 12 }, (_, at) => `a${at}: &a${at} [${`*a${at - 1},`.repeat(9)}]`).join("\n")}`;
}

/** Texts that repeat one to four pieces up to the limit, and texts of random pieces. */
function* hostileTexts(): Generator<string> {
  for (const piece of pieces) yield repeated(piece);
  for (let round = 0; round < 20; round++) {
    const unit = Array.from({ length: 2 + below(3) }, () => pieces[below(pieces.length)]).join("");
    yield repeated(unit);
  }
  for (let round = 0; round < 20; round++) {
    yield Array.from({ length: 20_000 }, () => pieces[below(pieces.length)]).join("");
  }
  yield Array.from({ length: 250_000 }, (_, index) => `k${index}: ${index}`).join("\n");
  yield Array.from({ length: 250_000 }, () => "a: 1").join("\n");
  yield* hostileKubeconfigs();
  yield `a: &a {b: 1}\n${Array.from({ length: 50_000 }, (_, index) => `c${index}:\n  <<: *a`).join("\n")}`;
}

function repeated(unit: string): string {
  return unit.repeat(Math.ceil(maxCharacters / unit.length)).slice(0, maxCharacters);
}

test("[94] a YAML text of any pattern is parsed or refused within its budget, with at most 20 problems", () => {
  let refused = 0;
  for (const text of hostileTexts()) {
    const document = parseYaml(text, { dialect: "go" });
    assert(document.problems.length <= 20);
    if (document.problems[0]?.code === "TOO_LARGE") refused++;
    assert(document.duplicateKeys().length <= 100);
    try {
      document.value();
    } catch (error) {
      assert(error instanceof Error && !/call stack/.test(error.message), String(error));
    }
  }
  assert(refused > 20, `${refused} are refused`);
});

/** Texts with one part that JSON cannot express, at a random place between valid parts, and the line of the part. */
function textOutsideJson(): readonly [text: string, line: number] {
  const keys = [
    "? [a, b]\n: 1",
    "? {a: 1}\n: 1",
    "{a: 1}: x",
    "[[]]: x",
    "*anchor : x",
    "? *anchor\n: 1",
    "? - a\n  - b\n: 1",
  ];
  const numbers = [
    "1e999",
    "-1e999",
    ".inf",
    "-.Inf",
    ".nan",
    "9".repeat(320),
    `-${"9".repeat(399)}`,
    `1${"0".repeat(310)}.5`,
  ];
  const odd = [
    ...keys,
    ...numbers.map((number) => `n: ${number}`),
    ...numbers.map((number) => `n: [1, {m: ${number}}]`),
  ];
  const lines = ["first: &anchor text", ...Array.from({ length: below(50) }, (_, index) => `k${index}: [${index}]`)];
  return [[...lines, odd[below(odd.length)], "last: 1"].join("\n"), lines.length + 1];
}

test("[security 17] keys that are no text and numbers that are not finite are refused with their line", () => {
  for (let round = 0; round < 300; round++) {
    const [text, line] = textOutsideJson();
    for (const dialect of ["core", "go"] as const) {
      const { problems, value } = parseYaml(text, { dialect });
      // Go reads digits that no float64 can hold as text.
      const digits = /^n: .*?(-?[\d.e]{5,})/m.exec(text)?.[1];
      if (dialect === "go" && digits !== undefined) {
        assertEquals([problems, JSON.stringify(value()).includes(`"${digits}"`)], [[], true], text);
        continue;
      }
      assertEquals(problems.map((problem) => problem.line), [line], `${dialect}: ${text}`);
      const codes = ["KEY_IS_NO_TEXT", "KEY_IS_COLLECTION", "KEY_IS_NULL", "NUMBER_OUT_OF_RANGE"];
      assert(codes.includes(problems[0]?.code ?? ""), text);
    }
  }
  const many = parseYaml("[a]: .inf\n".repeat(20_000));
  assertEquals(many.problems.length, 20);
});

test("[security 17] tags of YAML 1.1 and broken escapes cost no more than other text", () => {
  for (const tag of ["!!set", "!!omap", "!!pairs", "!!timestamp"]) {
    for (const tagged of [`${tag} ${"x".repeat(1_000_000)}`, `${tag} [${"a: 1,".repeat(20_000)}]`]) {
      assertEquals(parseYaml(`a: ${tagged}`, { dialect: "go" }).problems.map(({ code }) => code), ["TAG_WITHOUT_JSON"]);
    }
  }
  for (const bytes of ["QUJD".repeat(500_000), "~".repeat(1_000_000), "/w==".repeat(250_000)]) {
    const { problems } = parseYaml(`a: !!binary ${bytes}`, { dialect: "go" });
    assertEquals(problems.length, bytes.startsWith("Q") ? 0 : 1);
  }
  const [problem, ...others] = parseYaml(`a: 1\nb: "${"\\x".repeat(1_000_000)}"`).problems;
  assertEquals([problem?.code, problem?.line, others], ["BAD_DQ_ESCAPE", 2, []]);
  const valid = String.raw`\0\a\b\e\t\n\v\f\r\"\/\\\N\_\L\P\x41\u0041\U00000041\ `;
  assertEquals(parseYaml(`a: "${valid.repeat(100)}"`).problems, []);
});

test("a large YAML text is parsed in many turns", async () => {
  for (const lines of [1_000, 10_000, 30_000]) {
    let turns = 0;
    const text = Array.from({ length: lines }, (_, index) => `k${index}: ${index}`).join("\n");
    const document = await parseYamlInTurns(text, {}, () => Promise.resolve(void turns++));
    assertEquals(document.problems, []);
    assert(turns >= Math.floor(lines * 7 / 10_000), `${turns} turns for ${lines} lines`);
  }
});

const maps = "/api/v1/namespaces/default/configmaps";

test("[95] a body with very many duplicate or unknown keys gets a short answer", async () => {
  using server = new KubernetesTestServer();
  const long = "k".repeat(100_000);
  const [json, yaml] = [{}, { "content-type": "application/yaml" }];
  const repeats = (part: string, count: number) => Array(count).fill(part).join(",");
  const names = (count: number) => Array.from({ length: count }, (_, index) => `"x${index}":1`).join(",");
  const bodies: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    [`{"metadata":{"name":"a"},"data":{${repeats('"a":"b"', 300_000)}}}`, json],
    [`{"metadata":{"name":"a"},"${long}":{${repeats('"a":1', 200_000)}}}`, json],
    [`{"metadata":{"name":"a"},${names(100_000)}}`, json],
    [`{"metadata":{"name":"a"},"${long}":1,"x":1}`, json],
    [`metadata:\n  name: a\ndata:\n${"  a: b\n".repeat(20_000)}`, yaml],
    [`metadata:\n  name: a\n${"? a\n: b\n".repeat(200_000)}`, yaml],
    [`{"metadata":{"name":"a"},"data":{${repeats('"a":"b"', 300_000)}}}`, yaml],
  ];
  for (const [body, headers] of bodies) {
    const { code, body: status } = await server.send("POST", `${maps}?fieldValidation=Strict`, body, headers);
    assert(code === 400 || code === 413, `${code} for ${body.slice(0, 60)}`);
    assert(JSON.stringify(status).length < 200_000, `${JSON.stringify(status).length} characters`);
  }
  // JSON is YAML, and has no limit of tokens.
  const { code } = await server.send(
    "POST",
    maps,
    `{"metadata":{"name":"a"},"data":{${names(50_000).replaceAll(":1", ':""')}}}`,
    yaml,
  );
  assertEquals(code, 201);
  assertEquals(server.errors, []);
});
