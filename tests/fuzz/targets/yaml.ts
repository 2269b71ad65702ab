/**
 * YAML of users: parseYaml() and printYaml() of src/yaml, and the YAML bodies of the embedded API server.
 *
 * Promises: parsing throws nothing; a value throws only for aliases and merges; what is printed is read as the same value, by
 * YAML 1.1 and 1.2; JSON is read as JSON.parse reads it.
 */
import fc from "fast-check";
import { parseExactJson } from "../../../src/api/mod.ts";
import { parseYaml as parseBody, yamlText } from "../../../src/apiserver/http/yaml.ts";
import { isJsonObject, StatusError } from "../../../src/apiserver/model/mod.ts";
import { parseYaml, printYaml } from "../../../src/yaml/mod.ts";
import { Finding, type FuzzTarget, isSameJson, orRefused, promise, textOf } from "../target.ts";

/** @returns undefined for a text with problems or without a value */
function valueOf(text: string, dialect: "core" | "go"): { readonly value: unknown } | undefined {
  const document = parseYaml(text, { dialect });
  document.duplicateKeys();
  if (document.problems.length > 0) return undefined;
  try {
    return { value: document.value() };
  } catch (error) {
    // Aliases and merges, and the limits of the values.
    if (error instanceof Error && !(error instanceof TypeError)) return undefined;
    throw error;
  }
}

/** The value as it is printed: without halves of surrogate pairs. */
function wellFormed(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key.toWellFormed(), wellFormed(item)]));
}

function checkPrinted(value: unknown): void {
  for (const style of ["plain", "go"] as const) {
    const printed = printYaml(value, { style });
    for (const dialect of style === "go" ? ["go"] as const : ["core", "go"] as const) {
      const read = valueOf(printed, dialect);
      if (read === undefined || !isSameJson(read.value, wellFormed(value))) {
        throw new Finding(`What ${style} prints has another meaning in ${dialect}\n${JSON.stringify(printed)}`);
      }
    }
  }
}

/** JSON without duplicate keys. */
function jsonIn(text: string): { readonly value: unknown } | undefined {
  const read = orRefused(() => ({ value: parseExactJson(text) }), SyntaxError);
  if (read === undefined || parseYaml(text).duplicateKeys().length > 0) return undefined;
  return read;
}

/** Numbers that JSON does not have are null there. */
function isJsonValue(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value === "object" && value !== null) return Object.values(value).every(isJsonValue);
  return true;
}

/** The target. */
export const target: FuzzTarget = {
  seeds: [
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  labels: {a: b, 'c': \"d\"}\ndata:\n  x: |\n    long\n    text\n  y: >-\n    folded\n",
    "a: &x [1, 2]\nb: *x\nc: {<<: {d: 1}}\n",
    "- 0x1F\n- 010\n- 0o10\n- 1e999\n- -.inf\n- .nan\n- yes\n- 2001-01-01\n- 1:20\n- ~\n- 12345678901234567890\n- 9007199254740993\n",
    '{"a": [1, -0, 1e5, "\\ud800", null, true], "": {}}',
    "? [a, b]\n: c\n? {d: e}\n: f\n!!binary aGk=: !!str 5\n",
    "%YAML 1.1\n---\na: !!set {x, y}\n...\n",
  ],
  arbitrary: fc.oneof(
    fc.json(),
    fc.jsonValue().map((value) => printYaml(value)),
    fc.array(
      fc.constantFrom(...[
        "a: ",
        "- ",
        "\n",
        "  ",
        "b",
        "'x'",
        '"y"',
        "{",
        "}",
        "[",
        "]",
        ",",
        "|\n  t\n",
        ">-\n  t\n",
        "&x ",
        "*x",
        "!!str ",
        "? ",
        "0x1f",
        "# c\n",
        "---\n",
        "1e999",
        "null",
        "<<: ",
      ]),
      { maxLength: 25 },
    ).map((parts) => parts.join("")),
  ),
  words: [
    ...[
      "&a ",
      "*a",
      "<<: ",
      "!!binary ",
      "!!set ",
      "!!omap ",
      "!!timestamp ",
      "!!float ",
      "!!int ",
      "? ",
      "---\n",
      "...\n",
      "%YAML 1.1\n",
      "|2-\n",
      ">+\n",
    ],
    ...[
      "\t",
      "\u2028",
      "\ufeff",
      "0o7",
      "0b1",
      ".inf",
      "1_000",
      "1:30",
      "yes",
      "~",
      "=",
      "\\x41",
      "\\U0001F600",
      '"\\ud800"',
      "\r\n",
    ],
  ],
  async check(input) {
    const text = textOf(input);
    const json = jsonIn(text);
    const core = valueOf(text, "core");
    if (json !== undefined && core !== undefined) {
      promise(
        isSameJson(core.value, json.value),
        "YAML reads JSON as another value",
      );
    }
    const go = valueOf(text, "go");
    for (const read of [core, go]) if (read !== undefined && isJsonValue(read.value)) checkPrinted(read.value);
    try {
      const { value } = await parseBody(input, (why) => new StatusError(400, "BadRequest", why));
      if (!isJsonObject(value)) return;
      const again = await parseBody(
        new TextEncoder().encode(await yamlText(value)),
        (why) => new Finding(`Printed YAML is malformed: ${why}`) as never,
      );
      promise(
        isSameJson(again.value, value),
        "A body that is printed as YAML has another meaning",
      );
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
    }
  },
};
