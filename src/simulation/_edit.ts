/** How somebody else would spoil what a controller wrote: one of the very fields it wrote gets another value. */

/** A merge patch that changes a field of `wanted`, the body of a write; undefined when there is none to change. */
export function spoiling(wanted: string): object | undefined {
  const body: unknown = JSON.parse(wanted);
  if (!isObject(body)) return undefined;
  const spec = Object.hasOwn(body, "spec") ? body.spec : undefined;
  if (isObject(spec)) {
    for (const [key, value] of Object.entries(spec)) {
      const changed = withOtherNumber(value);
      if (changed !== value) return { spec: { [key]: changed } };
    }
  }
  const metadata = isObject(body.metadata) ? body.metadata : {};
  const [label] = isObject(metadata.labels) ? Object.keys(metadata.labels) : [];
  return label === undefined ? undefined : { metadata: { labels: { [label]: "edited" } } };
}

/** The same with the first number in it one higher; the very same where there is none. */
function withOtherNumber(value: unknown): unknown {
  if (typeof value === "number") return value + 1;
  if (Array.isArray(value)) {
    const changed = value.map(withOtherNumber);
    return changed.some((item, index) => item !== value[index]) ? changed : value;
  }
  if (!isObject(value)) return value;
  for (const [key, inner] of Object.entries(value)) {
    const changed = withOtherNumber(inner);
    if (changed !== inner) return { ...value, [key]: changed };
  }
  return value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
