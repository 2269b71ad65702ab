/**
 * Attack: a secret inside of a text that is logged. A server, a plugin or a library repeats what it got, quoted, encoded,
 * escaped, folded or cut off.
 *
 * Guarantees: for random secrets in random surroundings, no 8 characters of a secret are shown, neither of a credential of
 * this process nor of a text that has the shape of a secret; and the search takes linear time for any text.
 */
import { type Random, seededRandom } from "../../src/async/mod.ts";
import { clusterTransport, loadClusterAccess, Masked } from "../../src/client/mod.ts";
import { testSource } from "../../src/client/testing/credential_source.ts";
import { TemporaryFolder } from "../../src/client/testing/temporary_folder.ts";
import { configureLogging, LiveSecrets, logger, maskShapes, redact, redactText } from "../../src/observe/mod.ts";
import { assert, assertEquals, test } from "../testing.ts";

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

function picker(random: Random) {
  return <T>(values: ArrayLike<T>): T => values[Math.floor(random.next() * values.length)] as T;
}

function word(random: Random, length: number, alphabet = letters): string {
  const pick = picker(random);
  return Array.from({ length }, () => pick(alphabet)).join("");
}

/** Fails if any 8 characters in a row of the secret are shown. */
function assertHidden(shown: string, secret: string, about: string): void {
  for (let at = 0; at + 8 <= secret.length; at++) {
    const part = secret.slice(at, at + 8);
    assert(
      !shown.includes(part),
      `${about}: shows ${JSON.stringify(part)} in ${JSON.stringify(shown.slice(0, 2_000))}`,
    );
  }
}

const names = [
  "token",
  "access_token",
  "refresh-token",
  "id_token",
  "idToken",
  "ACCESS_TOKEN",
  "my_very_own_token",
  "token_value",
  "token_2",
  "x-auth-token",
  "X-Amz-Security-Token",
  "bearerToken",
  "password",
  "db_password",
  "DB_PASS",
  "passwd",
  "passphrase",
  "client_secret",
  "clientSecret",
  "client-secret",
  "aws_secret_access_key",
  "api_key",
  "api-key",
  "x-api-key",
  "apikey",
  "apiKey",
  "private_key",
  "client-key-data",
  "X-Amz-Signature",
  "sig",
  "client_assertion",
  "code_verifier",
  "session_id",
  "Cookie",
  "Set-Cookie",
  "Authorization",
  "Proxy-Authorization",
];

/** A secret under a name, as programs write it. */
const assignments: readonly ((name: string, secret: string) => string)[] = [
  (name, secret) => `${name}=${secret}`,
  (name, secret) => `${name}: ${secret}`,
  (name, secret) => `${name}="${secret}"`,
  (name, secret) => `${name}='${secret}'`,
  (name, secret) => `${name} = "${secret}"`,
  (name, secret) => `"${name}":"${secret}"`,
  (name, secret) => `'${name}': '${secret}'`,
  (name, secret) => `{"a":1,"${name}" : "${secret}","b":2}`,
  (name, secret) => JSON.stringify(JSON.stringify({ [name]: secret, b: 2 })),
  (name, secret) => JSON.stringify(JSON.stringify(JSON.stringify({ a: { [name]: secret } }))),
  (name, secret) => `{${name}:${secret}}`,
  (name, secret) => `map[${name}:${secret}]`,
  (name, secret) => `{"${name}":["${secret}"]}`,
  (name, secret) => `{"${name}":{"value":"${secret}"}}`,
  (name, secret) => `spec:\n  ${name}: |\n    ${secret}\n  next: 1`,
  (name, secret) => `spec:\n  "${name}": >-\n    ${secret}\n`,
  (name, secret) => `--${name}=${secret} --next`,
  (name, secret) => `--${name} ${secret} --next`,
  (name, secret) => `${name}: Bearer ${secret}`,
  (name, secret) => `"${name}": "Bearer ${secret}"`,
  (name, secret) => `${name} => ${secret}`,
  (name, secret) => `${name}="${secret}`,
  (name, secret) => `<${name}>${secret}</${name}>`,
  (name, secret) => `a=b%26${name}%3D${secret}`,
  (name, secret) => `["${name}","${secret}"]`,
  (name, secret) => JSON.stringify(JSON.stringify([[name, secret]])),
  (name, secret) => `{"name":"${name}","value":"${secret}"}`,
  (name, secret) => `env:\n- name: ${name}\n  value: ${secret}\n`,
  (name, secret) => `{Name:${name} Value:${secret}}`,
];

