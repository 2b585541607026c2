/**
 * Counts distinct values in at most 256 characters: exactly up to 51, then with a standard error of
 * about 5 %. A sketch is comparable text; null is empty. Adding and merging are commutative and
 * idempotent.
 *
 * Small sketches list sorted 30-bit hashes. Larger ones have 256 registers: the highest rank and
 * whether the two below it occurred (UltraLogLog, Ertl 2023), estimated by maximum likelihood.
 */

/** 30-bit hash of a value. */
export type Print = number;

/** Base 64 in code point order, so sorted text is numerically sorted. */
const DIGITS = '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz';
const PRINT_CHARS = 5;
const REGISTERS = 256;
/** Hashes that fit into the size of the registers. */
export const MAX_EXACT_COUNT = Math.floor(REGISTERS / PRINT_CHARS);
/** Hash bits below the register index; the rank is the position of their first set bit. */
const RANK_BITS = 22;
const RANKS = RANK_BITS + 1;

/** Register characters, without quotation mark and backslash, which JSON escapes. */
const SYMBOLS = Array.from({ length: 0x7f - 0x23 }, (_, i) => String.fromCharCode(0x23 + i))
  .filter((symbol) => symbol !== '\\')
  .join('');

const RANKS_OF = new Map<string, number>();
const SYMBOL_OF = new Map<number, string>();
for (const [i, bits] of windows().entries()) {
  const symbol = SYMBOLS[i] as string;
  RANKS_OF.set(symbol, bits);
  SYMBOL_OF.set(bits, symbol);
}

/** Lists every register state: empty, or a highest rank with the two below it. */
function windows(): number[] {
  const all = [0];
  for (let top = 0; top < RANKS; top++) {
    for (const below of [0, 1, 2, 3]) {
      const bits = ((4 + below) << top) >> 2;
      if (top >= 2 || !all.includes(bits)) all.push(bits);
    }
  }
  return all;
}

function latest(bits: number): number {
  const lowest = Math.max(0, 32 - Math.clz32(bits) - 3);
  return (bits >>> lowest) << lowest;
}

/** Converts a hash of at least four uniformly distributed bytes. */
export const toPrint = (hash: Buffer): Print => hash.readUInt32BE(0) >>> 2;

/** Adds hashes; returns the same sketch when nothing changes. */
export function addPrints(sketch: string | null, prints: readonly Print[]): string | null {
  if (sketch !== null && isDense(sketch)) return prints.reduce(marked, sketch);
  if (prints.every((print) => sketch !== null && isIn(sketch, print))) return sketch;
  const kept = new Set([...printsIn(sketch), ...prints]);
  return kept.size <= MAX_EXACT_COUNT ? sparse(kept) : [...kept].reduce(marked, EMPTY);
}

/** Merges two sketches. */
export function mergeSketches(a: string | null, b: string | null): string | null {
  if (b === null || a === b) return a;
  if (a === null) return b;
  if (!isDense(b)) return addPrints(a, printsIn(b));
  if (!isDense(a)) return addPrints(b, printsIn(a));
  let text = '';
  for (let i = 0; i < REGISTERS; i++) text += SYMBOL_OF.get(latest(bitsAt(a, i) | bitsAt(b, i))) as string;
  return text;
}

/** Returns the number of distinct values, exact up to `MAX_EXACT_COUNT`. */
export function estimateDistinct(sketch: string | null): number {
  if (sketch === null) return 0;
  return isDense(sketch) ? Math.round(mostLikely(sketch)) : sketch.length / PRINT_CHARS;
}

const isDense = (sketch: string): boolean => sketch.length === REGISTERS;
const EMPTY = (SYMBOL_OF.get(0) as string).repeat(REGISTERS);

function marked(sketch: string, print: Print): string {
  const at = print >>> RANK_BITS;
  const rank = Math.clz32(print & ((1 << RANK_BITS) - 1)) - (32 - RANK_BITS);
  const before = bitsAt(sketch, at);
  const after = latest(before | (1 << rank));
  return after === before ? sketch : sketch.slice(0, at) + (SYMBOL_OF.get(after) as string) + sketch.slice(at + 1);
}

const bitsAt = (sketch: string, at: number): number => RANKS_OF.get(sketch[at] as string) ?? 0;

function sparse(prints: ReadonlySet<Print>): string {
  return [...prints]
    .toSorted((a, b) => a - b)
    .map(writePrint)
    .join('');
}

function writePrint(print: Print): string {
  let text = '';
  for (let shift = 6 * (PRINT_CHARS - 1); shift >= 0; shift -= 6) text += DIGITS[(print >>> shift) & 63] as string;
  return text;
}

function isIn(sketch: string, print: Print): boolean {
  const text = writePrint(print);
  let at = sketch.indexOf(text);
  while (at >= 0 && at % PRINT_CHARS !== 0) at = sketch.indexOf(text, at + 1);
  return at >= 0;
}

function printsIn(sketch: string | null): Print[] {
  const prints: Print[] = [];
  for (let at = 0; at < (sketch?.length ?? 0); at += PRINT_CHARS) {
    let print = 0;
    for (let i = at; i < at + PRINT_CHARS; i++) print = print * 64 + DIGITS.indexOf((sketch as string)[i] as string);
    prints.push(print);
  }
  return prints;
}

/** Returns the probability of a rank (from 0); the last includes all higher ones. */
const shareOf = (rank: number): number => 2 ** -Math.min(rank + 1, RANK_BITS);

/**
 * Returns the maximum likelihood estimate, modeling values as Poisson events: known missing ranks
 * add to `missed`, ranks seen to `met`; the derivative of the likelihood has one zero.
 */
function mostLikely(sketch: string): number {
  const met = Array.from({ length: RANKS }, () => 0);
  let missed = 0;
  for (let i = 0; i < REGISTERS; i++) {
    const bits = bitsAt(sketch, i);
    const above = 32 - Math.clz32(bits);
    if (above < RANKS) missed += 2 ** -above;
    for (let rank = Math.max(0, above - 3); rank < above; rank++) {
      if (((bits >>> rank) & 1) === 1) met[rank] = (met[rank] ?? 0) + 1;
      else missed += shareOf(rank);
    }
  }
  let low = -20;
  let high = RANKS + 10;
  for (let step = 0; step < 50; step++) {
    const middle = (low + high) / 2;
    const rate = 2 ** middle;
    const slope = met.reduce((sum, n, rank) => sum + (n * shareOf(rank)) / Math.expm1(rate * shareOf(rank)), -missed);
    if (slope > 0) low = middle;
    else high = middle;
  }
  return REGISTERS * 2 ** low;
}
