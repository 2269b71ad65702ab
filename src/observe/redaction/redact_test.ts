import { assert, assertEquals, assertStringIncludes, test } from "../../../tests/testing.ts";
import { errorText, printable, redact, redactText, redactWhole } from "../mod.ts";

const canary = "cAnArY-7f3a9b";
const pem = `-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEI${canary}\n-----END EC PRIVATE KEY-----`;

/** Places where a secret may stand. */
const leaks: Readonly<Record<string, unknown>> = {
  "an Authorization header": { headers: { Authorization: `Bearer ${canary}` } },
  "a Headers object": new Headers({ authorization: `Bearer ${canary}`, "set-cookie": canary }),
  "a bearer token in a text": `curl -H 'Authorization: Bearer ${canary}' https://a`,
  "basic credentials in a text": `Authorization: Basic ${canary}=`,
  "a service account token in a text": `token was eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrIn0.${canary}`,
  "the data of a Secret": { kind: "Secret", metadata: { name: "s" }, data: { password: canary, other: canary } },
  "the stringData of a Secret": { object: { kind: "Secret", stringData: { [canary.length]: canary } } },
  "a list of Secrets": { kind: "SecretList", items: [{ metadata: {}, data: { a: canary } }] },
  "a Secret as JSON in a text": `{"apiVersion":"v1","data":{"a":"${canary}"},"kind":"Secret"}`,
  "a Secret as YAML in a text": `kind: Secret\ndata:\n  a: ${canary}`,
  "the credential of an exec plugin": { kind: "ExecCredential", status: { clientKeyData: canary, answer: canary } },
  "the credential of an exec plugin as a text": `got {"kind": "ExecCredential", "status": {"x": "${canary}"}}`,
  "the output of an exec plugin": { command: "aws", stdout: `x ${canary}` },
  "the last-applied annotation": {
    annotations: { "kubectl.kubernetes.io/last-applied-configuration": `{"data":{"a":"${canary}"}}` },
  },
  "the last-applied annotation in a text":
    `{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\\"data\\":{\\"a\\":\\"${canary}\\"}}"}}`,
  "a private key in a text": `cannot parse ${pem} of b`,
  "a private key that is cut off": pem.slice(0, 60),
  "a kubeconfig": { users: [{ user: { token: canary, password: canary, "client-key-data": canary } }] },
  "a kubeconfig as YAML in a text": `user:\n  token: ${canary}\n  password: ${canary}\n  client-key-data: ${canary}`,
  "a kubeconfig as JSON in a text": `{"token":"${canary}","client-key-data":"${canary}"}`,
  "an escaped JSON in a text": JSON.stringify(JSON.stringify({ token: canary })),
  "an OIDC provider": { config: { "id-token": canary, "refresh-token": canary, "client-secret": canary } },
  "a URL with a password": { proxy: `http://user:${canary}@proxy:3128`, url: new URL(`https://u:${canary}@h/`) },
  "an error and its cause": new Error("outer", { cause: new Error(`Bearer ${canary}`) }),
  "several errors": new AggregateError([new Error(`password: ${canary}`)], "all failed"),
  "a Map": new Map([["token", canary]]),
  "an object with toJSON()": { toJSON: () => ({ kind: "Secret", data: { a: canary } }) },
  "bytes": new TextEncoder().encode(canary),
};

for (const [what, value] of Object.entries(leaks)) {
  test(`[security 5] a secret in ${what} is not shown`, () => {
    const shown = JSON.stringify(redact(value));
    assert(!shown.includes(canary), `shown: ${shown}`);
  });
}

test("[security 5] values that are not secret stay unchanged, also the keys of a Secret's data", () => {
  const value = {
    kind: "Secret",
    metadata: { name: "s", resourceVersion: "12" },
    type: "Opaque",
    data: { password: "aGk=" },
  };
  assertEquals(redact(value), { ...value, data: { password: "[masked]" } });
  const secretive = { kind: "Secret", metadata: { name: "s", labels: { status: "on", data: "x" } } };
  assertEquals(redact(secretive), secretive);
  const configMap = { kind: "ConfigMap", data: { a: "b" }, count: 3, ok: true, none: null, list: [1, "x"] };
  assertEquals(redact(configMap), configMap);
  assertEquals(
    redactText("Cannot list Secrets: tokenreviews are forbidden"),
    "Cannot list Secrets: tokenreviews are forbidden",
  );
  assertEquals(redactText("https://host:6443/api?continue=abc"), "https://host:6443/api?continue=abc");
});

