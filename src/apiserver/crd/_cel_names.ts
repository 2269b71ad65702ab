/** How property names are written in expressions: `foo-bar` as `foo__dash__bar`, `namespace` as `__namespace__`. */

const reserved = new Set(
  ("true false null in as break const continue else for function if import let loop package namespace return var void " +
    "while").split(" "),
);

const escapes: ReadonlyMap<string, string> = new Map([
  ["__", "__underscores__"],
  [".", "__dot__"],
  ["-", "__dash__"],
  ["/", "__slash__"],
]);

const unescapes: ReadonlyMap<string, string> = new Map(
  Array.from(escapes, ([plain, escaped]) => [escaped, plain] as const),
);

/** The name in expressions; undefined for one that cannot be written there. */
export function escapeName(name: string): string | undefined {
  if (name === "" || /^[0-9]/.test(name) || /[^a-zA-Z0-9\-./_]/.test(name)) return undefined;
  if (reserved.has(name)) return `__${name}__`;
  return name.replace(/__|[-./]/g, (part) => escapes.get(part) ?? part);
}

/** The property of a name in expressions; undefined for an escape that means nothing. */
export function unescapeName(name: string): string | undefined {
  if (!name.includes("__")) return name;
  let isWrong = false;
  const plain = name.replace(/__[^_]+__/g, (part) => {
    const known = unescapes.get(part);
    if (known !== undefined) return known;
    const word = part.slice(2, -2);
    if (!reserved.has(word) || part.length !== name.length) isWrong = true;
    return word;
  });
  return isWrong ? undefined : plain;
}
