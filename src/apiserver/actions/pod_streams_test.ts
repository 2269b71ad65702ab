/** Tests of exec and attach with the client of src/client, over a socket and on every runtime, with a virtual clock of the server. */
import { assert, assertEquals, assertMatch, assertRejects, test } from "../../../tests/testing.ts";
import { until } from "../../../tests/until.ts";
import { systemClock, VirtualClock } from "../../async/mod.ts";
import { Client, clusterTransport } from "../../client/mod.ts";
import { accessTo } from "../../client/testing/cluster_access.ts";
import { httpClient, serve } from "../../runtime/mod.ts";
import { type ExecAnswers, kubernetesApi } from "../mod.ts";
import { SpdyClient } from "../forward/testing/spdy_client.ts";
import { KubernetesTestServer } from "../testing/kubernetes_test_server.ts";

const base = "/api/v1/namespaces/default";

class Site implements AsyncDisposable {
  readonly clock = new VirtualClock();
  readonly errors: unknown[] = [];
  /** What is open, in the order of its opening. Node 22 has no AsyncDisposableStack. */
  readonly #open: AsyncDisposable[] = [];
  readonly #api = kubernetesApi({
    clock: this.clock,
    onError: (error) => this.errors.push(error),
    execAnswers: (call) => this.answers(call),
  });
  answers: ExecAnswers = () => undefined;
  client = new Client(() => Promise.reject(new Error("not started")));
  url = "";
  readonly #http = httpClient();

  static async start(): Promise<Site> {
    const site = new Site();
    const { clock, errors } = site;
    const handler = (request: Request) => site.#api.server.fetch(request);
    const server = await serve({ handler, clock, onError: (error) => errors.push(error) });
    site.#open.push(server);
    site.url = `http://127.0.0.1:${server.port}`;
    const access = accessTo(site.url, {});
    const transport = clusterTransport(access, { clock: systemClock });
    site.#open.push({ [Symbol.asyncDispose]: () => Promise.resolve(transport[Symbol.dispose]()) });
    site.client = new Client(transport, { clock: systemClock });
    await site.send("POST", `${base}/serviceaccounts`, { metadata: { name: "default" } });
    return site;
  }

  async send(method: string, path: string, body?: object): Promise<{ readonly status: number; readonly text: string }> {
    const response = await this.#api.server.fetch(
      new Request(`http://in.memory${path}`, {
        method,
        ...(body === undefined ? {} : {
          headers: { "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json" },
          body: JSON.stringify(body),
        }),
      }),
    );
    return { status: response.status, text: await response.text() };
  }

  async pod(container: object = {}, spec: object = {}, metadata: object = {}): Promise<void> {
    const containers = [{ name: "main", image: "example.invalid/main", ...container }];
    const pod = { metadata: { name: "web", labels: { app: "x" }, ...metadata }, spec: { containers, ...spec } };
    assertEquals((await this.send("POST", `${base}/pods`, pod)).status, 201);
    await this.send("POST", `${base}/pods/web/binding`, { metadata: { name: "web" }, target: { name: "node-a" } });
    await this.send("PATCH", `${base}/pods/web/status`, { status: { phase: "Running", podIP: "10.1.2.3" } });
  }

  async run(...command: readonly string[]) {
    const streams = await this.client.exec("default/web", { command });
    return await streams.output();
  }

  /** Opens the streams of client-go's executor. */
  async spdy(query: string, types: readonly string[]) {
    const request = new Request(`${this.url}${base}/pods/web/exec?${query}`, { method: "POST" });
    const headers = { upgrade: "SPDY/3.1", "x-stream-protocol-version": "v4.channel.k8s.io" };
    const answer = await this.#http.upgrade(request, { connection: "Upgrade", ...headers });
    if (answer.kind !== "switched") throw new Error(`refused: ${await answer.response.text()}`);
    const client = SpdyClient.over(answer.wire);
    const running = client.run();
    const ids = new Map<string, number>();
    for (const streamtype of types) ids.set(streamtype, await client.open({ streamtype }));
    const streamOf = (type: string) => client.stream(ids.get(type) ?? 0);
    const write = (text: string, isLast: boolean) => client.write(ids.get("stdin") ?? 0, text, isLast);
    return { running, streamOf, write, protocol: answer.headers.get("x-stream-protocol-version") };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#http.close();
    this.#api.server[Symbol.dispose]();
    for (const one of this.#open.toReversed()) await one[Symbol.asyncDispose]();
    assertEquals(this.errors, []);
  }
}

