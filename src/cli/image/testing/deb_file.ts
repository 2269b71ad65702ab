/** A small package of Debian for tests. Its archives were made by GNU tar and xz, its parts are put together here. */
import { Buffer } from "node:buffer";

/** `control`: Package: tiny, Version: 1.0, Architecture: all. */
const control = "/Td6WFoAAATm1rRGAgAhARwAAAAQz1jM4Cf/AI5dABcLyOfZ5dHD1ZV9QtvcDlxs1FkS8hWWubA8MRP7LV455bca7phRK2NFfmkF" +
  "xLr9i6d2dRKWwItumUsxs4d4YpFhiErPFq730/Yml0FWeQlbSklsgtZ5K1P8rE3acxgdEbWU2Un7nN6mEvc8tuvIBZXamivNZqyy" +
  "nF4RnH9aNCQhYbw/Vk5NXMcLxYYkWgAAAACGKSlNtLFiGgABqgGAUAAAbldXx7HEZ/sCAAAAAARZWg==";

/** `usr/share/doc/tiny/copyright`: free for all. */
const data = "/Td6WFoAAATm1rRGAgAhARwAAAAQz1jM4Cf/AKtdABcLyyeJ8uv7sv6J4fnJCB0cKx5/hk24Hs3vQBOLFClofvFujRaKjYgL01gS" +
  "fZmWALxXcoQqwEWqQEFgDoLPMsBz/XPIQSyY8YwMpcOnGC4S/TAUgIwtCB8ScsMfERfj5/hd1I9LsbwddCrUIsxysvsxt1QKL4Zf" +
  "fZ4yDaN9KFromH3v4ijl2OHungP8MIOiIdOYxCAqzaViJG2vMSL2W3N5VbKso6CFuMsVAAAAQZvAZ8olCGAAAccBgFAAAOpLPXOx" +
  "xGf7AgAAAAAEWVo=";

/** The members of the package, in Debian's order. */
export const debMembers: ReadonlyMap<string, Uint8Array> = new Map([
  ["debian-binary", new TextEncoder().encode("2.0\n")],
  ["control.tar.xz", new Uint8Array(Buffer.from(control, "base64"))],
  ["data.tar.xz", new Uint8Array(Buffer.from(data, "base64"))],
]);

/** An `ar` archive. */
export function debFile(members: ReadonlyMap<string, Uint8Array> = debMembers): Uint8Array {
  const parts = [...members].flatMap(([name, content]) => [
    Buffer.from(`${name.padEnd(16)}${"0".padEnd(12)}0     0     100644  ${String(content.length).padEnd(10)}\`\n`),
    content,
    Buffer.from("\n".repeat(content.length % 2)),
  ]);
  return new Uint8Array(Buffer.concat([Buffer.from("!<arch>\n"), ...parts]));
}
