/** Tests of the servers behind the stand-ins: who may connect as whom, and what an etcd is asked. */
import { connect } from "node:http2";
import { freePort } from "../../../tests/free_port.ts";
import { LoopbackServer } from "../../../tests/loopback.ts";
import { assertEquals, assertMatch, assertRejects, assertThrows, test } from "../../../tests/testing.ts";
import { VirtualClock } from "../../async/mod.ts";
import { serveEtcd, takeEtcd } from "./etcd.ts";
import { readFlagWords } from "./flag_words.ts";
import { featuresOf, parseTokenFile, startApiServer } from "./kube_apiserver.ts";
import { apiServerProgram } from "./programs.ts";

const { signal } = new AbortController();

/** Time passes only while something sleeps. */
class EtcdClock extends VirtualClock {
  sleptMs = 0;
  readonly #onSleep: () => Promise<void>;

  constructor(onSleep: () => Promise<void> = () => Promise.resolve()) {
    super();
    this.#onSleep = onSleep;
  }

  override async sleep(ms: number): Promise<void> {
    this.sleptMs += ms;
    await this.#onSleep();
  }
}

/** Starts an API server on plain flags, and requests a path of it with a token. */
async function setUp(words: readonly string[]) {
  const flags = readFlagWords([`--secure-port=${await freePort()}`, ...words], apiServerProgram);
  const errors: unknown[] = [];
  const server = await startApiServer(flags, { hasCluster: false, onError: (error) => errors.push(error) });
  return { server, errors };
}

test("[139] a token file gives names, UIDs and groups; a line without a UID is refused with its number", () => {
  const [[token, user] = []] = parseTokenFile('# comment\n\nabc,alice,7,"dev,ops"\n');
  assertEquals([token, user?.name, user?.uid, user?.groups], ["abc", "alice", "7", [
    "system:authenticated",
    "dev",
    "ops",
  ]]);
  assertThrows(() => parseTokenFile("a,b,1\nx,y\n"), /line 2 needs token,user,uid/);
});

test("[139] flags that this server cannot follow are refused, because a test would pass falsely", async () => {
  const table: readonly (readonly [word: string, message: RegExp])[] = [
    ["--oidc-issuer-url=https://example.test", /Cannot follow --oidc-issuer-url/],
    ["--authorization-mode=Webhook", /Cannot authorize by Webhook: use RBAC, Node, AlwaysAllow/],
    ["--client-ca-file=/nowhere/ca.crt", /Cannot read --client-ca-file: .*ENOENT/],
    ["--secure-port=0", /invalid argument "0" for "--secure-port" flag/],
    ["--enable-admission-plugins=PodSecurity,Nope", /^enable-admission-plugins plugin "Nope" is unknown$/],
    ["--feature-gates=AllAlpha=true,Nope=true", /^unrecognized feature gate: Nope$/],
    [
      "--http2-max-streams-per-connection=many",
      /invalid argument "many" for "--http2-max-streams-per-connection" flag/,
    ],
    ["--feature-gates=AllAlpha", /invalid argument "AllAlpha" for "--feature-gates" flag/],
  ];
  for (const [word, message] of table) {
    const flags = readFlagWords(["--secure-port=1", word], apiServerProgram);
    await assertRejects(() => startApiServer(flags, { hasCluster: false, onError: () => {} }), message);
  }
});

test("[139] what a flag does not do here is said", async () => {
  const words = ["--audit-log-path=-", "--enable-admission-plugins=AlwaysPullImages,PodSecurity", "--profiling=false"];
  const flags = readFlagWords([`--secure-port=${await freePort()}`, ...words], apiServerProgram);
  const warnings: string[] = [];
  const onWarning = (text: string) => void warnings.push(text);
  await using _server = await startApiServer(flags, { hasCluster: false, onError: () => {}, onWarning });
  assertEquals(warnings, [
    "--enable-admission-plugins=AlwaysPullImages is ignored: this server does not have it",
    "--audit-log-path is ignored: this server writes no audit log",
  ]);
});

