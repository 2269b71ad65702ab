import { assert, assertEquals, assertMatch, test } from "../../../tests/testing.ts";
import { systemClock } from "../../async/mod.ts";
import { withSamples, withWebhooks } from "../../manager/mod.ts";
import { isProcessAlive, nextTurn, processSpace, spawn, toBase64 } from "../../runtime/mod.ts";
import { allow, defaulting, deny, fixedCertificate, issueCertificates, validating } from "../../webhook/mod.ts";
import { WebhookServer } from "../../webhook/mod.ts";
import { emptyList, Website, websiteController } from "../testing/test_kinds.ts";
import { type CommandResult, createProcess, runCommandLine, startCommandLine } from "../testing/run_command.ts";
import { type FakeResponse, FakeServer, statusResponse } from "../testing/fake_server.ts";

const crdPath = "GET /apis/apiextensions.k8s.io/v1/customresourcedefinitions/websites.example.dev";
const established = { conditions: [{ type: "Established", status: "True" }], storedVersions: ["v1"] };
const base = "/apis/admissionregistration.k8s.io/v1";
const [mutatingPath, validatingPath] = [
  `${base}/mutatingwebhookconfigurations/op.op-system`,
  `${base}/validatingwebhookconfigurations/op.op-system`,
];
const defaults = defaulting(Website, (site) => site);
const validates = validating(Website, { create: () => deny("no") });
const controllers = [withWebhooks(websiteController, [defaults, validates])];
const sample = { apiVersion: "example.dev/v1", kind: "Website", metadata: { name: "shop" }, spec: {} };
const sampled = [withSamples(withWebhooks(websiteController, [validates]), [sample])];
const base64 = (text: string) => toBase64(text);

function responses(others: Readonly<Record<string, FakeResponse>>): Readonly<Record<string, FakeResponse>> {
  return {
    [crdPath]: { ...Website.crd, status: established },
    "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews": { status: { allowed: true } },
    "GET /apis/example.dev/v1/websites": emptyList,
    ...others,
  };
}

function configuration(name: string, clientConfig: object, more: object = {}, metadata: object = {}): object {
  const webhook = { name, clientConfig, failurePolicy: "Fail", sideEffects: "None", timeoutSeconds: 5, ...more };
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    // The one of its path, see doctor().
    kind: "",
    metadata: { name: "op.op-system", uid: "u1", resourceVersion: "5", ...metadata },
    webhooks: [webhook],
  };
}

/** Runs doctor with a clock that stands still, so that calls over a real network do not time out. */
async function doctor(
  others: Readonly<Record<string, FakeResponse>>,
  operatorControllers: readonly (typeof controllers)[number][] = controllers,
  args: readonly string[] = [],
): Promise<CommandResult & { readonly server: FakeServer }> {
  const named = Object.entries(responses(others)).map(([line, response]) => {
    const kind = line === `GET ${mutatingPath}` ? "MutatingWebhookConfiguration" : "ValidatingWebhookConfiguration";
    const isNameless = typeof response === "object" && "kind" in response && response.kind === "";
    return [line, isNameless ? { ...response, kind } : response] as const;
  });
  const server = new FakeServer(Object.fromEntries(named));
  const process = createProcess(["doctor", ...args], { transport: server.transport });
  const operator = { name: "op", version: "1.0.0", controllers: operatorControllers };
  const code = await startCommandLine(operator, process, server.transport);
  return { code, out: process.out, err: process.err, server };
}

/** Serves the webhooks of the controllers. */
async function serving() {
  const { ca, cert, key } = await issueCertificates({
    hosts: ["127.0.0.1"],
    now: systemClock.now(),
    lifetimeMs: 3_600_000,
  });
  const webhooks = [defaults, validating(Website, { create: () => allow() })];
  const certificates = fixedCertificate({ cert, key });
  const server = new WebhookServer({ webhooks, certificates, hostname: "127.0.0.1", port: 0, drainDelayMs: 0 });
  const stop = new AbortController();
  const ended = server.run(stop.signal);
  while (server.port === undefined) await Promise.race([nextTurn(), ended.then(() => assert(false, "it ended"))]);
  const origin = `https://127.0.0.1:${server.port}`;
  return {
    caBundle: base64(ca),
    origin,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
    },
  };
}

