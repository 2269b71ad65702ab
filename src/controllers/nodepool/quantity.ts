/**
 * Sums of quantities such as `500m`, `16Gi` or `2e3`, exact to the nano-unit, in the canonical form that Kubernetes
 * itself would write. Source of the rules: apimachinery `resource.Quantity` of Kubernetes 1.36.
 *
 * Guarantees: no floating point anywhere; the sum does not depend on the order of what is summed.
 */

/** How an amount was written, and so how it is written again. */
type Notation = "decimal" | "binary" | "exponent";

/** An amount in nano-units: nothing smaller is kept. */
export interface Amount {
  readonly nano: bigint;
  readonly notation: Notation;
}

const nanosPerUnit = 1_000_000_000n;
const decimalSuffixes = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"] as const;
const binarySuffixes = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"] as const;
/** Larger amounts are taken for this one, the largest int64, as Kubernetes does with what has a suffix. */
const mostNano = (2n ** 63n - 1n) * nanosPerUnit;
/** More digits than that are below a nano-unit or beyond the cap, whichever way they are shifted. */
const longestText = 64;

/**
 * Reads a quantity. Anything smaller than a nano-unit is rounded up to one, away from zero.
 *
 * @returns undefined when the text is no quantity
 */
export function parseQuantity(text: string | number): Amount | undefined {
  const match = /^([+-]?)([0-9]*)(?:\.([0-9]*))?([eE][+-]?[0-9]+|[KMGTPE]i|[numkMGTPE]|)$/.exec(String(text));
  if (match === null || match[0].length > longestText) return undefined;
  const [, sign, whole = "", fraction = "", suffix = ""] = match;
  if (whole === "" && fraction === "") return undefined;
  const { notation, factor, exponent } = scaleOf(suffix);
  const digits = BigInt(whole + fraction) * factor;
  const nano = capped(shifted(digits, exponent - fraction.length + 9));
  return { nano: sign === "-" ? -nano : nano, notation };
}

/** Writes an amount in its canonical form: no fraction, the largest suffix that makes it whole. */
export function formatQuantity({ nano, notation }: Amount): string {
  if (nano === 0n) return "0";
  const isWhole = nano % nanosPerUnit === 0n;
  const units = nano / nanosPerUnit;
  // Below 1Ki and where there is a fraction the binary suffixes say nothing.
  if (notation === "binary" && isWhole && (units >= 1024n || units <= -1024n)) return binaryText(units);
  return decimalText(nano, notation === "exponent");
}

/**
 * The sum in canonical form. Written in binary suffixes as soon as one of the amounts is; what is no quantity counts
 * as nothing.
 */
export function sumQuantities(texts: Iterable<string | number>): string {
  let nano = 0n;
  const notations = new Set<Notation>();
  for (const text of texts) {
    const amount = parseQuantity(text);
    if (amount === undefined || amount.nano === 0n) continue;
    nano += amount.nano;
    notations.add(amount.notation);
  }
  const preferred: readonly Notation[] = ["binary", "decimal", "exponent"];
  return formatQuantity({ nano, notation: preferred.find((notation) => notations.has(notation)) ?? "decimal" });
}

function scaleOf(suffix: string): { readonly notation: Notation; readonly factor: bigint; readonly exponent: number } {
  if (/^[eE][+-]?[0-9]/.test(suffix)) {
    // Bounded, so that 1e999999999 is capped and not computed.
    const exponent = Math.max(-2 * longestText, Math.min(2 * longestText, Number(suffix.slice(1))));
    return { notation: "exponent", factor: 1n, exponent };
  }
  if (suffix.endsWith("i")) {
    const power = binarySuffixes.findIndex((one) => one === suffix);
    return { notation: "binary", factor: 1024n ** BigInt(power), exponent: 0 };
  }
  const power = decimalSuffixes.findIndex((one) => one === suffix) - 3;
  return { notation: "decimal", factor: 1n, exponent: 3 * power };
}

/** `digits` times ten to the `power`, rounded up. */
function shifted(digits: bigint, power: number): bigint {
  if (power >= 0) return digits * 10n ** BigInt(power);
  const divisor = 10n ** BigInt(-power);
  return (digits + divisor - 1n) / divisor;
}

function capped(nano: bigint): bigint {
  return nano > mostNano ? mostNano : nano;
}

function binaryText(units: bigint): string {
  let [mantissa, power] = [units, 0];
  while (mantissa % 1024n === 0n && power < binarySuffixes.length - 1) {
    [mantissa, power] = [mantissa / 1024n, power + 1];
  }
  return `${mantissa}${binarySuffixes[power]}`;
}

function decimalText(nano: bigint, isExponent: boolean): string {
  let [mantissa, power] = [nano, 0];
  while (mantissa % 1000n === 0n && power < decimalSuffixes.length - 1) {
    [mantissa, power] = [mantissa / 1000n, power + 1];
  }
  if (!isExponent) return `${mantissa}${decimalSuffixes[power]}`;
  return power === 3 ? `${mantissa}` : `${mantissa}e${3 * (power - 3)}`;
}