/** Secrets whose own shape, or the text around them, shows what they are. */
const shapes: readonly ((random: Random) => { readonly text: string; readonly secret: string })[] = [
  (random) => {
    const secret = `${word(random, 40)}.${word(random, 30, `${letters}-_`)}`;
    return { text: `eyJhbGciOiJSUzI1NiJ9.${secret}`, secret };
  },
  (random) => around(word(random, 24), (secret) => `Bearer ${secret}`),
  (random) => around(word(random, 24), (secret) => `Bearer%20${secret}`),
  (random) => around(word(random, 24), (secret) => `basic ${secret}==`),
  (random) => around(word(random, 24), (secret) => `Negotiate ${secret}`),
  (random) => around(word(random, 24), (secret) => `Authorization: AWS4-HMAC-SHA256 Credential=a, Signature=${secret}`),
  (random) => around(word(random, 24), (secret) => `authorization: Digest username="a", response="${secret}"`),
  (random) => around(word(random, 24), (secret) => `Authorization: ApiKey ${secret}`),
  (random) => around(word(random, 24), (secret) => `Cookie: a=b; session=${secret}; c=d`),
  (random) => around(word(random, 24), (secret) => `Set-Cookie: sid=${secret}; Path=/; HttpOnly`),
  (random) => around(word(random, 24), (secret) => `"set-cookie":["sid=${secret}; Path=/"]`),
  (random) => around(word(random, 16), (secret) => `http://user:${secret}@proxy:3128/`),
  (random) => around(word(random, 16), (secret) => `https://u:p@${secret}@host/path?a=b`),
  (random) => around(word(random, 16), (secret) => `https://u:a/${secret}@host`),
  (random) => around(word(random, 40), (secret) => `https://${secret}@host/repository.git`),
  (random) => around(word(random, 40), (secret) => `https://host/?a=b&access_token=${secret}&c=d`),
  (random) => around(word(random, 16, letters.slice(0, 26)), (secret) => `AKIA${secret}`),
  (random) => around(word(random, 36), (secret) => `ghp_${secret}`),
  (random) => around(word(random, 36), (secret) => `github_pat_${secret}`),
  (random) => around(word(random, 20), (secret) => `glpat-${secret}`),
  (random) => around(word(random, 48), (secret) => `sk-${secret}`),
  (random) => around(word(random, 48), (secret) => `sk-proj-${secret}`),
  (random) => around(word(random, 24), (secret) => `sk_live_${secret}`),
  (random) => around(word(random, 24), (secret) => `xoxb-${secret}`),
  (random) => around(word(random, 35), (secret) => `AIza${secret}`),
  (random) => around(word(random, 36), (secret) => `npm_${secret}`),
  (random) => around(word(random, 24), (secret) => `hvs.${secret}`),
  (random) => around(word(random, 43), (secret) => `sha256~${secret}`),
  (random) => around(word(random, 60), (secret) => `k8s-aws-v1.${secret}`),
  (random) => around(word(random, 64), (secret) => pem("PRIVATE KEY", secret)),
  (random) => around(word(random, 64), (secret) => pem("RSA PRIVATE KEY", secret)),
  (random) => around(word(random, 64), (secret) => pem("EC PRIVATE KEY", secret).replaceAll("\n", "\\n")),
  (random) => around(word(random, 64), (secret) => pem("PRIVATE KEY", secret).replaceAll("\n", " ")),
  (random) => around(word(random, 64), (secret) => pem("PRIVATE KEY", secret).slice(0, -20)),
  (random) => around(btoa(pem("PRIVATE KEY", word(random, 64))), (secret) => `got ${secret}`),
  (random) => around(word(random, 24), (secret) => JSON.stringify({ kind: "Secret", data: { a: secret } })),
  (random) =>
    around(word(random, 24), (secret) => JSON.stringify(JSON.stringify({ kind: "Secret", data: { a: secret } }))),
  (random) => around(word(random, 24), (secret) => `kind: SecretList\nitems:\n- data:\n    a: ${secret}`),
  (random) => around(word(random, 24), (secret) => `stringData:\n  a: ${secret}\n  b: c`),
  (random) => around(word(random, 24), (secret) => `{"stringData":{"a":"${secret}"}}`),
];

function around(secret: string, text: (secret: string) => string): { readonly text: string; readonly secret: string } {
  return { text: text(secret), secret };
}

function pem(label: string, body: string): string {
  return `-----BEGIN ${label}-----\n${body}\n-----END ${label}-----\n`;
}

