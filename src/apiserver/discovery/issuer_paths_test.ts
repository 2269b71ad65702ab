import { Buffer } from "node:buffer";
import { createPublicKey, generateKeyPairSync, type KeyObject, verify } from "node:crypto";
import { assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import { ObjectStorage } from "../storage/mod.ts";
import { systemClock } from "../../async/mod.ts";
import { issuerPaths } from "./issuer_paths.ts";
import { TokenAuthority, type TokenAuthorityOptions } from "../access/mod.ts";

function authorityOf(options: Partial<TokenAuthorityOptions> = {}): TokenAuthority {
  return new TokenAuthority({ clock: systemClock, objects: new ObjectStorage(), ...options });
}

/** The response to a request, if the path is served. */
async function ask(authority: TokenAuthority, path: string, method = "GET", keysUrl?: string) {
  const request = new Request(`https://127.0.0.1:6443${path}`, { method });
  const response = await issuerPaths(authority, keysUrl).handle(request, path, new URLSearchParams());
  return response === undefined ? undefined : { headers: response.headers, body: await response.json() };
}

function pemOf(key: KeyObject): string {
  return key.export(key.type === "private" ? { type: "pkcs8", format: "pem" } : { type: "spki", format: "pem" })
    .toString();
}

const claims = { namespace: "default", name: "a", uid: "1", audiences: [], lifetimeSeconds: 600 };

test("the keys of the issuer verify a token of a ServiceAccount, found by the kid of the token", async () => {
  const authority = authorityOf();
  const [head = "", body = "", signature = ""] = authority.issue(claims).split(".");
  const { kid } = JSON.parse(Buffer.from(head, "base64url").toString());
  const answer = await ask(authority, "/openid/v1/jwks");
  assertEquals(answer?.headers.get("content-type"), "application/jwk-set+json");
  const jwk = answer?.body.keys.find((one: { readonly kid: string }) => one.kid === kid);
  assertEquals(Object.keys(jwk), ["use", "kty", "kid", "crv", "alg", "x", "y"]);
  const key = { key: createPublicKey({ key: jwk, format: "jwk" }), dsaEncoding: "ieee-p1363" as const };
  assertEquals(verify("sha256", Buffer.from(`${head}.${body}`), key, Buffer.from(signature, "base64url")), true);
});

test("the keys of the issuer have no private part, and name RSA and P-256 keys that are trusted beside the signing key", async () => {
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const authority = authorityOf({
    signingKey: pemOf(rsa.privateKey),
    trustedKeys: [`${pemOf(rsa.publicKey)}${pemOf(ec.privateKey)}`],
  });
  const answer = await ask(authority, "/openid/v1/jwks/");
  assertEquals(answer?.body.keys.map((key: object) => Object.keys(key)), [
    ["use", "kty", "kid", "alg", "n", "e"],
    ["use", "kty", "kid", "crv", "alg", "x", "y"],
  ]);
  const { body } = (await ask(authority, "/.well-known/openid-configuration")) ?? {};
  assertEquals(body.id_token_signing_alg_values_supported, ["ES256", "RS256"]);
});

test("the configuration of the issuer names the URL of the keys on the host that the client called, or the given one", async () => {
  const authority = authorityOf({ issuers: ["https://example.com", "https://old.example.com"] });
  const answer = await ask(authority, "/.well-known/openid-configuration");
  assertEquals(answer?.headers.get("cache-control"), "public, max-age=3600");
  assertEquals(answer?.body, {
    issuer: "https://example.com",
    jwks_uri: "https://127.0.0.1:6443/openid/v1/jwks",
    response_types_supported: ["id_token"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["ES256"],
  });
  const elsewhere = await ask(authority, "/.well-known/openid-configuration", "GET", "https://keys.example.com");
  assertEquals(elsewhere?.body.jwks_uri, "https://keys.example.com");
});

test("an issuer that is no https URL has no discovery, and others have it with GET only", async () => {
  for (const issuer of ["api", "http://example.com", "https://example.com?a=b"]) {
    assertEquals(await ask(authorityOf({ issuers: [issuer] }), "/openid/v1/jwks"), undefined, issuer);
  }
  assertEquals(await ask(authorityOf(), "/openid/v1"), undefined);
  const paths = issuerPaths(authorityOf());
  const head = new Request("https://127.0.0.1/openid/v1/jwks", { method: "HEAD" });
  assertThrows(() => paths.handle(head, "/openid/v1/jwks", new URLSearchParams()), /does not allow this method/);
});
