/** Tests stubs of applications: programs and recorded answers on loopback. */
import { builtin } from "../../api/mod.ts";
import { kubernetesApi } from "../../apiserver/mod.ts";
import { Client } from "../../client/mod.ts";
import { systemClock } from "../../async/mod.ts";
import { environment } from "../../runtime/mod.ts";
import { assertEquals, assertMatch, assertRejects, test } from "../../../tests/testing.ts";
import { TemporaryFolder } from "../../client/testing/temporary_folder.ts";
import { RecordedAnswers } from "./recorded_answers.ts";
import { parseServiceFlag, serviceObjects, type ServiceStub, ServiceStubs } from "./service_stubs.ts";

const { signal } = new AbortController();
const options = {
  clock: systemClock,
  signal,
  env: { PATH: environment().PATH ?? "", HOME: environment().HOME ?? "" },
  onError: (error: unknown) => {
    throw error;
  },
};

/** Counts its requests, as an application with a state. */
const counter = `
import { createServer } from "node:http";
let count = 0;
createServer((_, response) => response.end(String(++count))).listen(Number(process.env.PORT), process.env.HOST);
`;

const answers = () => RecordedAnswers.parse({ http: [{ path: "/a", body: "yes", times: 1 }] }, "answers.yaml");

async function text(stubs: ServiceStubs, name: string, path: string): Promise<string> {
  const address = stubs.placeholders[`service:${name}`];
  return await (await fetch(`http://${address}${path}`)).text();
}

test("a program is started on the port that it gets, and keeps or forgets its state when the operator ends", async () => {
  await using folder = await TemporaryFolder.with({ "counter.mjs": counter });
  const source = { kind: "program", command: `exec node ${folder.path}/counter.mjs` } as const;
  const stubs: ServiceStub[] = [{ name: "kept", source }, { name: "lost-db", source, isForgetful: true }];
  await using running = await ServiceStubs.start(stubs, options);
  const { environment: variables } = running;
  assertEquals(Object.keys(variables), ["KEPT_HOST", "KEPT_PORT", "LOST_DB_HOST", "LOST_DB_PORT"]);
  assertEquals(`127.0.0.1:${variables.KEPT_PORT}`, running.placeholders["service:kept"]);
  assertEquals([await text(running, "kept", "/"), await text(running, "lost-db", "/")], ["1", "1"]);
  await running.operatorEnded();
  assertEquals([await text(running, "kept", "/"), await text(running, "lost-db", "/")], ["2", "1"]);
});

test("a stub with a port of its own has a Service that the server accepts", async () => {
  const stubs: ServiceStub[] = [
    { name: "zk", port: 2181, source: { kind: "program", command: "true" } },
    { name: "db", source: { kind: "program", command: "true" } },
  ];
  const { server } = kubernetesApi();
  using _server = server;
  const client = new Client(server.fetch);
  for (const object of serviceObjects(stubs, "default")) {
    await client.raw("/api/v1/namespaces/default/services", { method: "POST", body: JSON.stringify(object) });
  }
  const { items } = await client.list(builtin.Service);
  assertEquals(items.filter(({ spec }) => spec.type === "ExternalName").map(({ metadata }) => metadata.name), ["zk"]);
});

test("recorded answers are served, and a forgetful one begins again", async () => {
  const source = { kind: "answers", answers } as const;
  const stubs: ServiceStub[] = [{ name: "kept", source }, { name: "lost", source, isForgetful: true }];
  await using running = await ServiceStubs.start(stubs, options);
  assertEquals([await text(running, "kept", "/a"), await text(running, "lost", "/a")], ["yes", "yes"]);
  await running.operatorEnded();
  assertMatch(await text(running, "kept", "/a"), /no answer is recorded/);
  assertEquals(await text(running, "lost", "/a"), "yes");
  assertEquals(running.unanswered, ["kept: GET /a"]);
});

test("a program that ends says what it has printed, and no stub stays", async () => {
  const source = { kind: "program", command: "echo no license; exit 3" } as const;
  await assertRejects(
    () => ServiceStubs.start([{ name: "db", source }], options),
    /^Cannot start service "db": it has ended \(code 3\)\. It has printed: no license$/,
  );
});

test("--service has a name, perhaps a port, and a command or a file", () => {
  assertEquals(parseServiceFlag("zk:2181=./stub --fast"), { name: "zk", port: 2181, source: "./stub --fast" });
  assertEquals(parseServiceFlag("my-db=answers.yaml"), { name: "my-db", source: "answers.yaml" });
  for (const wrong of ["zk", "=x", "ZK=x", "zk:0=x", "zk:70000=x", "zk= ", "-a=x"]) {
    assertEquals(parseServiceFlag(wrong), undefined, wrong);
  }
});
