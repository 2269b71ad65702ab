import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { assert, assertEquals, assertMatch, assertStringIncludes, test } from "../../../tests/testing.ts";
import { CertificateAuthority } from "../../../tests/controlplane/certificate_authority.ts";
import { controller, type ControllerDefinition, done } from "../../controller/mod.ts";
import { withWebhooks } from "../../manager/mod.ts";
import { converting, defaulting, validating } from "../../webhook/mod.ts";
import { defineResource, z } from "../../schema/mod.ts";
import { emptyList, Website, websiteController } from "../testing/test_kinds.ts";
import { type CommandResult, runCommandLine } from "../testing/run_command.ts";
import { type FakeResponse, FakeServer, statusResponse } from "../testing/fake_server.ts";
import { joinPath, removePath, toBase64, writeFile } from "../../runtime/mod.ts";

const crdPath = "GET /apis/apiextensions.k8s.io/v1/customresourcedefinitions/websites.example.dev";
const reviewPath = "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const leasePath = "GET /apis/coordination.k8s.io/v1/namespaces/default/leases/controller";
const established = { conditions: [{ type: "Established", status: "True" }], storedVersions: ["v1"] };
const stored = { ...Website.crd, status: established };
const nothing = () => Promise.resolve(done);

/** The responses of a cluster that is in order. A test replaces some. */
function responses(others: Readonly<Record<string, FakeResponse>> = {}): Readonly<Record<string, FakeResponse>> {
  return {
    "POST /apis/authentication.k8s.io/v1/selfsubjectreviews": { status: { userInfo: { username: "ann" } } },
    [crdPath]: stored,
    [reviewPath]: { status: { allowed: true } },
    "GET /apis/example.dev/v1/websites": emptyList,
    ...others,
  };
}

async function doctor(
  others: Readonly<Record<string, FakeResponse>> = {},
  args = "",
  controllers: readonly ControllerDefinition[] = [websiteController],
  stepMs?: number,
): Promise<CommandResult & { readonly server: FakeServer }> {
  const server = new FakeServer(responses(others));
  const operator = { name: "controller", version: "1.2.3", controllers };
  const words = `doctor ${args}`.trimEnd().split(" ");
  return { ...await runCommandLine(operator, words, { transport: server.transport, stepMs }), server };
}

test("doctor prints one line for each check and ends with 0 when everything is in order", async () => {
  const { code, out, err, server } = await doctor();
  assertEquals([code, err], [0, ""]);
  assertEquals(out.split("\n").map((line) => line.replace(/ {3,}/g, " | ")), [
    'ok | cluster | https://10.0.0.1:6443 | v1.36.3, as user "ann"',
    "ok | definition | websites.example.dev | installed, equal to this program's definition",
    "ok | permission | website | get, list, watch websites.example.dev",
    "ok | permission | website | get, list, watch, create, patch configmaps",
    "ok | permission | website | update websites.example.dev/finalizers",
    "ok | permission | website | create, patch events.events.k8s.io",
    "ok | lease | default/controller | no holder",
    "",
  ]);
  const columns = out.trimEnd().split("\n").map((line) => /^\w+ +\w+ +/.exec(line)?.[0].length);
  assertEquals(new Set(columns).size, 1, out);
  assert(server.requests.every((line) => line.startsWith("GET ") || line.includes("review")), "it wrote something");
});

test("[84] a missing definition is exit code 6, as for run", async () => {
  const { code, out, err } = await doctor({ [crdPath]: () => statusResponse(404, "NotFound", "no") });
  assertEquals(code, 6);
  assertMatch(out, /FAILED +definition +websites\.example\.dev +not installed\. Run: controller install-crds\n/);
  assertEquals(
    err,
    "controller: Cannot run the controllers: 1 of 7 checks failed. Each failed check says what to do\n",
  );
});

test("a definition that differs, or whose objects must be rewritten, is a warning", async () => {
  const other = { ...stored, spec: { ...stored.spec, names: { ...stored.spec.names, shortNames: ["ws"] } } };
  const changed = await doctor({ [crdPath]: other });
  assertEquals(changed.code, 0);
  assertMatch(
    changed.out,
    /warning +definition .* differs from this program's definition: spec\.names\.shortNames\. Run: .* --diff/,
  );
  const stale = { ...stored, status: { ...established, storedVersions: ["v1alpha1", "v1"] } };
  assertMatch((await doctor({ [crdPath]: stale })).out, /warning +definition .* objects may be stored in v1alpha1/);
});