test("[101] doctor calls each webhook at its URL and names the dead one, with the published authorities only", async () => {
  await using server = await serving();
  const { origin, caBundle } = server;
  const other = await issueCertificates({ hosts: ["x"], now: systemClock.now(), lifetimeMs: 3_600_000 });
  const dead: readonly (readonly [clientConfig: object, problem: RegExp])[] = [
    [{ url: "https://127.0.0.1:1/x", caBundle }, /dead at https:\/\/127\.0\.0\.1:1\/x: the connection was refused/],
    [{ url: `${origin}/other`, caBundle }, /dead at \S+\/other: it responds with 404 "No webhook at this path"/],
    [{ url: origin + validates.path, caBundle: base64(other.ca) }, /dead at \S+: .*(authority|certificate)/],
  ];
  for (const [clientConfig, problem] of dead) {
    const { code, out } = await doctor({
      [`GET ${mutatingPath}`]: configuration(defaults.name, { url: origin + defaults.path, caBundle }),
      [`GET ${validatingPath}`]: configuration(validates.name, clientConfig),
    });
    assertEquals(code, 1, out);
    assertMatch(
      out,
      new RegExp(`ok +webhook +${defaults.name} +responds at ${origin}\\S+, called from this machine\n`),
    );
    const line = out.split("\n").find((text) => text.includes(`${validates.name} `)) ?? "";
    assertMatch(line, /^FAILED +webhook/);
    assertMatch(line, problem);
  }
});

test("[101] a dead webhook whose failures are ignored is a warning, one with side effects is not called", async () => {
  const clientConfig = { url: "https://127.0.0.1:1/x", caBundle: (await authority()).caBundle };
  const cases: readonly (readonly [more: object, line: RegExp])[] = [
    [{ failurePolicy: "Ignore" }, /warning +webhook +\S+ +dead at .*; the API server ignores that/],
    [{ sideEffects: "Some" }, /unknown +webhook +\S+ +not called at .*: it declares side effects/],
  ];
  for (const [more, line] of cases) {
    const { code, out } = await doctor({
      [`GET ${mutatingPath}`]: configuration(defaults.name, clientConfig, more),
    });
    assertEquals(code, 0, out);
    assertMatch(out, line);
  }
});

async function authority() {
  const { ca } = await issueCertificates({ hosts: ["x"], now: Date.UTC(2026, 0, 1), lifetimeMs: 86_400_000 });
  return { caBundle: base64(ca) };
}

test("[101] a webhook behind a Service is called by the API server in a dry run, and its message is judged", async () => {
  const { caBundle } = await authority();
  const clientConfig = { service: { namespace: "ops", name: "op-webhook", path: validates.path, port: 443 }, caBundle };
  const failing = `Internal error occurred: failed calling webhook "${validates.name}": failed to call webhook: Post ` +
    '"https://op-webhook.ops.svc:443/x": no endpoints available for service "op-webhook"';
  const denied = `admission webhook "${validates.name}" denied the request: no`;
  const cases: readonly (readonly [FakeResponse, number, RegExp])[] = [
    [
      () => statusResponse(500, "InternalError", failing),
      1,
      /FAILED +webhook .* dead at Service ops\/op-webhook:443\S+: .*no endpoints/,
    ],
    [
      () => statusResponse(403, "Forbidden", denied),
      0,
      /ok +webhook .* called by the API server in a dry run of Website "shop"/,
    ],
    [() => statusResponse(409, "AlreadyExists", "exists"), 0, /ok +webhook .* called by the API server in a dry run/],
    [async (request) => Response.json(await request.json()), 0, /ok +webhook .* called by the API server in a dry run/],
  ];
  for (const [create, expected, line] of cases) {
    const { code, out, server } = await doctor({
      [`GET ${validatingPath}`]: configuration(validates.name, clientConfig),
      "POST /apis/example.dev/v1/namespaces/default/websites": create,
    }, sampled);
    assertEquals(code, expected, out);
    assertMatch(out, line);
    const writes = server.requests.filter((text) => text.startsWith("POST /apis/example.dev"));
    assert(writes.length === 1 && writes.every((text) => text.includes("dryRun=All")), writes.join());
  }
});

