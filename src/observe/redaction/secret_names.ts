/**
 * Decides which names have secret values: headers, fields of kubeconfigs and of OAuth, variables, flags. Names are compared
 * by their words, so `accessToken`, `ACCESS_TOKEN`, `x-access-token` and `token_2` are one case.
 */

/** Names, without what separates their words, whose values are secret although none of their words says so. */
const names: ReadonlySet<string> = new Set([
  "clientkeydata",
  "codeverifier",
  "execoutput",
  "jwt",
  "otp",
  "pwd",
  "sessionid",
  "sessionkey",
  "sig",
  "stringdata",
  // kubectl.kubernetes.io/last-applied-configuration holds the whole object, so a Secret's data as well.
  "kubectlkubernetesiolastappliedconfiguration",
  "lastappliedconfiguration",
]);

/** A name with one of these words is secret. */
const words: ReadonlySet<string> = new Set([
  "apikey",
  "assertion",
  "authorization",
  "cookie",
  "cookies",
  "passcode",
  "passphrase",
  "passwd",
  "password",
  "passwords",
  "signature",
  "token",
]);

/** A name with the word "key" after one of these words is secret. */
const keyWords: ReadonlySet<string> = new Set([
  "access",
  "account",
  "api",
  "auth",
  "encryption",
  "master",
  "private",
  "secret",
  "shared",
  "signing",
]);

/** A name that ends with one of these words says where a secret is, or something about it. */
const aboutSecrets: ReadonlySet<string> = new Set([
  "audience",
  "audiences",
  "count",
  "endpoint",
  "expiration",
  "file",
  "issuer",
  "name",
  "path",
  "ref",
  "review",
  "reviews",
  "seconds",
  "type",
  "uri",
  "url",
]);

/** A part of every secret name: most names are decided by it alone. */
const hint = /a(?:pp|uth|ssert)|cookie|exec|jwt|key|otp|pass|pwd|secret|session|sig|string|token|verif/i;

/** Longer names are not looked at to their end. */
const maxLength = 256;

/** True when the value under this name is secret. */
export function isSecretName(name: string): boolean {
  if (!hint.test(name)) return false;
  const parts = name.slice(-maxLength)
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2").replaceAll(/([A-Z])([A-Z][a-z])/g, "$1 $2")
    .toLowerCase().split(/[^a-z0-9]+/).filter((part) => part !== "");
  if (names.has(parts.join(""))) return true;
  const last = parts.at(-1);
  if (last === undefined || aboutSecrets.has(last)) return false;
  return parts.some((part, index) => {
    if (words.has(part.replace(/\d+$/, "")) || isCompound(part)) return true;
    if (part === "key") return keyWords.has(parts[index - 1] ?? "");
    // The name "secret" alone is that of a Secret.
    return (part === "secret" || part === "pass" || part === "pwd") && parts.length > 1 && index === parts.length - 1;
  });
}

/** Names whose words are not separated, in lower case. */
function isCompound(part: string): boolean {
  return /(?:token|password|passwd|privatekey|secretkey|accesskey|clientsecret|setcookie)$/.test(part) ||
    /^(?:token|password)/.test(part) && !/^(?:tokens|token(?:review|request|izer|ize))/.test(part);
}