test("a definition that is not established, not served, or being deleted is a failure", async () => {
  const [version] = stored.spec.versions;
  const cases: readonly (readonly [object, RegExp])[] = [
    [{ ...stored, status: { conditions: [] } }, /not established\. See: kubectl describe crd/],
    [{ ...stored, metadata: { ...stored.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } }, /being deleted/],
    [
      { ...stored, spec: { ...stored.spec, versions: [{ ...version, served: false }] } },
      /the version v1 is not served/,
    ],
  ];
  for (const [crd, state] of cases) {
    const { code, out } = await doctor({ [crdPath]: crd });
    assertEquals(code, 6);
    assertMatch(out, state);
  }
});

test("[111] a definition that the server does not convert is a failure", async () => {
  const converted = [withWebhooks(websiteController, [converting(Website, [])])];
  const none = { ...stored, spec: { ...stored.spec, conversion: { strategy: "None" } } };
  const { code, out } = await doctor({ [crdPath]: none }, "", converted);
  assertEquals(code, 6, out);
  assertMatch(out, /FAILED +definition .* the server does not convert between the versions\. Run: .* install-crds/);
});

test("doctor reads discovery when this user may not read definitions", async () => {
  const forbidden = () => statusResponse(403, "Forbidden", "no");
  const served = await doctor({
    [crdPath]: forbidden,
    "GET /apis/example.dev/v1": { resources: [{ name: "websites" }] },
  });
  assertEquals(served.code, 0);
  assertMatch(served.out, /unknown +definition .* served; this user may not compare it with this program's definition/);
  assertEquals((await doctor({ [crdPath]: forbidden })).code, 6);
});

/** Returns the response to a review, by its attributes. */
function reviewing(allows: (attributes: Readonly<Record<string, unknown>>) => boolean): FakeResponse {
  return async (request) => {
    const { spec } = await request.json();
    return Response.json({ status: { allowed: allows(spec.resourceAttributes) } });
  };
}

test("[84] a missing permission is exit code 4 and is printed as an RBAC rule", async () => {
  const review = reviewing(({ resource, verb }) => resource !== "configmaps" || verb === "get");
  const { code, out } = await doctor({ [reviewPath]: review });
  assertEquals(code, 4);
  assertStringIncludes(
    out,
    "may not list, watch, create, patch configmaps. Add to a ClusterRole: " +
      '- {apiGroups: [""], resources: ["configmaps"], verbs: ["list", "watch", "create", "patch"]}\n',
  );
});

test("doctor reviews permissions in the namespaces of the controllers, each once", async () => {
  const reviewed: string[] = [];
  const review = reviewing((attributes) => {
    reviewed.push(JSON.stringify(attributes));
    return attributes.namespace !== "b" || attributes.resource !== "websites";
  });
  const second: ControllerDefinition = { ...websiteController, name: "second" };
  const { code, out } = await doctor({ [reviewPath]: review }, "-n a -n b", [websiteController, second]);
  assertEquals(code, 4);
  assertMatch(out, /ok +permission +website +get, list, watch websites\.example\.dev in a\n/);
  assertMatch(out, /FAILED +permission +second .* in b\. Add to a Role in b: - \{apiGroups: \["example\.dev"\]/);
  assertEquals(new Set(reviewed).size, reviewed.length);
});

test("a missing permission that only some clusters need is a warning", async () => {
  const { code, out } = await doctor({ [reviewPath]: reviewing(({ subresource }) => subresource !== "finalizers") });
  assertEquals(code, 0);
  assertMatch(out, /warning +permission +website +may not update websites\.example\.dev\/finalizers: only clusters/);
});

function lease(holderIdentity: string, renewTime: string, leaseDurationSeconds = 15): object {
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { namespace: "default", name: "controller" },
    spec: { holderIdentity, renewTime, leaseDurationSeconds },
  };
}

test("the lease check names the holder, and warns about an expired lease", async () => {
  // The clock of these tests starts with the year 2026, and advances while modules are loaded.
  const renewed = lease("pod-1_x", "2026-01-01T00:00:00.000000Z", 86_400);
  const fresh = await doctor({ [leasePath]: renewed }, "--leader-elect");
  assertMatch(fresh.out, /ok +lease +default\/controller +held by pod-1_x, renewed \d+ (s|min) ago\n/);
  const alone = await doctor({ [leasePath]: renewed });
  assertMatch(alone.out, /warning +lease .* replicas are running\. Use --leader-elect/);
  const old = await doctor({ [leasePath]: lease("pod-1_x", "2025-12-31T00:00:00.000000Z") }, "--leader-elect");
  assertMatch(old.out, /warning +lease .* renewed 24 h ago: it has expired, the next replica takes it/);
  const secret = await doctor({ [leasePath]: () => statusResponse(403, "Forbidden", "no") });
  assertEquals([secret.code, /unknown +lease .* it may not be read/.test(secret.out)], [0, true]);
});

test("doctor reviews the permissions of leader election with --leader-elect", async () => {
  const review = reviewing(({ resource, verb }) => resource !== "leases" || verb !== "create");
  const { code, out } = await doctor({ [reviewPath]: review }, "--leader-elect --leader-election-id x");
  assertEquals(code, 4);
  assertMatch(out, /FAILED +permission +--leader-elect +may not create leases\.coordination\.k8s\.io in default/);
  assertMatch(out, /ok +permission +--leader-elect +get, update leases\.coordination\.k8s\.io x in default/);
});

test("doctor lists objects that are not retried, by their condition", async () => {
  const Site = defineResource({
    ...{ group: "example.dev", version: "v1", kind: "Site", scope: "Namespaced" },
    spec: z.object({ host: z.string() }),
    status: z.object({ conditions: z.array(z.any()).optional() }),
  });
  const sites = controller("sites").for(Site).reconcile(nothing);
  const item = (name: string, ...conditions: readonly object[]) => ({
    metadata: { namespace: "shop", name },
    status: { conditions },
  });
  const stalled = (status: string) => ({
    type: "Stalled",
    status,
    reason: "NotRetrying",
    message: "the host is taken",
  });
  const crd = "GET /apis/apiextensions.k8s.io/v1/customresourcedefinitions/sites.example.dev";
  const of = (...items: readonly object[]) => ({
    [crd]: { ...Site.crd, status: established },
    "GET /apis/example.dev/v1/sites": { ...emptyList, items },
  });
  const clean = await doctor(of(item("a"), item("b", stalled("False"))), "", [sites]);
  assertMatch(clean.out, /ok +stalled +sites +every object of sites\.example\.dev is retried/);
  const { code, out } = await doctor(of(item("a", stalled("True")), item("b", stalled("True"))), "", [sites]);
  assertEquals(code, 0);
  assertMatch(
    out,
    /warning +stalled +sites +2 objects of sites\.example\.dev are not retried: shop\/a: the host is taken\. Change/,
  );
});

test("with --namespace doctor looks for objects that are not retried in this namespace only", async () => {
  const event = {
    ...{ metadata: { namespace: "shop", name: "a.1" }, reason: "NotRetrying", type: "Warning", note: "it is broken" },
    ...{ regarding: { kind: "Website", namespace: "shop", name: "a" }, reportingController: "controller/website" },
  };
  const path = (namespace: string) => `GET /apis/events.k8s.io/v1/namespaces/${namespace}/events`;
  const events = { [path("shop")]: { ...emptyList, items: [event] }, [path("bank")]: emptyList };
  assertMatch((await doctor(events, "-n shop")).out, /warning +stalled +website +1 object .*: shop\/a: it is broken/);
  const { out } = await doctor(events, "-n bank");
  assertEquals(/ stalled /.exec(out), null, out);
});

test("doctor lists objects of kinds without conditions that are not retried, by the Events of their controller", async () => {
  const event = (name: string, reportingController = "controller/website") => ({
    metadata: { namespace: "shop", name: `${name}.1` },
    regarding: { kind: "Website", namespace: "shop", name },
    ...{ reason: "NotRetrying", type: "Warning", note: "Not retried: it is broken", reportingController },
  });
  const items = [event("a"), event("a"), event("b", "other/website")];
  const { code, out } = await doctor({ "GET /apis/events.k8s.io/v1/events": { ...emptyList, items } });
  assertEquals(code, 0);
  assertMatch(
    out,
    /warning +stalled +website +1 object of websites\.example\.dev is not retried: shop\/a: Not retried/,
  );
});

test("doctor counts objects whose deletion waits for a finalizer", async () => {
  const cleaning = controller("cleaner").for(Website).finalize(nothing, "example.dev/cleaner").reconcile(nothing);
  const item = (name: string, deletionTimestamp: string | undefined, finalizers = ["example.dev/cleaner"]) => ({
    metadata: { namespace: "shop", name, deletionTimestamp, finalizers },
  });
  const items = [
    item("a", "2025-12-31T23:00:00Z"),
    item("b", "2025-12-31T12:00:00Z"),
    item("new", "2026-01-01T06:00:00Z"),
    item("kept", undefined),
    item("other", "2025-12-31T12:00:00Z", ["other.dev/x"]),
  ];
  const { code, out } = await doctor({ "GET /apis/example.dev/v1/websites": { ...emptyList, items } }, "", [cleaning]);
  assertEquals(code, 0);
  assertMatch(
    out,
    /warning +finalizer +example\.dev\/cleaner +blocks the deletion of 2 objects, shop\/b for 12 h\. Run:/,
  );
});

const served = withWebhooks(websiteController, [defaulting(Website, (site) => site)]);
const configurationPath =
  "GET /apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/controller.controller-system";
const secretPath = "GET /api/v1/namespaces/default/secrets/controller-webhook";
const secretName = { namespace: "default", name: "controller-webhook" };
const base64 = (text: string) => toBase64(text);

function configuration(
  caBundle: string,
  name = served.webhooks?.[0]?.kind === "mutating" ? served.webhooks[0].name : "",
) {
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfiguration",
    metadata: { name: "controller.controller-system" },
    webhooks: [{ name, clientConfig: { caBundle: base64(caBundle) } }],
  };
}

