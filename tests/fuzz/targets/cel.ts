/**
 * CEL expressions of users.
 *
 * Promises: an expression compiles or has issues with a position; a program ends with a value, an error or the end of its
 * budget, never with an error of ours; the cost of a value is within the budget; a second run has the same outcome.
 */
import fc from "fast-check";
import {
  boolType,
  CelEnvironment,
  dynType,
  formatTypeName,
  intType,
  jsonValueOf,
  listOf,
  mapOf,
  stringType,
} from "../../../src/cel/mod.ts";
import { type FuzzTarget, promise, textOf } from "../target.ts";

const environment = new CelEnvironment(
  new Map([
    ["self", dynType],
    ["i", intType],
    ["s", stringType],
    ["b", boolType],
    ["l", listOf(intType)],
    ["m", mapOf(stringType, stringType)],
  ]),
);
const json = { a: [1, 2.5, "x", null, { b: true }], n: 9007199254740993n, s: "2020-01-01T00:00:00Z" };
const values = () => [json, 3n, "a.b", true, [1n, 2n], { k: "v" }].map(jsonValueOf);
const budget = 20_000;

const leaf = fc.constantFrom(
  "1",
  "2u",
  "1.5",
  "'x'",
  "b'y'",
  "true",
  "null",
  "self",
  "self.a",
  "i",
  "s",
  "b",
  "l",
  "m",
  "[]",
  "{}",
  "'1h'",
  "-1",
  "9223372036854775807",
  "r'\\d'",
  "'%s'",
);
const name = fc.constantFrom(
  ...[
    "size",
    "string",
    "int",
    "uint",
    "double",
    "bytes",
    "duration",
    "timestamp",
    "type",
    "dyn",
    "quantity",
    "semver",
    "ip",
    "cidr",
    "url",
    "isIP",
    "optional.of",
  ],
);
const member = fc.constantFrom(
  ...[
    "size()",
    "startsWith(s)",
    "matches('a+')",
    "split('.')",
    "lowerAscii()",
    "replace('a','b')",
    "format([i, s])",
    "map(x, x + 1)",
    "all(x, x > 0)",
    "exists_one(x, x == 1)",
  ],
  ...[
    "filter(x, true)",
    "sum()",
    "sort()",
    "isSorted()",
    "indexOf('a')",
    "find('\\\\d')",
    "findAll('.', 2)",
    "getFullYear()",
    "transformList(k, v, v)",
    "join(',')",
    "a",
    "?a",
    "orValue(1)",
    "reverse()",
    "slice(0, 1)",
  ],
);
const operator = fc.constantFrom("+", "-", "*", "/", "%", "==", "!=", "<", ">=", "&&", "||", "in");
const { expression } = fc.letrec<{ expression: string }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    leaf,
    fc.tuple(tie("expression"), operator, tie("expression")).map((parts) => `(${parts.join(" ")})`),
    fc.tuple(name, tie("expression")).map(([name, one]) => `${name}(${one})`),
    fc.tuple(tie("expression"), member).map(([one, member]) => `${one}.${member}`),
    fc.tuple(tie("expression"), tie("expression"), tie("expression")).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
    fc.tuple(tie("expression"), tie("expression")).map(([a, b]) => `[${a}, ${b}][0]`),
    fc.tuple(tie("expression"), tie("expression")).map(([a, b]) => `{${a}: ${b}}`),
  ),
}));

/** The target. */
export const target: FuzzTarget = {
  seeds: [
    "self.a.all(x, type(x) == int || has(self.n)) && i < 5",
    "l.map(x, x * 2).filter(x, x > 2).size() + m.size()",
    "'%s %d %.2f %x %b'.format([s, i, 1.5, 'a', 5])",
    "quantity('1.5Gi').add(quantity('1')).asInteger() > 0 && semver('1.2.3').isLessThan(semver('2.0.0'))",
    "timestamp(self.s) + duration('1h30m') > timestamp('1970-01-01T00:00:00Z')",
    "ip('10.0.0.1').isLoopback() || cidr('10.0.0.0/8').containsIP('10.1.1.1') || url('http://a:1/b?c=d').getQuery().size() > 0",
    "self.?a[?0].orValue(1) == 1 ? [1, ?optional.none()] : {'a': 1}",
    "l.transformMap(k, v, v > 1, string(v)).exists(k, k == 0)",
  ],
  arbitrary: expression,
  words: [
    "size()",
    ".map(x, ",
    ".all(",
    ".?",
    "[?",
    "optional.",
    "has(",
    "'",
    '"""',
    "\\u",
    "0x",
    "b'",
    "r'",
    "//",
    "e308",
    "18446744073709551616u",
    "{",
    ".matches(",
    "cel.bind(",
    "authorizer",
    "in ",
  ],
  check(input) {
    const compiled = environment.compile(textOf(input));
    if (compiled.kind === "failed") {
      promise(compiled.issues.length > 0 && compiled.message !== "", "An expression does not compile without a reason");
      promise(compiled.message.length < 101 * (400 + 2 * input.length), "The issues of an expression are very long");
      return;
    }
    formatTypeName(compiled.checked.type);
    const outcome = compiled.program.run(values(), budget);
    const again = compiled.program.run(values(), budget);
    promise(outcome.kind === again.kind && outcome.cost === again.cost, "A second run has another outcome");
    promise(outcome.kind !== "value" || outcome.cost <= budget, "A value costs more than the budget");
  },
};
