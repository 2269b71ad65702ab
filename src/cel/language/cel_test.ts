import { assertEquals, test } from "../../../tests/testing.ts";
import { CelEnvironment } from "./environment.ts";
import { dynType, intType, listOf, mapOf, stringType } from "./types.ts";
import { type Value, ValueList, ValueMap } from "./values.ts";

const environment = new CelEnvironment(
  new Map([["n", intType], ["s", stringType], ["l", listOf(intType)], ["m", mapOf(stringType, intType)], [
    "d",
    dynType,
  ]]),
);
const values: readonly Value[] = [
  5n,
  "héllo",
  new ValueList([3n, 1n, 2n]),
  new ValueMap(new Map([["sa", ["a", 1n]], ["sb", ["b", 2n]]])),
  "text",
];

/** What an expression comes to: `true`, `error: …` or `issue: …` (the first line's message). */
function outcome(source: string): unknown {
  const compiled = environment.compile(source);
  if (compiled.kind === "failed") return `issue: ${compiled.issues[0]?.message}`;
  const found = compiled.program.run(values);
  return found.kind === "value" ? found.value : found.kind === "error" ? `error: ${found.message}` : "exceeded";
}

const truths: readonly string[] = [
  "n + 1 == 6 && n - 1 == 4 && n * 2 == 10 && n / 2 == 2 && n % 3 == 2 && -n == -5",
  "1 < 2.5 && 3u > 2 && dyn(1.0) == 1 && dyn(2u) == 2",
  "size(s) == 5 && s.size() == 5 && size(l) == 3 && m.size() == 2",
  "s.startsWith('h') && s.endsWith('lo') && s.contains('éll') && s.matches('^h.l+o$')",
  "'a' in m && !('z' in m) && 3 in l && m['b'] == 2 && m.a == 1 && l[0] == 3",
  "has(m.a) && !has(m.z)",
  "dyn({'a': null}).a == null && {'a': dyn(null)}.a == null && has({'a': dyn(null)}.a)",
  "!has(dyn(null).x) && !has(dyn(1).x) && !has(d.x) && ![dyn(null)].exists(x, has(x.y))",
  "!dyn(null).?x.hasValue() && dyn(null).?x.?y.orValue('z') == 'z' && !dyn(null)[?'x'].hasValue() && !d.?x.hasValue()",
  "l.all(x, x > 0) && l.exists(x, x == 2) && l.exists_one(x, x > 2) && m.all(k, k.size() == 1)",
  "l.map(x, x * 2) == [6, 2, 4] && l.filter(x, x > 1) == [3, 2] && l.map(x, x > 1, x) == [3, 2]",
  "l.map(x, l.map(y, x + y).size()).size() == 3",
  "l.all(i, v, i >= 0 && v > 0) && l.transformList(i, v, i + v) == [3, 2, 4]",
  "m.transformMap(k, v, v + 1) == {'a': 2, 'b': 3} && m.transformMapEntry(k, v, {string(v): k})['2'] == 'b'",
  "l.isSorted() == false && l.sum() == 6 && l.min() == 1 && l.max() == 3 && l.indexOf(1) == 1 && l.lastIndexOf(9) == -1",
  "l.sort() == [1, 2, 3] && l.sortBy(x, -x) == [3, 2, 1] && l.reverse() == [2, 1, 3] && [1, 1, 2].distinct() == [1, 2]",
  "l.slice(1, 3) == [1, 2] && [[1], [2]].flatten() == [1, 2] && lists.range(3) == [0, 1, 2]",
  "l.first().orValue(0) == 3 && [].first() == optional.none()",
  "s.charAt(1) == 'é' && s.indexOf('l') == 2 && s.lastIndexOf('l') == 3 && s.substring(1, 3) == 'él' && s.substring(3) == 'lo'",
  "'A,b'.split(',') == ['A', 'b'] && ['a', 'b'].join('-') == 'a-b' && 'aXbX'.replace('X', 'y') == 'ayby' && 'aXbX'.replace('X', 'y', 1) == 'aybX'",
  "'AbC'.lowerAscii() == 'abc' && 'AbC'.upperAscii() == 'ABC' && '  x '.trim() == 'x'",
  "'%s has %d of %.2f and %x'.format([s, dyn(n), dyn(1.5), dyn(255)]) == 'héllo has 5 of 1.50 and ff'",
  "'%e|%.1e|%.14e'.format([dyn(1.5), dyn(-123456.0), dyn(0.0)]) == '1.500000×10⁰⁰|-1.234560×10⁰⁵| 0.000000×10⁰⁰'",
  "'%s'.format([['a', dyn(1)]]) == '[\"a\", 1]' && '%s'.format([{'b': 1.5}]) == '{\"b\":1.500000}'",
  "'abc 123'.find('[0-9]+') == '123' && '1 22 333'.findAll('[0-9]+') == ['1', '22', '333'] && '1 22'.findAll('[0-9]+', 1) == ['1']",
  "type(n) == int && type(s) == string && type(l) == list && type(1.0) == double && type(null) == null_type",
  "int('5') == 5 && double('1.5') == 1.5 && string(5) == '5' && string(1.5) == '1.5' && bool('true') && uint(3) == 3u",
  "duration('1h30m').getMinutes() == 90 && duration('90s') > duration('1m') && string(duration('90m')) == '5400s'",
  "timestamp('2024-02-29T10:00:00Z').getFullYear() == 2024 && timestamp('2024-02-29T10:00:00Z').getMonth() == 1",
  "timestamp('2024-01-01T00:00:00Z') + duration('24h') == timestamp('2024-01-02T00:00:00Z')",
  "timestamp('2024-01-01T23:30:00Z').getHours('+02:00') == 1 && timestamp('2024-07-01T12:00:00Z').getHours('America/New_York') == 8",
  "bytes('hé').size() == 3 && string(b'abc') == 'abc' && b'\\x61' == b'a'",
  "quantity('1.5Gi').isGreaterThan(quantity('1G')) && quantity('500m').add(quantity('0.5')) == quantity('1')",
  "quantity('2k').asInteger() == 2000 && !isQuantity('x') && sign(quantity('-1')) == -1",
  "ip('192.168.0.1').family() == 4 && isIP('::1') && !isIP('1.2.3.256') && ip('::1').isLoopback()",
  "cidr('10.0.0.0/8').containsIP('10.1.2.3') && cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16') && cidr('10.1.2.3/8').masked() == cidr('10.0.0.0/8')",
  "url('https://a.b:80/x/y?q=1&q=2').getPort() == '80' && url('https://a.b/x?q=1&q=2').getQuery()['q'] == ['1', '2'] && !isURL('a b')",
  "semver('1.2.3').isLessThan(semver('1.10.0')) && isSemver('v1.2', true) && semver('1.2.3-rc.1').major() == 1",
  "format.dns1123Label().validate('a-b') == optional.none() && format.named('uuid').value().validate('x').hasValue()",
  "sets.contains([1, 2, 3], [2]) && sets.equivalent([1, 2], [2, 1, 1]) && !sets.intersects([1], [2])",
  "m.?a.orValue(0) == 1 && m.?z.orValue(7) == 7 && m[?'b'].hasValue() && optional.of(1).optMap(x, x + 1).value() == 2",
  "[?m.?a, ?m.?z] == [1] && {?'k': m.?z} == {} && m.?z.or(m.?a).value() == 1",
  "true || (1 / 0 > 0) && (1 / 0 > 0) || true",
  "[1, 2, 3].exists(x, x / (x - 1) > 0 || x == 1)",
  "(n > 3 ? 'big' : 'small') == 'big'",
  "'\\u00e9' == 'é' && r'\\n' == '\\\\n' && '''a\nb''' == 'a\\nb'",
];