test("a missing webhook configuration is a warning, one without a certificate authority a failure", async () => {
  const none = await doctor({}, "", [served]);
  assertEquals(none.code, 0);
  assertMatch(
    none.out,
    /warning +webhook +mutating controller\.controller-system +not installed: the API server does not call the webhooks\. See: controller manifests, or controller run --webhook-host auto/,
  );
  assertMatch(none.out, /unknown +webhook +certificate +Secret default\/controller-webhook does not exist yet/);
  const empty = await doctor({ [configurationPath]: configuration("") }, "", [served]);
  assertEquals(empty.code, 1);
  assertMatch(
    empty.out,
    /FAILED +webhook +mutating controller\.controller-system +no certificate authority: the API server rejects writes/,
  );
  const odd = await doctor({ [configurationPath]: configuration("", "other") }, "", [served]);
  assertMatch(odd.out, /warning +webhook +mutating controller\.controller-system +\S+ is missing/);
});

test("a webhook whose policy is installed need not be called", async () => {
  const rules = [{ rule: "object.metadata.name != 'x'", message: "x is reserved" }];
  const ruled = [withWebhooks(websiteController, [validating(Website, { rules })])];
  const group = "GET /apis/admissionregistration.k8s.io/v1";
  const objectOf = (kind: string, name: string) => (
    { apiVersion: "admissionregistration.k8s.io/v1", kind, metadata: { name } }
  );
  const name = "controller.controller-system";
  const configured = {
    [`${group}/validatingwebhookconfigurations/${name}`]: objectOf("ValidatingWebhookConfiguration", name),
  };
  const missing = await doctor(configured, "", ruled);
  assertMatch(
    missing.out,
    /warning +webhook +validating controller\.controller-system +validate\.websites\S+ is missing/,
  );
  const policy = `${name}.validate.websites.example.dev`;
  const binding = {
    [`${group}/validatingadmissionpolicybindings/${policy}`]: objectOf("ValidatingAdmissionPolicyBinding", policy),
  };
  const replaced = await doctor({ ...configured, ...binding }, "", ruled);
  assertMatch(
    replaced.out,
    /ok +webhook +validating controller\.controller-system +1 webhook replaced by admission polic/,
  );
});