test("[139] an etcd is healthy and belongs to one API server that runs", async () => {
  const url = `http://127.0.0.1:${await freePort()}/`;
  const alive = new Set([1, 2]);
  await using _etcd = await serveEtcd(new URL(url), (pid) => alive.has(pid));
  const health = await fetch(`${url}health`);
  assertEquals([health.status, await health.json()], [200, { health: "true", reason: "" }]);
  const clock = new EtcdClock();
  assertEquals([await takeEtcd(url, 1, { clock, signal }), await takeEtcd(url, 1, { clock, signal })], ["new", "new"]);
  const error = await takeEtcd(url, 2, { clock, signal }).catch((error: Error) => error);
  assertMatch(`${error}`, /the API server with the process id 1 uses it/);
  alive.delete(1);
  assertEquals(await takeEtcd(url, 2, { clock, signal }), "taken-over");
  assertEquals(clock.sleptMs, 0);
});

test("[139] an API server that starts first waits for its etcd", async () => {
  const url = `http://127.0.0.1:${await freePort()}/`;
  let etcd: AsyncDisposable | undefined;
  const clock = new EtcdClock(async () => {
    if (clock.sleptMs === 300) etcd = await serveEtcd(new URL(url), () => true);
  });
  try {
    assertEquals(await takeEtcd(url, 1, { clock, signal }), "new");
  } finally {
    await etcd?.[Symbol.asyncDispose]();
  }
  assertEquals(clock.sleptMs, 300);
});

test("[139] the feature gate of shards is on as the last flag says", () => {
  const table: readonly (readonly [words: readonly string[], isOn: boolean])[] = [
    [[], false],
    [["--feature-gates=ShardedListAndWatch=true"], true],
    [["--feature-gates=CBORServingAndStorage=true,kube:ShardedListAndWatch=true"], true],
    [["--feature-gates=ShardedListAndWatch=true", "--feature-gates=ShardedListAndWatch=false"], false],
    [["--feature-gates=AllAlpha=true"], true],
    [["--feature-gates=AllAlpha=true,ShardedListAndWatch=false"], false],
  ];
  for (const [words, isOn] of table) {
    const features = featuresOf(readFlagWords(words, apiServerProgram));
    assertEquals(features, isOn ? ["ShardedListAndWatch"] : [], words.join(" "));
  }
});

test("[139] an address without an etcd is given up after 20 s, one of another server at once", async () => {
  const url = `http://127.0.0.1:${await freePort()}/`;
  const clock = new EtcdClock();
  await assertRejects(() => takeEtcd(url, 1, { clock, signal }), /it does not answer/);
  assertEquals(Math.ceil(clock.sleptMs / 1_000), 20);
  await using other = await LoopbackServer.start({ answer: (_, response) => void response.end("hello") });
  const waiting = new EtcdClock();
  await assertRejects(() => takeEtcd(other.url(), 1, { clock: waiting, signal }), /it is not the one of this program/);
  assertEquals(waiting.sleptMs, 0);
});

test("[139] a server starts without a certificate folder, and stops", async () => {
  const { server, errors } = await setUp(["--authorization-mode=AlwaysAllow"]);
  assertMatch(server.url, /^https:\/\/127\.0\.0\.1:\d+$/);
  await server[Symbol.asyncDispose]();
  assertEquals(errors, []);
});

/** The limit of requests in flight on one connection that a server announces; undefined if it does not speak HTTP/2. */
async function announcedStreams(words: readonly string[]): Promise<number | undefined> {
  const { server } = await setUp(words);
  try {
    const session = connect(server.url, { rejectUnauthorized: false });
    return await new Promise<number | undefined>((resolve) => {
      session.once("remoteSettings", ({ maxConcurrentStreams }) => resolve(maxConcurrentStreams));
      session.once("error", () => resolve(undefined));
      session.once("close", () => resolve(undefined));
    }).finally(() => session.destroy());
  } finally {
    await server[Symbol.asyncDispose]();
  }
}

test("[139] HTTP/2 is spoken with the limit of kube-apiserver, or as its flags say", async () => {
  assertEquals(await announcedStreams([]), 100);
  assertEquals(await announcedStreams(["--http2-max-streams-per-connection=7"]), 7);
  assertEquals(await announcedStreams(["--http2-max-streams-per-connection=0"]), 100);
  assertEquals(await announcedStreams(["--disable-http2-serving"]), undefined);
});
