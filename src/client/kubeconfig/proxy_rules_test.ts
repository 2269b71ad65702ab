/**
 * Tests of the proxy variables, by the rules of httpproxy of Go. The table was compared with golang.org/x/net 0.49, and so
 * were 80,000 random rules.
 */
import { assertEquals, test } from "../../../tests/testing.ts";
import { seededRandom } from "../../async/mod.ts";
import { proxyFromEnvironment } from "./proxy_rules.ts";

const proxied = (url: string, noProxy: string) =>
  proxyFromEnvironment(new URL(url), { HTTPS_PROXY: "http://proxy:3128", NO_PROXY: noProxy }) !== undefined;

test("[79] NO_PROXY matches hosts, suffixes, addresses, networks and ports", () => {
  const table: readonly (readonly [url: string, noProxy: string, isProxied: boolean])[] = [
    ["https://api.example.com", "", true],
    ["https://api.example.com", "*", false],
    ["https://api.example.com", "example.com", false],
    ["https://api.example.com", ".example.com", false],
    ["https://api.example.com", "*.example.com", false],
    ["https://example.com", ".example.com", true],
    ["https://example.com", "example.com", false],
    ["https://badexample.com", "example.com", true],
    ["https://API.Example.com", " api.EXAMPLE.com ", false],
    ["https://api.example.com:6443", "api.example.com:6443", false],
    ["https://api.example.com", "api.example.com:443", false],
    ["https://api.example.com", "api.example.com:6443", true],
    ["https://10.1.2.3", "10.0.0.0/8", false],
    ["https://11.1.2.3", "10.0.0.0/8", true],
    ["https://10.1.2.3", "10.1.2.3", false],
    ["https://10.1.2.3:6443", "10.1.2.3:443", true],
    ["https://10.1.2.3", "10.1.2.0/33", true],
    ["https://10.1.2.3", "0.0.0.0/0", false],
    ["https://[fd00::5]", "fd00::/8", false],
    ["https://[fd00::5]", "fe00::/8", true],
    ["https://[fd00::5]", "fd00:0:0::5", false],
    ["https://[fd00::5]", "[fd00::5]", true],
    ["https://[fd00::5]", "[fd00::5]:443", false],
    ["https://[fd00::5]", "[fd00::5]:", false],
    ["https://10.1.2.3", "10.0.0.0/08", false],
    ["https://10.1.2.3", "10.0.0.0/+8", true],
    ["https://10.1.2.3", "10.0.0.0/", true],
    ["https://10.1.2.3", "010.0.0.0/8", true],
    ["https://10.1.2.3", "10.0.0.0/8:443", true],
    ["https://10.1.2.3", "::ffff:10.0.0.0/104", false],
    ["https://10.1.2.3", "::ffff:10.0.0.0/8", true],
    ["https://10.1.2.3", "::/0", true],
    ["https://[::ffff:10.1.2.3]", "10.1.2.3", false],
    ["https://10.1.2.3", ".3", true],
    ["https://10.1.2.3", "1.2.3", true],
    ["https://10.1.2.3", "1.2.3.10.1.2.3", true],
    ["https://api.example.com", "example.com:", false],
    ["https://api.example.com", ":443", true],
    ["https://api.example.com", "*:443", true],
    ["https://api.example.com", "[example.com]:443", false],
    ["https://api.example.com", "[example.com]", true],
    ["https://api.example.com", "https://example.com", true],
    ["https://api.example.com", "example.com.", true],
    ["https://example.com.", "example.com", true],
    ["https://x.bücher.example", "Bücher.example", false],
    ["https://a.localhost:6443", "", true],
    ["https://[::ffff:127.0.0.1]", "", false],
    ["https://[fd00::5]:1", "[fd00::5]:2", true],
    ["https://10.1.2.3", "fd00::/8", true],
    ["https://api.example.com", "other, ,example.com", false],
    ["https://localhost:6443", "", false],
    ["https://127.0.0.1:6443", "", false],
    ["https://[::1]:6443", "", false],
    ["https://127.0.0.1.example.com", "", true],
  ];
  for (const [url, noProxy, isProxied] of table) assertEquals(proxied(url, noProxy), isProxied, `${url} ${noProxy}`);
});

test("[79] the scheme of the URL selects the variable, and upper case has precedence", () => {
  const https = new URL("https://a");
  assertEquals(proxyFromEnvironment(https, { HTTP_PROXY: "http://p" }), undefined);
  assertEquals(proxyFromEnvironment(https, { https_proxy: "http://p" }), "http://p");
  assertEquals(proxyFromEnvironment(https, { HTTPS_PROXY: "http://q", https_proxy: "http://p" }), "http://q");
  assertEquals(proxyFromEnvironment(https, { HTTPS_PROXY: "p:3128" }), "http://p:3128");
  assertEquals(proxyFromEnvironment(https, { HTTPS_PROXY: "socks5://p:1" }), "socks5://p:1");
  assertEquals(proxyFromEnvironment(https, { HTTPS_PROXY: "" }), undefined);
});

test("[79] a rule of NO_PROXY that cannot be parsed names no host, and the rules around it stay", () => {
  const random = seededRandom(79);
  const below = (count: number) => Math.floor(random.next() * count);
  const broken = ["/", "[", "]", "::", "/8/", "%", "@", ":", "//", "]:", ":["];
  const hosts = ["10.1.2.3", "[fd00::5]", "api.example.com", "localhost.example.com"];
  for (let round = 0; round < 2_000; round++) {
    const host = hosts[below(hosts.length)] ?? "";
    const name = host.replace(/[[\]]/g, "");
    const piece = broken[below(broken.length)] ?? "";
    // Behind the first character, so that the rest is no suffix of the host.
    const at = 1 + below(name.length - 1);
    const rule = `x${name.slice(0, at)}${piece}${name.slice(at)}`;
    assertEquals(proxied(`https://${host}`, rule), true, rule);
    assertEquals(proxied(`https://${host}`, `${rule}, ${name} ,${rule}`), false, rule);
  }
});
