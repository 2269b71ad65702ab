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
const pieces = "a|: |- |? |, |[|]|{|}|\n|\n  |\t|'|\"|\\x|#|&a |*a|<<: *a|!|!!int |%|---\n|...\n|> \n|7|0x|~|key: 1\n|é"
  .split("|");

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