for (const source of truths) {
  test(`CEL: ${source}`, () => assertEquals(outcome(source), true));
}

const others: readonly (readonly [source: string, expected: unknown])[] = [
  ["1 / 0 == 0", "error: division by zero"],
  ["1 % 0 == 0", "error: modulus by zero"],
  ["9223372036854775807 + n == 0", "error: integer overflow"],
  ["l[9] == 1", "error: index out of bounds: 9"],
  ["m.z == 1", "error: no such key: z"],
  ["dyn(null).z == 1", "error: no such key: z"],
  ["dyn(null)['z'] == 1", "error: no such key: z"],
  ["dyn(1)[0] == 1", "error: no such key: 0"],
  ["has(dyn(null).y.z)", "error: no such key: y"],
  ["dyn(l).z == 1", "error: unsupported index type 'string' in list"],
  ["has(dyn(l).z)", "error: unsupported index type 'string' in list"],
  ["d < 5", "error: no such overload"],
  ["dyn(5).lowerAscii() == ''", "error: no such overload: lowerAscii(int)"],
  ["[].min() == 1", "error: min called on empty list"],
  ["optional.none().value() == 1", "error: optional.none() dereference"],
  ["'x'.substring(3) == ''", "error: index out of range: 3"],
  ["int('x') == 1", "error: type conversion error from 'string' to 'int'"],
  [
    "ip('x') == ip('::1')",
    'error: IP Address "x" parse error during conversion from string: ParseAddr("x"): unable to parse IP',
  ],
  ["n > 'a'", "issue: found no matching overload for '_>_' applied to '(int, string)'"],
  ["x > 1", "issue: undeclared reference to 'x' (in container '')"],
  ["foo(n)", "issue: undeclared reference to 'foo' (in container '')"],
  ["s.foo", "issue: type 'string' does not support field selection"],
  ["[1, 'a'] == []", "issue: expected type 'int' but found 'string'"],
  [
    "n.all(x, true)",
    "issue: expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)",
  ],
  ["l.all(1, true)", "issue: argument must be a simple name"],
  ["has(n)", "issue: invalid argument to has() macro"],
  ["'a'.matches('(')", "issue: invalid matches argument"],
  ["duration('x') > duration('1s')", "issue: invalid duration argument"],
  ["for > 1", "issue: reserved identifier: for"],
  ["99999999999999999999 > 1", "issue: invalid int literal"],
  ["[1, 2].map(x, [1, 2].map(y, x * y))[1][1] == 4", true],
  ["n > 1 ? true : 1", "issue: found no matching overload for '_?_:_' applied to '(bool, bool, int)'"],
];

