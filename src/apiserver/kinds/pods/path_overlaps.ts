/** Files of a volume that hide each other: two keys at one path, or a file where another needs a directory. */
import type { JsonObject } from "../../model/mod.ts";
import { findObject, has, objectsAt, textAt } from "../fields.ts";

interface Place {
  readonly path: string;
  /** What the file comes from; "" where the volume says it. */
  readonly source: string;
}

/** What is said of the volumes of a spec. */
export function overlapWarnings(volumes: readonly JsonObject[]): readonly string[] {
  return volumes.flatMap((volume) => {
    const name = textAt(volume, "name");
    const projected = findObject(volume, "projected");
    const overlaps = sourcesOf(volume).flatMap(({ source, places }) =>
      overlapsOf(places).map((text) => `volume ${JSON.stringify(name)} (${source}): overlapping paths: ${text}`)
    );
    return [...overlaps, ...(projected === undefined ? [] : projectedWarnings(projected, name))];
  });
}

/** How a volume that files come from is shown. */
const titles: ReadonlyMap<string, (source: JsonObject) => string> = new Map([
  ["configMap", (source: JsonObject) => `ConfigMap ${JSON.stringify(textAt(source, "name"))}`],
  ["secret", (source: JsonObject) => `Secret ${JSON.stringify(textAt(source, "secretName"))}`],
  ["downwardAPI", () => "DownwardAPI"],
]);

function sourcesOf(volume: JsonObject): readonly { readonly source: string; readonly places: readonly Place[] }[] {
  return [...titles].flatMap(([key, title]) => {
    const source = findObject(volume, key);
    return source === undefined ? [] : [{ source: title(source), places: itemsOf(source, "") }];
  });
}

function itemsOf(holder: JsonObject, source: string): readonly Place[] {
  return objectsAt(holder, "items").map((item) => ({ path: textAt(item, "path").replace(/\/+$/, ""), source }));
}

function projectedWarnings(projected: JsonObject, name: string): readonly string[] {
  const warnings: string[] = [];
  const seen: Place[] = [];
  for (const source of objectsAt(projected, "sources")) {
    if (Object.keys(source).length === 0) {
      warnings.push(`volume ${JSON.stringify(name)} (Projected) has no sources provided`);
      continue;
    }
    for (const place of placesOf(source)) {
      for (const other of seen.filter((one) => doOverlap(one, place))) {
        const both = `${shown(place)} with ${shown(other)}`;
        warnings.push(`volume ${JSON.stringify(name)} (Projected): overlapping paths: ${both}`);
      }
      seen.push(place);
    }
  }
  return warnings;
}

function placesOf(source: JsonObject): readonly Place[] {
  for (const [key, title] of [["configMap", "ConfigMap"], ["secret", "Secret"]] as const) {
    const held = findObject(source, key);
    if (held !== undefined && has(held, "items")) {
      return itemsOf(held, `${title} ${JSON.stringify(textAt(held, "name"))}`);
    }
  }
  const downward = findObject(source, "downwardAPI");
  if (downward !== undefined) return itemsOf(downward, "DownwardAPI");
  const token = findObject(source, "serviceAccountToken");
  if (token !== undefined) return [{ path: textAt(token, "path"), source: "ServiceAccountToken" }];
  const bundle = findObject(source, "clusterTrustBundle");
  if (bundle !== undefined) {
    const name = has(bundle, "name") ? textAt(bundle, "name") : textAt(bundle, "signerName");
    return [{ path: textAt(bundle, "path"), source: `ClusterTrustBundle ${JSON.stringify(name)}` }];
  }
  const certificate = findObject(source, "podCertificate") ?? {};
  return [["certificateChainPath", "chain"], ["keyPath", "key"], ["credentialBundlePath", "credential bundle"]].flatMap(
    ([key = "", what]) => {
      const path = textAt(certificate, key);
      return path === "" ? [] : [{ path, source: `PodCertificate ${what}` }];
    },
  );
}

function overlapsOf(places: readonly Place[]): readonly string[] {
  return places.flatMap((place, index) =>
    places.slice(0, index).filter((other) => doOverlap(other, place)).map((other) =>
      `${shown(place)} with ${shown(other)}`
    )
  );
}

function doOverlap(left: Place, right: Place): boolean {
  if (left.path === "" || right.path === "") return false;
  return `${left.path}/`.startsWith(`${right.path}/`) || `${right.path}/`.startsWith(`${left.path}/`);
}

function shown({ path, source }: Place): string {
  return source === "" ? JSON.stringify(path) : `${JSON.stringify(path)} (${source})`;
}