/** What stands around a secret in a text. */
const surroundings: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => `Cannot reconcile default/a: ${text}`,
  (text) => `first line\n${text}\nlast line`,
  (text) => `(${text})`,
  (text) => `the server said ${text}, try again; kind=Pod`,
  (text) => `curl -H '${text}' https://host/`,
  (text) => `${"x".repeat(3_000)} ${text} ${"y".repeat(3_000)}`,
  (text) => `${text} ${text}`,
];

/** Everything that a log shows of a value, as text and as JSON. */
function logged(value: unknown): string {
  let text = "";
  for (const format of ["text", "json"] as const) {
    using _logging = configureLogging({ format, level: "debug", write: (part) => text += part });
    logger("attack").error("failed", { value });
    logger("attack").warn(String(value));
    logger("attack").debug("failed", { error: new Error(String(value), { cause: new TypeError(String(value)) }) });
  }
  return text;
}

test("[security 5] a value after a secret name is not shown, however the two are written", () => {
  const random = seededRandom(1), pick = picker(random);
  for (const name of names) {
    for (const assignment of assignments) {
      const secret = word(random, 12 + Math.floor(random.next() * 40));
      const text = pick(surroundings)(assignment(name, secret));
      assertHidden(redactText(text), secret, text.slice(0, 400));
    }
  }
});

test("[security 5] what has the shape of a secret is not shown in any surroundings, text or JSON", () => {
  const random = seededRandom(2);
  for (let round = 0; round < 3; round++) {
    for (const shape of shapes) {
      for (const surrounding of surroundings) {
        const { text, secret } = shape(random);
        const whole = surrounding(text);
        assertHidden(redactText(whole), secret, whole.slice(0, 400));
        if (round === 0) assertHidden(logged(whole), secret, `the log of ${whole.slice(0, 400)}`);
      }
    }
  }
});

test("[security 5] secrets are not shown in structures of any depth, as keys, or as pairs of a name and a value", () => {
  const random = seededRandom(3), pick = picker(random);
  for (let count = 0; count < 300; count++) {
    const secret = word(random, 24), name = pick(names);
    const values: readonly unknown[] = [
      { [name]: secret },
      { [name]: [secret] },
      { [name]: { a: { b: secret } } },
      [[name, secret]],
      { env: [{ name, value: secret }] },
      new Map([[name, secret]]),
      { [`${name}=${secret}`]: 1 },
      new Headers({ [name.replaceAll("_", "-")]: secret }),
      new URL(`https://u:${secret}@host/?${name}=${secret}`),
      new AggregateError([new Error(`${name}=${secret}`)], "all", { cause: new Error(`${name}: "${secret}"`) }),
    ];
    const shown = JSON.stringify(redact({ nested: { list: [pick(values)] } }));
    assertHidden(shown, secret, `${name}, case ${count}`);
  }
});

/** Ways in which a text contains a credential that nothing around it gives away. */
const carriers: readonly ((secret: string) => string)[] = [
  (secret) => secret,
  (secret) => `unexpected ${secret} here`,
  (secret) => `x${secret}y`,
  (secret) => JSON.stringify(secret),
  (secret) => JSON.stringify(JSON.stringify({ a: secret })),
  (secret) => encodeURIComponent(secret),
  (secret) => encodeURIComponent(secret).replaceAll(/%../g, (escape) => escape.toLowerCase()),
  (secret) => `https://host/${encodeURIComponent(secret)}/x`,
  (secret) => base64(secret),
  (secret) => base64(`user:${secret}`),
  (secret) => base64(`a${secret}b`),
  (secret) => base64(`ab${secret}`),
  (secret) => base64(`{"k":"${secret}"}`).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", ""),
  (secret) => secret.slice(0, secret.length - 3),
  (secret) => `${secret.slice(0, 12)}…`,
  (secret) => `${secret.slice(0, 12)}... is not valid`,
  (secret) => `${secret}${secret}${secret}`,
];

function base64(text: string): string {
  return new TextEncoder().encode(text).toBase64();
}

test("[security 5] a credential of this process is not shown, plain, encoded, escaped or cut off", () => {
  const random = seededRandom(4);
  for (let count = 0; count < 60; count++) {
    const secret = word(random, 12 + Math.floor(random.next() * 60), `${letters}-_.~+/="'\\ %:@\u00e9`).trim();
    if (secret.length < 12) continue;
    new Masked(`Bearer ${secret}`);
    for (const [index, carry] of carriers.entries()) {
      const text = carry(secret);
      const shown = redactText(text);
      assertHidden(shown, secret, `carrier ${index}`);
      // What is left of an encoded text does not decode to the secret either.
      for (const rest of shown.match(/[\w+/=-]{8,}/g) ?? []) assertHidden(decoded(rest), secret, `carrier ${index}`);
    }
  }
});