for (const [source, expected] of others) {
  test(`CEL: ${source} is ${String(expected)}`, () => assertEquals(outcome(source), expected));
}

test("an issue is shown with its position in the source", () => {
  const compiled = environment.compile("n > 1 &&\n  m.a.b");
  assertEquals(
    compiled.kind === "failed" ? compiled.message : "",
    "ERROR: <input>:2:6: type 'int' does not support field selection\n |   m.a.b\n | .....^",
  );
});

test("an expression that would run for ages ends at its cost limit", () => {
  const loops =
    "l.map(x, l).map(x, l).exists(a, lists.range(1000).exists(b, lists.range(1000).exists(c, lists.range(1000).exists(d, a.size() + b + c + d < 0))))";
  assertEquals(outcome(loops), "exceeded");
});

test("costs are those of the real server", () => {
  const costOf = (source: string): number => {
    const compiled = environment.compile(source);
    return compiled.kind === "compiled" ? compiled.program.run(values).cost : -1;
  };
  assertEquals(costOf("n > 1"), 2);
  assertEquals(costOf("m.a == 1"), 3);
  assertEquals(costOf("has(m.a)"), 1);
  assertEquals(costOf("s.startsWith('h')"), 2);
  assertEquals(costOf("l.all(x, x > 0)"), 1 + 3 * (2 + 1 + 2) + 1);
});