test("the webhook check compares certificate and authorities, and prints how long the certificate is valid", async () => {
  const authority = await CertificateAuthority.create("ours");
  const foreign = await CertificateAuthority.create("foreign");
  const pair = await authority.issue({
    commonName: "webhook",
    usage: "server",
    hosts: ["a.dev"],
    notBefore: new Date("2025-12-01T00:00:00Z"),
    notAfter: new Date("2026-01-31T00:00:00Z"),
  });
  const secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: secretName,
    data: { "tls.crt": base64(pair.certificate) },
  };
  const both = `${foreign.certificate}\n${authority.certificate}`;
  const good = await doctor({ [configurationPath]: configuration(both), [secretPath]: secret }, "", [served]);
  assertEquals(good.code, 0, good.out);
  assertMatch(good.out, /ok +webhook +mutating controller\.controller-system +1 webhook, with a certificate authority/);
  assertMatch(good.out, /ok +webhook +certificate +Secret default\/controller-webhook: valid for 30 d/);
  const [webhook] = configuration(both).webhooks;
  const service = { namespace: "ops", name: "controller-webhook", path: "/mutate" };
  const inCluster = {
    ...configuration(both),
    webhooks: [{ ...webhook, clientConfig: { ...webhook?.clientConfig, service } }],
  };
  const there = {
    [configurationPath]: inCluster,
    [secretPath.replace("/default/", "/ops/")]: { ...secret, metadata: { ...secretName, namespace: "ops" } },
  };
  assertMatch(
    (await doctor(there, "", [served])).out,
    /ok +webhook +certificate +Secret ops\/controller-webhook: valid/,
  );
  const wrong = await doctor({ [configurationPath]: configuration(foreign.certificate), [secretPath]: secret }, "", [
    served,
  ]);
  assertEquals(wrong.code, 1);
  assertMatch(wrong.out, /FAILED +webhook +certificate .* no configuration trusts its certificate authority/);
});

