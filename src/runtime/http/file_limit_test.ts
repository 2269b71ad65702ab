import { assertEquals, test } from "../../../tests/testing.ts";
import { maxConnectionsOf } from "./file_limit.ts";

const limits = (files: string) =>
  `Max processes             50      50      processes\nMax open files            ${files}      4096      files\n`;

test("[security 13] the connections of a server are at most a quarter of the files that the process may open", () => {
  assertEquals(maxConnectionsOf(100, limits("1024")), 100);
  assertEquals(maxConnectionsOf(100, limits("64")), 16);
  assertEquals(maxConnectionsOf(100, limits("2")), 1);
  assertEquals(maxConnectionsOf(100, limits("unlimited")), 100);
  assertEquals(maxConnectionsOf(100, ""), 100);
});