function decoded(base64: string): string {
  try {
    return atob(base64.replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    return "";
  }
}

test("[security 5] each line of a private key of this process is hidden, and no certificate", () => {
  const random = seededRandom(5);
  const lines = Array.from({ length: 20 }, () => word(random, 64));
  const key = pem("PRIVATE KEY", lines.join("\n")),
    certificate = pem("CERTIFICATE", lines.map((line) => `C${line}`).join("\n"));
  const secrets = new LiveSecrets();
  secrets.add(certificate);
  assertEquals(secrets.size, 0);
  secrets.add(key);
  for (const line of lines) assertHidden(secrets.mask(`OpenSSL: bad line ${line}.`), line, "a line");
  assertHidden(secrets.mask(base64(key)), base64(key), "the encoded key");
});

test("[security 5] rotated credentials stay hidden for long, one in use for ever, and memory is bounded", () => {
  const random = seededRandom(6);
  const secrets = new LiveSecrets();
  const inUse = word(random, 30);
  const rotated: string[] = [];
  for (let count = 0; count < 2_000; count++) {
    rotated.push(word(random, 900));
    secrets.add(rotated.at(-1) ?? "");
    secrets.add(inUse);
  }
  assert(secrets.size <= 256, `${secrets.size} credentials`);
  assertHidden(secrets.mask(`got ${inUse}`), inUse, "the one in use");
  for (const recent of rotated.slice(-100)) assertHidden(secrets.mask(`got ${recent}`), recent, "a recent one");
  secrets.add("x".repeat(10_000_000));
  secrets.add("short");
  assertEquals(secrets.mask("a short text"), "a short text");
});

/** A user of a kubeconfig with a new secret in it. */
const users: readonly ((secret: string) => string)[] = [
  (secret) => `{ token: "${secret}" }`,
  (secret) => `{ username: a, password: "${secret}" }`,
  (secret) => `{ client-certificate-data: ${btoa(pem("CERTIFICATE", "x"))}, client-key-data: ${keyData(secret)} }`,
  (secret) =>
    `{ auth-provider: { name: oidc, config: { idp-issuer-url: https://i, client-id: c, id-token: "${secret}" } } }`,
  (secret) => `{ auth-provider: { name: oidc, config: { client-id: c, refresh-token: "${secret}" } } }`,
  (secret) => `{ auth-provider: { name: oidc, config: { client-id: c, client-secret: "${secret}" } } }`,
  (secret) => `{ exec: ${plugin}, env: [{ name: AWS_SECRET_ACCESS_KEY, value: "${secret}" }] } }`,
];
const plugin = "{ apiVersion: client.authentication.k8s.io/v1, command: aws, interactiveMode: Never";
const keyData = (secret: string) => btoa(pem("PRIVATE KEY", secret));

test("[security 5] each credential that is loaded, or replaces another one, is hidden from then on", async () => {
  const random = seededRandom(9);
  const assertKnown = (secret: string, about: string) => {
    assertHidden(redactText(`it said x${secret}y and ${base64(`u:${secret}`)}`), secret, about);
  };
  for (const user of users) {
    const [secret, proxied] = [word(random, 30), word(random, 20)];
    await using folder = await TemporaryFolder.with({
      config: `{ clusters: [{ name: c, cluster: { server: "https://c", proxy-url: "http://u:${proxied}@p" } }],` +
        `users: [{ name: u, user: ${user(secret)} }], contexts: [{ name: c, context: { cluster: c, user: u } }],` +
        `current-context: c }`,
    });
    const environment = { KUBECONFIG: `${folder.path}/config` };
    const access = await loadClusterAccess({ environment, workingDirectory: folder.path, overrides: {} });
    clusterTransport(access)[Symbol.dispose]();
    assertKnown(secret, user("x"));
    assertKnown(proxied, "the password of the proxy");
  }
  await using folder = await TemporaryFolder.with({});
  const path = `${folder.path}/token`;
  const { clock, header } = testSource({ kind: "tokenFile", path });
  for (let rotation = 0; rotation < 3; rotation++) {
    const token = word(random, 40);
    await folder.write("token", `${token}\n`);
    await clock.advance(60_000);
    assertEquals(await header(), `Bearer ${token}`);
    assertKnown(token, `rotation ${rotation}`);
  }
  assertEquals(redactText("the profile production"), "the profile production");
});

/** Beginnings of everything that the search looks for, so that their repetition looks for it everywhere. */
const beginnings = [
  "://",
  "a://b:",
  "http://u:p/",
  "eyJ",
  "eyJhbGciOiJIUzI1NiJ9",
  "eyJhbGciOiJIUzI1NiJ9.",
  "_eyJhbGci_",
  "LS0tLS1CRUdJTi",
  "_LS0tLS1CRUdJTiBD",
  "-----BEGIN ",
  "-----BEGIN PRIVATE KEY----",
  "Bearer ",
  "Bearer \t",
  "Digest a=",
  "token",
  "token:",
  "token: token: ",
  'token="',
  "token=\\",
  'token\\\\"',
  "token=[{",
  "token: |\n ",
  "token:\n ",
  "<token>",
  "token%3D",
  '"token","',
  "name: token\n value",
  "token=,",
  "--token ",
  "Cookie: ",
  "'Cookie:",
  "kind: ",
  'kind\\\\\\"',
  "ghp_",
  "sk-",
  "_sk-aaaaaaaaaaaaaaa_",
  "SG.",
  "_SG.aaaaaaaaaaaaaaaaa",
  "kubeconfig-u-",
  "kubeconfig-user-aa.",
  "aBcD",
  "a.",
  "-",
  " ",
  "\\",
  '\\\\"',
  "@",
  "AKIA",
];

/** The characters that maskShapes() looks at. */
function stepsOfShapes(text: string): number {
  const work = { steps: 0 };
  maskShapes(text, work);
  return work.steps;
}

test("[security 5] the search for shapes looks at each character a bounded number of times, whatever the text", () => {
  const random = seededRandom(7), pick = picker(random);
  const repeated = [
    ...beginnings.map((beginning) => [beginning]),
    ...Array.from(
      { length: 150 },
      () => Array.from({ length: 2 + Math.floor(random.next() * 4) }, () => pick(beginnings)),
    ),
  ];
  for (const parts of repeated) {
    const unit = parts.join("");
    const [short, long] = [20_000, 40_000].map((length) => stepsOfShapes(unit.repeat(Math.ceil(length / unit.length))));
    assert((long ?? 0) <= 100 * 40_000, `${long} steps for ${JSON.stringify(unit)}`);
    assert((long ?? 0) <= 2.2 * (short ?? 0) + 1_000, `${short} steps, then ${long}, for ${JSON.stringify(unit)}`);
  }
});

test("[security 5] the search for credentials looks at each character a bounded number of times, whatever the text", () => {
  const random = seededRandom(8);
  const secrets = new LiveSecrets();
  const prefix = word(random, 15);
  for (let count = 0; count < 100; count++) secrets.add(prefix + word(random, 500));
  const stepsOf = (text: string) => {
    const work = { steps: 0 };
    secrets.mask(text, work);
    return work.steps;
  };
  for (const unit of ["a", prefix, prefix.slice(0, 8), `${prefix}!`, `${prefix.slice(1)}${prefix}`]) {
    const [short, long] = [20_000, 40_000].map((length) => stepsOf(unit.repeat(Math.ceil(length / unit.length))));
    assert((long ?? 0) <= 2.2 * (short ?? 0), `${short} steps, then ${long}, for ${unit}`);
  }
});

test("[security 5] a short password is masked as well, but not a part of it", () => {
  const secrets = new LiveSecrets();
  secrets.add("hunter");
  assertEquals(secrets.mask("hunter, xhunterx, hunte, hunt…"), "[masked], x[masked]x, hunte, hunt…");
});

test("[security 5] ordinary messages stay readable", () => {
  for (
    const text of [
      "Cannot list Secrets: tokenreviews are forbidden",
      'Cannot get Secret "default/token-abc": secrets "token-abc" not found (404 NotFound)',
      "Basic authentication is not supported",
      "the Bearer token has expired",
      'WWW-Authenticate: Bearer realm="kubernetes", error="invalid_token"',
      "Cannot read token file /var/run/secrets/kubernetes.io/serviceaccount/token: no such file",
      "tokenFile: /var/run/token",
      "secretName: web-tls",
      "https://host:6443/api/v1/namespaces/a/pods?continue=abc&limit=500",
      "https://[::1]:6443/apis",
      "npm:zod@4.1.0 and https://host/@scope/name@1.0.0",
      "default/web-7c5ddbdf54-x2x9q on node ip-10-0-0-1.ec2.internal",
      "image registry.example.dev/team/app@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
      "a private key and its certificate are not a pair",
      "-----BEGIN CERTIFICATE----- is missing",
      "the server asked for a client certificate; max_tokens: 5; tokens=3",
    ]
  ) assertEquals(redactText(text), text);
});