test("a check that the server cannot answer does not stop the others", async () => {
  const { code, out } = await doctor({ [reviewPath]: () => statusResponse(500, "InternalError", "etcd is gone") });
  assertEquals(code, 0);
  assertMatch(out, /unknown +permission +Cannot post .* etcd is gone \(500 InternalError\)\n/);
  assertMatch(out, /ok +lease +default\/controller +no holder\n/);
});

test("-o json and -o yaml print the checks for programs", async () => {
  const { code, out } = await doctor({ [crdPath]: () => statusResponse(404, "NotFound", "no") }, "-o json");
  assertEquals(code, 6);
  const { canRun, checks } = JSON.parse(out);
  assertEquals([canRun, checks.length], [false, 7]);
  assertEquals(checks[1], {
    check: "definition",
    subject: "websites.example.dev",
    status: "failed",
    state: "not installed",
    advice: "Run: controller install-crds",
  });
  assertMatch((await doctor({}, "-o yaml")).out, /^canRun: true\nchecks:\n {2}- check: cluster\n/);
});

test("[84] a cluster that cannot be reached, or refuses us, ends the context", async () => {
  const refused = await doctor({ "GET /version": () => statusResponse(401, "Unauthorized", "no") });
  assertEquals(refused.code, 4);
  assertMatch(refused.out, /^FAILED +cluster +https:\/\/10\.0\.0\.1:6443 +Cannot log in [^\n]+\n$/);
  const gone = await doctor(
    { "GET /version": () => statusResponse(503, "ServiceUnavailable", "no") },
    "--connect-timeout 1s",
  );
  assertEquals(gone.code, 5);
  assertEquals(refused.err.split("\n").length, 2);
});

test("[101] a check that gets no answer has failed within its limit, and the others are reported", async () => {
  const silent = () => new Promise<never>(() => {});
  const groups = [[reviewPath, "permission"], [leasePath, "lease"], [crdPath, "definition"]] as const;
  for (const [path, about] of groups) {
    const { code, out } = await doctor({ [path]: silent });
    assertEquals(code, 5, out);
    assertMatch(out, new RegExp(`FAILED +${about} +no answer within 1m\\. Check the health of the API server`));
    for (const [, other] of groups) assertStringIncludes(out, other);
  }
});

test("doctor says which clusters of a fleet have the same name", async () => {
  const folder = await mkdtemp(joinPath(tmpdir(), "pintle-fleet-"));
  await using _removed = { [Symbol.asyncDispose]: () => removePath(folder) };
  for (const file of ["east.yaml", "east.yml"]) await writeFile(joinPath(folder, file), "current-context: a");
  // The files are real, and the time is not.
  const { out } = await doctor({}, `--clusters folder:${folder} --connect-timeout 24h`);
  assertMatch(out, /^FAILED +fleet +east: +several clusters have this name, and only the first one is used\. Give/m);
  assertEquals(out.match(/^FAILED +cluster +east: +Cannot use context "a"/mg)?.length, 1, out);
});

test("doctor warns of two names for one cluster of a fleet", async () => {
  const folder = await mkdtemp(joinPath(tmpdir(), "pintle-fleet-"));
  await using _removed = { [Symbol.asyncDispose]: () => removePath(folder) };
  const file = joinPath(folder, "config.yaml");
  const clusters = [["a", "https://127.0.0.1:1"], ["b", "https://127.0.0.1:2"]] as const;
  await writeFile(
    file,
    JSON.stringify({
      clusters: clusters.map(([name, server]) => ({ name, cluster: { server } })),
      contexts: [["admin", "a"], ["dev", "a"], ["other", "b"]].map(([name, cluster]) => ({
        name,
        context: { cluster },
      })),
      "current-context": "admin",
    }),
  );
  const args = `--clusters contexts:* --kubeconfig ${file} --connect-timeout 2m`;
  const { out } = await doctor({}, args, [websiteController], 2);
  assertEquals(out.match(/^warning +fleet +.*$/gm)?.map((line) => line.replace(/ {2,}/g, " ")), [
    'warning fleet dev: it is the same cluster as "admin", so its objects are reconciled twice. Leave one of the two out',
  ]);
});