test("[101] a webhook behind a Service without a sample is called through the proxy of the API server", async () => {
  const { caBundle } = await authority();
  const clientConfig = { service: { namespace: "ops", name: "op-webhook", path: "/p", port: 443 }, caBundle };
  const service = { apiVersion: "v1", kind: "Service", metadata: { namespace: "ops", name: "op-webhook" }, spec: {} };
  const answer = async (request: Request) => {
    const { request: { uid, dryRun, operation } } = await request.json();
    assertEquals([dryRun, operation], [true, "CREATE"]);
    return Response.json({
      apiVersion: "admission.k8s.io/v1",
      kind: "AdmissionReview",
      response: { uid, allowed: true },
    });
  };
  const cases: readonly (readonly [FakeResponse, FakeResponse, number, RegExp])[] = [
    [service, answer, 0, /ok +webhook .* called through the API server, which does not check its certificate/],
    [
      service,
      () => statusResponse(403, "Forbidden", "no"),
      0,
      /unknown +webhook .* may not create services\/proxy in ops/,
    ],
    [
      service,
      () => statusResponse(500, "InternalError", "error trying to reach service"),
      1,
      /FAILED .*error trying to reach service/,
    ],
    [() => statusResponse(404, "NotFound", "no"), answer, 1, /FAILED .* the Service does not exist/],
  ];
  for (const [find, proxy, expected, line] of cases) {
    const { code, out } = await doctor({
      [`GET ${validatingPath}`]: configuration(validates.name, clientConfig),
      "GET /api/v1/namespaces/ops/services/op-webhook": find,
      "POST /api/v1/namespaces/ops/services/https:op-webhook:443/proxy/p": proxy,
    }, [withWebhooks(websiteController, [validates])]);
    assertEquals(code, expected, out);
    assertMatch(out, line);
  }
});

/** A configuration that a killed run on another machine has created. */
async function leftover(renewals = 1, more: object = {}): Promise<object> {
  const run = { id: "x", host: "laptop", process: 7, renewedAt: "2025-12-31T21:00:00Z", renewals, ...more };
  return configuration(defaults.name, { url: "https://127.0.0.1:1/x", caBundle: (await authority()).caBundle }, {}, {
    labels: { "pintle.dev/local-run": "true" },
    annotations: { "pintle.dev/local-run-owner": JSON.stringify(run) },
  });
}

test("[100] doctor finds what a killed local run has left", async () => {
  const { code, out } = await doctor({ [`GET ${mutatingPath}`]: await leftover() });
  assertEquals(code, 1);
  assertMatch(
    out,
    /FAILED +webhook +mutating op\.op-system +served by a local run: process 7 on laptop, which renewed its mark 3 h ago; nothing responds at https:\/\/127\.0\.0\.1:1\/x\. Run: op doctor --fix\n/,
  );
});

test("[100] doctor knows at once that a process of this machine has ended", async () => {
  const ended = await spawn(["/bin/sh", "-c", "echo $$"]);
  const process = Number(ended.kind === "ended" ? ended.stdout : "");
  const space = await processSpace();
  if (space === undefined || isProcessAlive(process)) return; // not on Linux
  const renewedAt = "2026-01-01T00:00:00Z";
  const { code, out } = await doctor({
    [`GET ${mutatingPath}`]: await leftover(1, { process, processSpace: space, renewedAt }),
  });
  assertEquals(code, 1);
  assertMatch(
    out,
    /FAILED +webhook +mutating op\.op-system +left by a local run: process \d+ on laptop has ended, .* doctor --fix\n/,
  );
});

test("[100] doctor --fix removes what a killed local run has left, and leaves a live one alone", async () => {
  for (const isAlive of [false, true]) {
    let [isRemoved, renewals] = [false, 1];
    const objects = [await leftover(1), await leftover(2)];
    const server = new FakeServer(responses({
      [`GET ${mutatingPath}`]: () => {
        if (isRemoved) return statusResponse(404, "NotFound", "gone");
        const live = objects[renewals - 1] ?? {};
        if (isAlive) renewals = 2;
        return Response.json({ ...live, kind: "MutatingWebhookConfiguration" });
      },
      [`DELETE ${mutatingPath}`]: () => {
        isRemoved = true;
        return Response.json({ kind: "Status", status: "Success" });
      },
    }));
    const operator = { name: "op", version: "1.0.0", controllers };
    const { out, err } = await runCommandLine(operator, ["doctor", "--fix"], { transport: server.transport });
    assertEquals(isRemoved, !isAlive);
    assertMatch(err, /op: process 7 on laptop does not respond, waiting 20 s for its mark\n/);
    if (isAlive) {
      assertMatch(out, /ok +webhook +mutating op\.op-system +nothing to fix: process 7 on laptop is alive\n/);
    } else {
      assertMatch(
        out,
        /ok +webhook +mutating op\.op-system +fixed: process 7 on laptop was killed, its settings were undone\n/,
      );
      assertMatch(out, /warning +webhook +mutating op\.op-system +not installed/);
    }
  }
});
