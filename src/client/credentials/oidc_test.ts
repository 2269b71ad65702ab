/** Tests of OidcTokens, with an issuer on loopback. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { VirtualClock } from "../../async/mod.ts";
import { CertificateAuthority } from "../../../tests/controlplane/certificate_authority.ts";
import { bodyOf, LoopbackServer } from "../../../tests/loopback.ts";
import { assertEquals, assertRejects, test } from "../../../tests/testing.ts";
import { Masked, type OidcProvider } from "../kubeconfig/mod.ts";
import { pemData, RecordingLogger } from "../testing/cluster_access.ts";
import { OidcTokens } from "./oidc.ts";
import { toBase64 } from "../../runtime/mod.ts";

const never = new AbortController().signal;
const ca = await CertificateAuthority.create("issuer");
const pair = await ca.issue({ commonName: "s", usage: "server", hosts: ["127.0.0.1"] });

/** A JWT that expires after `lifeMs`. */
function token(clock: VirtualClock, lifeMs: number, subject = "jane"): string {
  const encode = (value: object) => toBase64(JSON.stringify(value), "base64url");
  return `${encode({ alg: "none" })}.${encode({ sub: subject, exp: (clock.now() + lifeMs) / 1000 })}.c2ln`;
}

interface Issuer extends AsyncDisposable {
  readonly url: string;
  /** The Authorization header and the body of each request for tokens. */
  readonly seen: (readonly [authorization: string | undefined, form: Record<string, string>])[];
}

async function issuerWith(answer: () => object, discovery: object = {}): Promise<Issuer> {
  const seen: Issuer["seen"] = [];
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.url === "/a/.well-known/openid-configuration") {
      const { port } = server;
      return void response.end(JSON.stringify({ token_endpoint: `https://127.0.0.1:${port}/token`, ...discovery }));
    }
    seen.push([request.headers.authorization, Object.fromEntries(new URLSearchParams(await bodyOf(request)))]);
    response.end(JSON.stringify(answer()));
  };
  const server = await LoopbackServer.start({ tls: pair, answer: respond });
  return { url: `${server.url()}/a/`, seen, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

function providerOf(fields: Partial<OidcProvider>): OidcProvider {
  return {
    issuer: undefined,
    clientId: "kube",
    clientSecret: undefined,
    idToken: undefined,
    refreshToken: undefined,
    certificateAuthority: pemData(ca.certificate),
    ...fields,
  };
}

test("an ID token is used until 10 s before it expires, and then the refresh token gets a new one", async () => {
  const clock = new VirtualClock();
  const first = token(clock, 60_000), second = token(clock, 300_000, "second");
  await using issuer = await issuerWith(() => ({ id_token: second }));
  const provider = providerOf({
    issuer: issuer.url,
    clientSecret: new Masked("s:cret"),
    idToken: new Masked(first),
    refreshToken: new Masked("r1"),
  });
  const tokens = new OidcTokens(provider, { clock, logger: new RecordingLogger(), environment: {} });
  const used = await tokens.renew(never);
  assertEquals([used.authorization?.reveal(), used.validUntil], [`Bearer ${first}`, clock.monotonic() + 50_000]);
  await clock.advance(50_000);
  assertEquals((await tokens.renew(never)).authorization?.reveal(), `Bearer ${second}`);
  const form = { grant_type: "refresh_token", refresh_token: "r1" };
  assertEquals(issuer.seen, [[`Basic ${btoa("kube:s%3Acret")}`, form]]);
});

test("a client without a secret, or whose issuer wants it there, identifies itself in the form", async () => {
  const clock = new VirtualClock();
  const answer = () => ({ id_token: token(clock, 300_000) });
  for (const clientSecret of [undefined, new Masked("s3cret")]) {
    await using issuer = await issuerWith(answer, { token_endpoint_auth_methods_supported: ["client_secret_post"] });
    const provider = providerOf({ issuer: issuer.url, clientSecret, refreshToken: new Masked("r1") });
    await new OidcTokens(provider, { clock, logger: new RecordingLogger(), environment: {} }).renew(never);
    const [authorization, form] = issuer.seen[0] ?? [];
    assertEquals([authorization, form?.client_id, form?.client_secret], [undefined, "kube", clientSecret?.reveal()]);
  }
});

test("a token that the API server rejects is renewed, with the newest refresh token of the issuer", async () => {
  const clock = new VirtualClock();
  let round = 0;
  await using issuer = await issuerWith(() => ({
    id_token: token(clock, 300_000, `${++round}`),
    refresh_token: `r${round + 1}`,
  }));
  const provider = providerOf({ issuer: issuer.url, refreshToken: new Masked("r1") });
  const logger = new RecordingLogger();
  const tokens = new OidcTokens(provider, { clock, logger, environment: {} });
  for (let attempt = 0; attempt < 3; attempt++) await tokens.renew(never);
  assertEquals(issuer.seen.map(([, form]) => form.refresh_token), ["r1", "r2", "r3"]);
  assertEquals(logger.warnings.length, 1, "the kubeconfig is outdated from the first one on");
});

test("without a refresh token a valid ID token is used, and an expired one is an error that says what to do", async () => {
  const clock = new VirtualClock();
  const idToken = new Masked(token(clock, 60_000));
  const tokens = new OidcTokens(providerOf({ idToken }), { clock, logger: new RecordingLogger(), environment: {} });
  assertEquals((await tokens.renew(never)).authorization?.reveal(), `Bearer ${idToken.reveal()}`);
  assertEquals((await tokens.renew(never)).authorization?.reveal(), `Bearer ${idToken.reveal()}`);
  await clock.advance(60_000);
  await assertRejects(
    () => tokens.renew(never),
    /^Cannot get credentials from auth provider "oidc": its id-token is missing or has expired, .*; log in again$/,
  );
});
