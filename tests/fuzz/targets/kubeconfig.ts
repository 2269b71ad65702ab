/**
 * Files of users as kubeconfig.
 *
 * Promise: a file gives an access, or a KubeconfigError that has one line and none of the secrets in the file.
 */
import fc from "fast-check";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KubeconfigError, loadClusterAccess } from "../../../src/client/kubeconfig/mod.ts";
import { simple } from "../../../src/client/testing/kubeconfig.ts";
import { type FuzzTarget, promise } from "../target.ts";

const folder = mkdtempSync(join(tmpdir(), "pintle-fuzz-kubeconfig-"));
const path = join(folder, "config");
const logger = { debug() {}, info() {}, warn() {}, error() {}, with: () => logger };

const exec = {
  apiVersion: "client.authentication.k8s.io/v1",
  command: "x",
  args: ["a"],
  env: [{ name: "A", value: "b" }],
  interactiveMode: "Never",
};
const user = fc.oneof(
  fc.constantFrom<object>(
    ...[{ token: "t" }, { tokenFile: "/x" }, { username: "a", password: "b" }, { exec }, {
      "client-certificate-data": "aGk=",
    }, {}],
    ...[{ "auth-provider": { name: "oidc", config: { "id-token": "a.b.c" } } }, {
      as: "x",
      "as-groups": ["g"],
      "as-user-extra": { a: ["b"] },
    }],
  ),
  fc.dictionary(fc.string(), fc.jsonValue()),
);
const cluster = fc.record({
  server: fc.oneof(
    fc.webUrl(),
    fc.constantFrom("https://a:6443", "http://127.0.0.1:1", "a", "https://u:p@a", "https://[::1]/x?y"),
  ),
  "tls-server-name": fc.string(),
  "proxy-url": fc.constantFrom("socks5://a:1", "http://u:p@b", "x"),
  "certificate-authority-data": fc.constantFrom("aGk=", "%", ""),
  "insecure-skip-tls-verify": fc.boolean(),
}, { requiredKeys: ["server"] });

/** The target. */
export const target: FuzzTarget = {
  seeds: [simple, '{"current-context":"x"}', "clusters: [{name: a, cluster: null}]\n", "users: {a: b}", "[]"],
  arbitrary: fc.tuple(user, cluster, fc.jsonValue()).map(([user, cluster, namespace]) =>
    JSON.stringify({
      "current-context": "c",
      contexts: [{ name: "c", context: { cluster: "k", user: "u", namespace } }],
      clusters: [{ name: "k", cluster }],
      users: [{ name: "u", user }],
    })
  ),
  words: [
    "current-context: ",
    "exec:",
    "auth-provider:",
    "as-user-extra:",
    "proxy-url: ",
    "https://",
    "socks5://",
    "null",
    "certificate-authority: ",
    "\n  ",
    "- name: ",
  ],
  async check(input) {
    writeFileSync(path, input);
    try {
      const access = await loadClusterAccess({
        environment: { KUBECONFIG: path },
        workingDirectory: folder,
        serviceAccountDirectory: folder,
        logger,
      });
      promise(URL.canParse(access.server), "The address of a server is not a URL");
    } catch (error) {
      if (!(error instanceof KubeconfigError)) throw error;
      promise(!/\p{Cc}/u.test(error.message), "An error has several lines or control characters");
    }
  },
};
