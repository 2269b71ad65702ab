/**
 * Where Debian's packages come from: a mirror that the user names, else the one that this machine installs its own
 * packages from. This program prefers no mirror.
 */
import { directoryEntries, joinPath, readText } from "../../runtime/mod.ts";
import type { DebianPackage } from "./debian_packages.ts";

/** The URL of a file below a mirror: `MIRROR/debian/pool/…`, or with the part of the archive where `{archive}` stands. */
export function urlOf({ archive, path }: Pick<DebianPackage, "archive" | "path">, mirror: string): string {
  const base = mirror.replace(/\/+$/, "");
  return base.includes("{archive}") ? `${base.replaceAll("{archive}", archive)}/${path}` : `${base}/${archive}/${path}`;
}

/** The mirror in the sources of apt; undefined on systems that have none, or another archive than Debian's. */
export async function mirrorOfMachine(folder = "/etc/apt"): Promise<string | undefined> {
  for (const path of await sourceFiles(folder)) {
    const text = await readText(path, { maxBytes: 1024 * 1024 }).catch(() => "");
    const found = mirrorIn(text);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function sourceFiles(folder: string): Promise<readonly string[]> {
  const parts = joinPath(folder, "sources.list.d");
  const entries = await directoryEntries(parts).catch(() => []);
  const names = entries.filter((name) => /\.(?:list|sources)$/.test(name));
  return [joinPath(folder, "sources.list"), ...names.map((name) => joinPath(parts, name))];
}

/** Reads both forms of apt: `deb [options] URL suite …` and `URIs: URL …`. */
export function mirrorIn(text: string): string | undefined {
  const found = /^(?:deb\s+(?:\[[^\]]*\]\s+)?|URIs:\s*(?:\S+\s+)*?)(https?:\/\/\S+?)\/debian\/?(?=\s|$)/m.exec(text);
  return found?.[1];
}
