import { assert, assertEquals, assertMatch, test } from "../../tests/testing.ts";
import { pageResponse } from "./mod.ts";

test("[security 33] each file of the page has the policy that lets a browser run and ask nothing else", async () => {
  for (const path of ["/", "/page.js", "/page.css", "/icon.svg"]) {
    const response = await pageResponse(path);
    assert(response !== undefined, path);
    const policy = response.headers.get("content-security-policy") ?? "";
    assertMatch(
      policy,
      /^default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; /,
    );
    assertMatch(policy, /frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'$/);
    assertEquals(response.headers.get("x-frame-options"), "DENY");
    assertEquals(response.headers.get("cross-origin-resource-policy"), "same-origin");
    assertEquals(response.headers.get("referrer-policy"), "no-referrer");
    const bytes = new Uint8Array(await response.arrayBuffer());
    assertEquals(response.headers.get("content-length"), String(bytes.length));
  }
  for (const path of ["/page", "/page.js.map", "//", "/__proto__", "/constructor", "/debug/queues"]) {
    assertEquals(await pageResponse(path), undefined, path);
  }
});

test("[138] the page has its script and style beside it, no inline script or style, and no address of another server", async () => {
  const text = async (path: string) => await (await pageResponse(path))?.text() ?? "";
  const markup = await text("/");
  assertEquals([...markup.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, link]) => link), [
    "icon.svg",
    "page.css",
    "page.js",
  ]);
  assert(!/<style|style=|<script>|\son[a-z]+=/.test(markup), markup);
  assert(!/url\(|@import/.test(await text("/page.css")));
  const script = await text("/page.js");
  assert(script.length > 20_000 && script.length < 250_000, `${script.length}`);
  // The licences of the packages in the script, which their copies must have.
  for (const name of ["preact", "uplot"]) assertMatch(script, new RegExp(`^${name} \\d+\\.\\d+\\.\\d+$`, "m"));
  assert(script.split("Permission is hereby granted").length > 2);
});
