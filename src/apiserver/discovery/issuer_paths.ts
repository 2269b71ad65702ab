/**
 * issuerPaths(): the discovery of the issuer of ServiceAccounts' tokens, by which other programs (Vault, the identity of a cloud)
 * verify these tokens: `/.well-known/openid-configuration` and the public keys at `/openid/v1/jwks`.
 *
 * The documents are those of kube-apiserver. The issuer must be an https URL without a query, otherwise the paths are not served.
 */
import type { TokenAuthority } from "../access/mod.ts";
import type { PathHandler } from "../http/mod.ts";
import { type JsonObject, StatusError } from "../model/mod.ts";

const configurationPath = "/.well-known/openid-configuration";
const keysPath = "/openid/v1/jwks";

/** Serves the issuer of a server. @param keysUrl where the keys are read. @default this server, as the client calls it */
export function issuerPaths(tokens: TokenAuthority, keysUrl?: string): PathHandler {
  const isServed = isIssuerUrl(tokens.issuer);
  return {
    handle(request, path) {
      if (!isServed) return undefined;
      if (path === configurationPath) {
        const url = keysUrl ?? `https://${new URL(request.url).host}${keysPath}`;
        return document(request, "application/json", () => configuration(tokens, url));
      }
      if (path === keysPath || path === `${keysPath}/`) {
        return document(request, "application/jwk-set+json", () => ({ keys: tokens.publicKeys() }));
      }
      if (path.startsWith(`${configurationPath}/`)) throw notFoundPath();
      return undefined;
    },
  };
}

/** OpenID Connect Discovery asks for an https URL without a query and a fragment. */
function isIssuerUrl(issuer: string): boolean {
  if (!URL.canParse(issuer)) return false;
  const { protocol, search, hash } = new URL(issuer);
  return protocol === "https:" && search === "" && hash === "";
}

/** Only GET is served: not even HEAD. */
function document(request: Request, type: string, read: () => JsonObject): Response {
  if (request.method !== "GET") {
    const message = "the server does not allow this method on the requested resource";
    throw new StatusError(405, "MethodNotAllowed", message, {});
  }
  return new Response(JSON.stringify(read()), {
    headers: { "content-type": type, "cache-control": "public, max-age=3600" },
  });
}

function configuration(tokens: TokenAuthority, keysUrl: string): JsonObject {
  return {
    issuer: tokens.issuer,
    jwks_uri: keysUrl,
    response_types_supported: ["id_token"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: [...new Set(tokens.publicKeys().map((key) => key.alg ?? ""))].sort(),
  };
}

function notFoundPath(): StatusError {
  return new StatusError(404, "NotFound", "the server could not find the requested resource", {});
}
