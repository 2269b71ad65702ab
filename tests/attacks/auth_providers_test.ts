/**
 * Attacks by auth providers of a kubeconfig: they named programs that a shell ran with the whole environment, and an
 * issuer that got the secrets of the user. A generator combines providers, fields and programs; a second one makes answers
 * of a hostile issuer.
 *
 * The rules: no program runs, whatever a provider names; secrets go to no unverified and no redirected address; an answer
 * of any size, form or silence is an error without text of the issuer and without a secret.
 */
import { access, mkdtemp, rm, writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { VirtualClock } from "../../src/async/mod.ts";
import { clusterTransport, KubeconfigError, loadClusterAccess } from "../../src/client/mod.ts";
import { nextTurn } from "../../src/runtime/mod.ts";
import { LoopbackServer } from "../loopback.ts";
import { assert, assertEquals, assertMatch, test } from "../testing.ts";

class Folder implements AsyncDisposable {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async create(): Promise<Folder> {
    return new Folder(await mkdtemp("/tmp/pintle-provider-"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true });
  }
}

/** Sends a request as a user with this provider. @returns the error */
async function errorOf(folder: Folder, provider: object, clock?: VirtualClock): Promise<Error> {
  const config = join(folder.path, "config");
  const user = { name: "u", user: { "auth-provider": provider } };
  await writeFile(
    config,
    JSON.stringify({
      "current-context": "c",
      contexts: [{ name: "c", context: { cluster: "k", user: "u" } }],
      clusters: [{ name: "k", cluster: { server: "https://127.0.0.1:1" } }],
      users: [user],
    }),
  );
  try {
    const access = await loadClusterAccess({ environment: {}, overrides: { kubeconfig: config } });
    using transport = clusterTransport(access, { clock, maxAttempts: 1, environment: { PATH: "/usr/bin:/bin" } });
    const sending = transport(new Request("https://kubernetes.invalid/api"));
    if (clock === undefined) await sending;
    let isSettled = false;
    sending.then(() => isSettled = true, () => isSettled = true);
    for (let second = 0; second < 60 && !isSettled; second++) {
      for (let turn = 0; turn < 20; turn++) await nextTurn();
      await clock?.advance(1_000);
    }
    await sending;
  } catch (error) {
    assert(error instanceof Error);
    return error;
  }
  throw new Error("the request was sent");
}

const expired = "eyJhbGciOiJub25lIn0.eyJleHAiOjF9.c2ln";

test("no auth provider runs a program, and each that is refused says how to migrate", async () => {
  await using folder = await Folder.create();
  const witness = join(folder.path, "witness");
  const program = join(folder.path, "program");
  await writeFile(program, `#!/bin/sh\ntouch ${witness}\n`, { mode: 0o700 });
  const commands = [
    { "cmd-path": program, "cmd-args": "a b" },
    { "cmd-path": "/bin/sh", "cmd-args": `-c "touch ${witness}"` },
    { "cmd-path": `/bin/true; touch ${witness} #` },
    { "cmd-path": `$(touch ${witness})`, "expiry-key": "{.x}", "token-key": "{.y}" },
    { "access-token": "old", "expiry": "2020-01-01T00:00:00Z", "cmd-path": program },
  ];
  for (const name of ["gcp", "azure", "oidc", "openstack", "exec", "__proto__", "GCP", ""]) {
    for (const config of commands) {
      const error = await errorOf(folder, { name, config: { ...config, "id-token": expired } });
      assert(error instanceof KubeconfigError, `${name}: ${error.name} ${error.message}`);
      if (name === "gcp") {
        assertMatch(error.message, /removed .* 1\.26; install gke-gcloud-auth-plugin, and run: gcloud /);
      }
      if (name === "azure") assertMatch(error.message, /removed .* 1\.26; install kubelogin, and run: kubelogin /);
    }
  }
  assertEquals(await access(witness).then(() => "the program ran", () => "no program ran"), "no program ran");
});

test("an issuer that secrets must not be sent to is refused before any request", async () => {
  await using folder = await Folder.create();
  const issuers = [
    "http://issuer.example",
    "ftp://issuer.example",
    "https://user:p@issuer.example",
    "issuer",
    "file:///x",
  ];
  for (const issuer of issuers) {
    const config = { "idp-issuer-url": issuer, "client-id": "c", "refresh-token": "canary-7", "id-token": expired };
    const error = await errorOf(folder, { name: "oidc", config });
    assert(error instanceof KubeconfigError && /idp-issuer-url/.test(error.message), error.message);
    assert(!error.message.includes("canary"));
  }
});

const secrets = { "client-id": "c", "client-secret": "canary-1", "refresh-token": "canary-2", "id-token": expired };
const evil = "canary-3 \u001b[31m";

/** What a hostile issuer answers to the discovery, or to the request for tokens. */
const answers: readonly (readonly [name: string, answer: (response: ServerResponse) => void, state: RegExp])[] = [
  ["another form", (response) => void response.end(JSON.stringify([evil])), /malformed$/],
  ["no JSON", (response) => void response.end(evil), /malformed$/],
  ["an empty body", (response) => void response.end(), /malformed$/],
  [
    "an error with text",
    (response) => void response.writeHead(400).end(JSON.stringify({ error: evil })),
    /answered 400;/,
  ],
  [
    "an error code",
    (response) => void response.writeHead(400).end('{"error":"invalid_grant"}'),
    /400 \(invalid_grant\)/,
  ],
  ["a redirect", (response) => void response.writeHead(307, { location: "/elsewhere" }).end(), /answered 307;/],
  ["a cut body", (response) => {
    response.writeHead(200, { "content-length": "1000" }).write("{");
    response.socket?.destroy();
  }, /cannot be reached/],
  ["an endless body", (response) => {
    const more = () => response.writable && response.write("x".repeat(65_536), more);
    more();
  }, /larger than 1 MiB$/],
  ["silence", () => {}, /did not answer in time$/],
  ["a body that stops", (response) => void response.write("{"), /did not answer in time$/],
  [
    "a token of control characters",
    (response) => void response.end('{"id_token":"a\\r\\nb"}'),
    /malformed$|Cannot use the token/,
  ],
];

for (const [name, answer, state] of answers) {
  test(`${name} of a hostile issuer is an error without its text and without a secret`, async () => {
    await using folder = await Folder.create();
    for (const attacked of ["discovery", "token"]) {
      let elsewhere = 0;
      await using server = await LoopbackServer.start({
        answer: (request, response) => {
          if (request.url === "/elsewhere") elsewhere++;
          const isDiscovery = request.url?.includes("well-known");
          if (attacked === "token" && isDiscovery) {
            return void response.end(JSON.stringify({ token_endpoint: `${server.url()}/token` }));
          }
          answer(response);
        },
      });
      const config = { ...secrets, "idp-issuer-url": server.url() };
      const error = await errorOf(folder, { name: "oidc", config }, new VirtualClock());
      assertMatch(error.message, state);
      const shown = `${error.message}${error.stack}`;
      assert(!shown.includes("canary") && !shown.includes("\u001b"), shown);
      assertEquals(elsewhere, 0);
    }
  });
}

test("a token endpoint that secrets must not be sent to is refused", async () => {
  await using folder = await Folder.create();
  for (const endpoint of ["http://issuer.example/token", "javascript:1", "/token", ""]) {
    await using server = await LoopbackServer.start({
      answer: (_request, response) => void response.end(JSON.stringify({ token_endpoint: endpoint })),
    });
    const config = { ...secrets, "idp-issuer-url": server.url() };
    const error = await errorOf(folder, { name: "oidc", config }, new VirtualClock());
    assertMatch(error.message, /token endpoint of its issuer is not an https:\/\/ URL$/);
  }
});
