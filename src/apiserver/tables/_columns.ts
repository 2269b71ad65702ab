/**
 * The columns of built-in kinds, as a kube-apiserver publishes them: read once, when the first table is asked for. What
 * they mean is not described: the real server's sentences are its own.
 */
import { publishedColumns } from "../kinds/mod.ts";
import type { Column, KindNames } from "../model/mod.ts";

/** Name, type, format, priority. */
type Published = readonly [string, Column["type"], string, number];

type Publication = Readonly<Record<string, readonly Published[]>>;

let publication: Publication | undefined;

/** The columns of a kind in one of its versions; those of any kind where it is never listed. */
export function columnsOf(
  { group, version, plural }: Pick<KindNames, "group" | "version" | "plural">,
): readonly Column[] {
  publication ??= read();
  const published = publication[`${group}/${version}/${plural}`] ?? publication["/v1/limitranges"] ?? [];
  return published.map(([name, type, format, priority]) => ({ name, type, format, description: "", priority }));
}

function read(): Publication {
  const publication: Publication = JSON.parse(publishedColumns);
  return publication;
}