test("exec runs the commands of a simulated container, and their exit codes reach the client", async () => {
  await using site = await Site.start();
  await site.pod({ env: [{ name: "COLOR", value: "dark red" }] });
  const scripts: Readonly<Record<string, readonly [stdout: string, exitCode: number]>> = {
    "echo a b": ["a b\n", 0],
    "echo -n $COLOR '$COLOR' \"$COLOR  x\" ${COLOR}": ["dark red $COLOR dark red  x dark red", 0],
    "false || echo no && echo yes; exit 3; echo never": ["no\nyes\n", 3],
    "true && false": ["", 1],
    "false; echo $?": ["1\n", 0],
    "pwd; cd /etc && ls && cat hostname": ["/\nhostname\nweb\n", 0],
    "A=1 B='2 3'; export C=$B; echo $A$C; sh -c 'echo in $C; exit 4'; echo $?": ["12 3\nin 2 3\n4\n", 0],
    "echo out; echo err >&2\necho last # comment": ["out\nlast\n", 0],
    "printenv COLOR; hostname": ["dark red\nweb\n", 0],
    "echo a | cat": ["", 2],
    "echo 'open": ["", 2],
    "&& true": ["", 2],
    "curl x": ["", 127],
    "cat /nothing": ["", 1],
    "exit 300": ["", 44],
  };
  for (const [script, [stdout, exitCode]] of Object.entries(scripts)) {
    const output = await site.run("sh", "-c", script);
    assertEquals([output.stdout, output.exitCode], [stdout, exitCode], script);
  }
  assertEquals((await site.run("sh", "-c", "echo err >&2")).stderr, "err\n");
  assertMatch(
    (await site.run("sh", "-c", "curl x")).stderr,
    /curl: not found \(a simulated container has: cat cd echo/,
  );
  assertEquals(await site.run("/bin/echo", "$COLOR"), { exitCode: 0, stdout: "$COLOR\n", stderr: "" });
});

test("exec over SPDY writes both outputs and the status, and ends the connection", async () => {
  await using site = await Site.start();
  await site.pod();
  const query = "stdout=true&stderr=true&command=sh&command=-c&command=echo+out%3B+echo+err+%3E%262%3B+exit+3";
  const { running, streamOf, protocol } = await site.spdy(query, ["error", "stdout", "stderr"]);
  await running;
  assertEquals(protocol, "v4.channel.k8s.io");
  assertEquals([streamOf("stdout").text, streamOf("stderr").text], ["out\n", "err\n"]);
  assertMatch(streamOf("error").text, /"reason":"NonZeroExitCode".*"message":"3"/);
  assertEquals(["error", "stdout", "stderr"].map((type) => streamOf(type).hasEnded), [true, true, true]);
});

test("exec over SPDY reads stdin", async () => {
  await using site = await Site.start();
  await site.pod();
  const { running, streamOf, write } = await site.spdy("stdin=true&stdout=true&command=cat", [
    "error",
    "stdin",
    "stdout",
  ]);
  await write("first ", false);
  await write("last", true);
  await running;
  assertEquals(streamOf("stdout").text, "first last");
  assertMatch(streamOf("error").text, /"status":"Success"/);
});

test("a client of SPDY that opens too few streams is left", async () => {
  await using site = await Site.start();
  await site.pod();
  const { running, streamOf } = await site.spdy("stdout=true&command=pwd", ["error"]);
  await until(() => streamOf("error").isOpen, "the stream to be open");
  await site.clock.advance(30_000);
  await running;
  assertEquals(streamOf("error").text, "");
});

test("scripted answers come before the small shell", async () => {
  await using site = await Site.start();
  await site.pod();
  site.answers = ({ namespace, pod, container, command }) =>
    command[0] === "rabbitmqctl"
      ? { stdout: `${namespace}/${pod} ${container}: ${command.slice(1).join(" ")}`, stderr: "careful", exitCode: 7 }
      : undefined;
  const output = await site.run("rabbitmqctl", "status", "-q");
  assertEquals(output, { stdout: "default/web main: status -q", stderr: "careful", exitCode: 7 });
  assertEquals((await site.run("pwd")).stdout, "/\n");
});

test("exec of a program that a simulated container does not have, such as the tar of kubectl cp, says so", async () => {
  await using site = await Site.start();
  await site.pod();
  await assertRejects(
    () => site.run("tar", "cf", "-", "/x"),
    /exec: "tar": executable file not found in \$PATH \(a simulated/,
  );
});

test("cat shows mounted ConfigMaps, Secrets, the downward API and a token that the server accepts", async () => {
  await using site = await Site.start();
  await site.send("POST", `${base}/configmaps`, { metadata: { name: "c" }, data: { "a.conf": "x=1\n", b: "2" } });
  await site.send("POST", `${base}/secrets`, { metadata: { name: "s" }, stringData: { password: "hidden" } });
  const volumes = [
    { name: "c", configMap: { name: "c" } },
    { name: "s", secret: { secretName: "s", items: [{ key: "password", path: "deep/pass" }] } },
    { name: "d", downwardAPI: { items: [{ path: "labels", fieldRef: { fieldPath: "metadata.labels" } }] } },
    { name: "t", projected: { sources: [{ serviceAccountToken: { path: "token", audience: "vault" } }] } },
    { name: "e", emptyDir: {} },
  ];
  const volumeMounts = [...volumes.map(({ name }) => ({ name, mountPath: `/mnt/${name}` })), {
    name: "c",
    mountPath: "/one",
    subPath: "b",
  }];
  const env = [
    { name: "IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
    { name: "APP", valueFrom: { fieldRef: { fieldPath: "metadata.labels['app']" } } },
    { name: "PASS", valueFrom: { secretKeyRef: { name: "s", key: "password" } } },
    { name: "ALL", value: "$(APP)-$(IP)-$$(IP)" },
  ];
  await site.pod({ volumeMounts, env, envFrom: [{ configMapRef: { name: "c" }, prefix: "P_" }] }, { volumes });
  const shown = await site.run(
    "sh",
    "-c",
    "cat /mnt/c/a.conf /one; echo; cat /mnt/s/deep/pass; echo; cat /mnt/d/labels; ls /mnt /mnt/e /mnt/c; echo $ALL $PASS $P_b",
  );
  assertEquals(shown.stdout, 'x=1\n2\nhidden\napp="x"\nc\nd\ne\ns\nt\na.conf\nb\nx-10.1.2.3-$(IP) hidden 2\n');
  const { stdout: token } = await site.run("cat", "/mnt/t/token");
  const review = { spec: { token, audiences: ["vault"] } };
  const { text } = await site.send("POST", "/apis/authentication.k8s.io/v1/tokenreviews", review);
  assertEquals(JSON.parse(text).status.user.username, "system:serviceaccount:default:default");
});

test("cat and sh read stdin to its end, and a large input comes back whole", async () => {
  await using site = await Site.start();
  await site.pod();
  const input = new Uint8Array(600_000).fill(65);
  const streams = await site.client.exec("default/web", { command: ["cat"], stdin: true });
  const writer = streams.stdin.getWriter();
  const writing = writer.write(input).then(() => writer.close());
  writing.catch(() => {});
  assertEquals((await streams.output()).stdout.length, input.length);
  await writing;
  const shell = await site.client.exec("default/web", { command: ["sh"], stdin: true });
  const lines = shell.stdin.getWriter();
  await lines.write(new TextEncoder().encode("A=5\necho $A\nexit 6\necho never\n"));
  assertEquals(await shell.output(), { exitCode: 6, stdout: "5\n", stderr: "" });
});

test("sleep ends with the clock, and with a client that leaves", async () => {
  await using site = await Site.start();
  await site.pod();
  const output = site.run("sh", "-c", "sleep 0.5m; echo done");
  await until(() => site.clock.pendingTimers > 1, "the sleep");
  await site.clock.advance(15_000);
  await site.clock.advance(15_000);
  assertEquals((await output).stdout, "done\n");
  const before = site.clock.pendingTimers;
  const streams = await site.client.exec("default/web", { command: ["sleep", "1000"] });
  await until(() => site.clock.pendingTimers > before, "the second sleep");
  streams[Symbol.dispose]();
  await until(() => site.clock.pendingTimers <= before, "the end of the second sleep");
});

test("attach shows the log, and ends with its Pod", async () => {
  await using site = await Site.start();
  await site.pod();
  const streams = await site.client.attach("default/web");
  const output = streams.output();
  await until(() => site.clock.pendingTimers > 1, "the wait for the Pod");
  await site.send("PATCH", `${base}/pods/web/status`, { status: { phase: "Succeeded" } });
  await site.clock.advance(1_000);
  const { stdout, exitCode } = await output;
  assertEquals(exitCode, 0);
  assertMatch(stdout, /is simulated/);
});

test("a terminal echoes its input, has one output, and ends with Ctrl-D", async () => {
  await using site = await Site.start();
  await site.pod();
  const streams = await site.client.exec("default/web", { command: ["sh"], stdin: true, tty: true });
  const writer = streams.stdin.getWriter();
  await writer.write(new TextEncoder().encode("echo hi >&2\r"));
  await writer.write(new Uint8Array([4]));
  assertEquals((await streams.output()).stdout, "echo hi >&2\r\nhi\r\n");
});

test("a connection that cannot be is refused before the switch", async () => {
  await using site = await Site.start();
  await assertRejects(() => site.run("true"), /pods "web" not found/);
  await site.pod();
  const refused = async (path: string, status: number, message: RegExp) => {
    const response = await site.send("POST", `${base}/pods/web/${path}`);
    assertEquals(response.status, status, path);
    assertMatch(response.text, message);
  };
  await refused("exec?command=true&stdout=1", 400, /Upgrade request required/);
  await refused("exec?stdout=1", 400, /at least 1 command/);
  await refused("exec?command=true", 400, /at least 1 of stdin/);
  await refused("exec?command=true&stdout=1&container=other", 400, /container other is not valid for pod web/);
  await site.send("PATCH", `${base}/pods/web/status`, { status: { phase: "Pending" } });
  await refused("attach?stdout=1", 500, /container not found/);
  assert(site.errors.length === 0);
});

test("exec by WebSocket needs the verbs get and create, as since Kubernetes 1.35", async () => {
  using server = new KubernetesTestServer();
  const rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
  const rules = (verbs: readonly string[]) => [{ apiGroups: [""], resources: ["pods/exec"], verbs }];
  await server.create(`${rbac}/roles`, { metadata: { name: "exec" }, rules: rules(["get"]) });
  await server.create(`${rbac}/rolebindings`, {
    metadata: { name: "exec" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "exec" },
    subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "jane" }],
  });
  const path = `${base}/pods/web/exec?command=true&stdout=1`;
  const jane = { authorization: "Bearer jane", upgrade: "websocket", connection: "Upgrade" };
  const denied = await server.send("GET", path, undefined, jane);
  assertEquals(denied.code, 403);
  assertEquals(denied.body.message, 'pods "web" is forbidden: ');
  await server.send("PUT", `${rbac}/roles/exec`, { metadata: { name: "exec" }, rules: rules(["get", "create"]) });
  assertEquals((await server.send("GET", path, undefined, jane)).code, 404);
});