test("[security 5] redactWhole() leaves nothing out, however deep and long, but secrets", () => {
  // Tests in the same process have registered secrets of one repeated letter.
  const text = "no secret, ".repeat(10_000);
  const wrapped = (value: unknown, depth: number): unknown => depth === 0 ? value : { more: wrapped(value, depth - 1) };
  const many = Array.from({ length: 5_000 }, (_, index) => index);
  assertEquals(redactWhole(wrapped({ text, many }, 300)), wrapped({ text, many }, 300));
  for (const [place, leak] of Object.entries(leaks)) {
    const shown = JSON.stringify(redactWhole(wrapped([{ items: [leak], text }], 100)));
    assert(!shown.includes(canary), place);
    assertStringIncludes(shown, text);
  }
});

test("errorText() joins the messages of an error and its causes, up to a maximum depth", () => {
  const root = new RangeError("connection reset");
  const error = new Error("Cannot list Foos: request failed", { cause: new Error("Cannot connect", { cause: root }) });
  assertEquals(
    errorText(error),
    "Cannot list Foos: request failed: caused by: Cannot connect: caused by: connection reset",
  );
  assertEquals(errorText(new AggregateError([new Error("a"), "b"], "2 failed")), "2 failed (a; b)");
  assertEquals(errorText(new TypeError()), "TypeError");
  const [first, second] = [new Error("round"), new Error("trip")];
  [first.cause, second.cause] = [second, first];
  assertEquals(errorText(first).split(/round|trip/).length, 9);
});

test("errorText() has a text for any thrown value, also for one that cannot be read", () => {
  const unreadable = Object.defineProperty(new Error("x"), "message", { get: () => assert(false) });
  const several = new AggregateError([new Error("a")], "2 failed");
  several.errors.push(several);
  for (
    const [thrown, text] of [
      [undefined, "undefined was thrown instead of an Error"],
      [null, "null was thrown instead of an Error"],
      ["", "an empty text was thrown instead of an Error"],
      ["stopped", "stopped"],
      [Symbol("stop"), "Symbol(stop)"],
      [{ message: "no route" }, "no route"],
      [{ code: 5, password: canary }, '{"code":5,"password":"[masked]"}'],
      [Object.create(null), "{}"],
      [new Error("outer", { cause: Object.create(null) }), "outer: caused by: {}"],
      [Object.assign(new Error("x"), { message: undefined }), "Error"],
      [unreadable, "an error that cannot be read"],
      [several, "2 failed (a; itself)"],
    ] as const
  ) {
    assertEquals(errorText(thrown), text);
  }
});

test("errorText() does not repeat a cause that the message of its error ends with", () => {
  const cause = new Error("the connection was closed");
  const error = new Error("Cannot watch Foo: the connection was closed", { cause });
  assertEquals(errorText(error), "Cannot watch Foo: the connection was closed");
});

test("redact() returns plain and finite data for any value and never throws", () => {
  const circular: Record<string, unknown> = { name: "x" };
  circular.self = circular;
  assertEquals(redact(circular), { name: "x", self: "[…]" });
  const throwing = {
    get broken(): string {
      throw new Error("boom");
    },
  };
  assertEquals(redact(throwing), "[unreadable: boom]");
  assertEquals(redact([10n, NaN, undefined, () => 1, Symbol("s"), new Set([1])]), [
    "10",
    "NaN",
    "undefined",
    "[function]",
    "Symbol(s)",
    [1],
  ]);
  assertEquals(redact({ at: new Date(0), masked: { toJSON: () => "m" } }), {
    at: "1970-01-01T00:00:00.000Z",
    masked: "m",
  });
  const wide = redact(Array.from({ length: 1_000_000 }, () => ({ a: 1 })));
  assert(JSON.stringify(wide).length < 10_000);
  let deep: unknown = "bottom";
  for (let n = 0; n < 100_000; n++) deep = [deep];
  assertStringIncludes(JSON.stringify(redact(deep)), "[…]");
});

test("[94] the keys __proto__ and constructor are copied as keys and change no prototype", () => {
  const plain = redact(JSON.parse('{"__proto__":{"polluted":true},"constructor":"c"}'));
  assertEquals(JSON.stringify(plain), '{"__proto__":{"polluted":true},"constructor":"c"}');
  assertEquals(Object.hasOwn(Object.prototype, "polluted"), false);
});

test("[security 19] printable() removes control characters and line breaks, and cuts long text", () => {
  assertEquals(printable("a\u001b[31mred\u001b[0m\r\nb\u0007\u202ec"), "ared b c");
  assertEquals(printable("\u001b]0;title\u0007x\u001b]8;;http://evil\u001b\\y"), "xy");
  assertEquals(printable("x".repeat(2000)).length, 1025);
});
