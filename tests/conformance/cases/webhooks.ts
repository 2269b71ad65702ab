/** Admission webhooks that a case serves itself, over HTTPS on the loopback address. */
import { createServer } from "node:https";
import { Buffer } from "node:buffer";
import type { AddressInfo } from "node:net";
import { CertificateAuthority } from "../../controlplane/certificate_authority.ts";
import { type ConformanceCase, scenario } from "../conformance_case.ts";
import type { Site } from "../site.ts";
import { at, type Body, configMap } from "./_objects.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

interface Hook {
  readonly url: string;
  readonly caBundle: string;
  /** What it was asked, in order. */
  readonly reviews: Any[];
}

/** Serves reviews while `act` runs. @param answer the response, without its uid; a number is an HTTP code */
async function serving(answer: (review: Any) => Body | number, act: (hook: Hook) => Promise<void>): Promise<void> {
  const authority = await CertificateAuthority.create("conformance");
  const pair = await authority.issue({ commonName: "hook", usage: "server", hosts: ["127.0.0.1"] });
  const reviews: Any[] = [];
  const server = createServer({ cert: pair.certificate, key: pair.key }, async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const review = JSON.parse(Buffer.concat(chunks).toString());
    reviews.push(review);
    const said = answer(review);
    const { uid } = review.request;
    const { apiVersion, kind } = review;
    response.writeHead(typeof said === "number" ? said : 200, {
      "content-type": "application/json",
      connection: "close",
    });
    response.end(typeof said === "number" ? "no" : JSON.stringify({ apiVersion, kind, response: { uid, ...said } }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = server.address() as AddressInfo;
    await act({
      url: `https://127.0.0.1:${port}/`,
      caBundle: Buffer.from(authority.certificate).toString("base64"),
      reviews,
    });
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

type Sort = "Mutating" | "Validating";

const configurations = (sort: Sort) =>
  `/apis/admissionregistration.k8s.io/v1/${sort.toLowerCase()}webhookconfigurations`;

/** A case with one webhook for the ConfigMaps of its namespace; what the webhook saw is compared too. */
function withHook(
  name: string,
  sort: Sort,
  answer: (review: Any) => Body | number,
  run: (site: Site) => Promise<void>,
  webhook: Body = {},
): ConformanceCase {
  return scenario(name, async (site) => {
    await serving(answer, async ({ url, caBundle, reviews }) => {
      const metadata = { name: site.name("hook") };
      const webhooks = [{
        name: "hook.example.com",
        clientConfig: { url, caBundle },
        rules: [{
          apiGroups: [""],
          apiVersions: ["v1"],
          resources: ["configmaps"],
          operations: ["CREATE", "UPDATE", "DELETE"],
        }],
        namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": site.namespace } },
        admissionReviewVersions: ["v1"],
        sideEffects: "None",
        ...webhook,
      }];
      await site.prepare({ path: configurations(sort), body: { metadata, webhooks } });
      try {
        // Another one of the server's caches: asks until the webhook is asked.
        const probe = {
          method: "POST",
          path: `${at(site, "configmaps")}?dryRun=All`,
          body: configMap("probe"),
        } as const;
        for (let seen = 0; reviews.length === 0 && seen < 100; seen++) {
          await site.prepare(probe).catch(() => undefined);
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
        reviews.length = 0;
        await run(site);
        site.note(
          "what the webhook was asked",
          0,
          reviews.filter(({ request }) =>
            request.userInfo.username !== "system:serviceaccount:kube-system:root-ca-cert-publisher"
          ).map(({ request, ...review }) => {
            const { userInfo: _, ...rest } = request;
            return { ...review, request: rest };
          }),
        );
      } finally {
        await site.prepare({ method: "DELETE", path: `${configurations(sort)}/${metadata.name}` });
      }
    });
  });
}

const patched = (operations: readonly Body[]) => ({
  allowed: true,
  patchType: "JSONPatch",
  patch: Buffer.from(JSON.stringify(operations)).toString("base64"),
});

const make = async (site: Site) => {
  await site.call({ path: at(site, "configmaps"), body: configMap("a") });
};

export const webhookCases: readonly ConformanceCase[] = [
  withHook("a webhook is asked of every write", "Validating", () => ({ allowed: true }), async (site) => {
    await make(site);
    await site.call({ method: "PUT", path: at(site, "configmaps", "a"), body: configMap("a", { b: "c" }) });
    await site.call({
      method: "PATCH",
      path: `${at(site, "configmaps", "a")}?dryRun=All&fieldManager=me`,
      type: "application/merge-patch+json",
      body: { data: { x: "y" } },
    });
    await site.call({ method: "DELETE", path: at(site, "configmaps", "a") });
    await site.call({ method: "DELETE", path: at(site, "configmaps", "a") });
  }),
  withHook("a webhook says no", "Validating", () => ({ allowed: false }), make),
  withHook(
    "a webhook says no, and why",
    "Validating",
    () => ({ allowed: false, status: { message: "not today", reason: "Tuesday", code: 418 } }),
    make,
  ),
  withHook(
    "a webhook says no with a code of success",
    "Validating",
    () => ({ allowed: false, status: { code: 200 } }),
    make,
  ),
  withHook("a webhook warns", "Validating", () => ({ allowed: true, warnings: ["careful", "x".repeat(300)] }), make),
  withHook("a webhook fails", "Validating", () => 500, make),
  withHook("a webhook fails and may", "Validating", () => 500, make, { failurePolicy: "Ignore" }),
  withHook("a webhook answers nonsense", "Validating", () => ({ uid: "another", allowed: true }), make),
  withHook(
    "a webhook changes objects",
    "Mutating",
    () => patched([{ op: "add", path: "/data/added", value: "yes" }]),
    make,
  ),
  withHook("a webhook's patch is wrong", "Mutating", () => patched([{ op: "remove", path: "/data/absent" }]), make),
  withHook(
    "a webhook's patch makes an object wrong",
    "Mutating",
    () => patched([{ op: "add", path: "/data/bad key", value: "x" }]),
    make,
  ),
  withHook(
    "a webhook says no to a mutation",
    "Mutating",
    () => ({ allowed: false, status: { message: "never" } }),
    make,
  ),
  withHook("match conditions keep a webhook out", "Validating", () => ({ allowed: false }), async (site) => {
    await site.call({ path: at(site, "configmaps"), body: configMap("free") });
    await site.call({ path: at(site, "configmaps"), body: configMap("probe") });
  }, { matchConditions: [{ name: "probe", expression: "object.metadata.name == 'probe'" }] }),
  withHook("an object selector keeps a webhook out", "Validating", () => ({ allowed: false }), async (site) => {
    await site.call({ path: at(site, "configmaps"), body: configMap("a", {}, { labels: { checked: "no" } }) });
    await site.call({ path: at(site, "configmaps"), body: configMap("b") });
  }, { objectSelector: { matchExpressions: [{ key: "checked", operator: "NotIn", values: ["no"] }] } }),
];
