/**
 * Grams: the pieces of one to three characters that a text consists of, as hashes of 32 bits. A text that contains
 * another one has all its grams, so an index over grams finds the few texts that can contain it, in any language;
 * whether one does is then looked up in the text.
 */

/** Characters (code points) of a gram; `gramsOf` counts on it. */
const LONGEST = 3;
/** Grams asked for of one part; more find no fewer texts in practice. */
const MOST = 48;
/** FNV-1a, by code point. */
const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;

const mix = (hash: number, point: number): number => Math.imul(hash ^ point, PRIME);

/** The hash of a text: where grams of several texts stand in one index, the text before them (`seed`). */
export function hash32(text: string, seed = OFFSET): number {
  let hash = seed;
  for (let i = 0; i < text.length; i++) hash = mix(hash, text.charCodeAt(i));
  return hash | 0;
}

/**
 * Every gram of a text that has at least `shortest` characters, each once.
 * @param grams those of other texts, which they join
 */
export function gramsOf(text: string, shortest = 1, seed = OFFSET, grams = new Set<number>()): Set<number> {
  // The grams that end at a character are those that ended before it, longer by this one.
  let one = 0;
  let two = 0;
  let n = 0;
  for (let i = 0; i < text.length; i++) {
    const point = text.codePointAt(i) as number;
    if (point > 0xffff) i++;
    const three = mix(two, point);
    two = mix(one, point);
    one = mix(seed, point);
    n++;
    if (shortest <= 1) grams.add(one);
    if (shortest <= 2 && n >= 2) grams.add(two);
    if (n >= LONGEST) grams.add(three);
  }
  return grams;
}

/**
 * Grams that a text has if it contains `part`: the longest ones that the part has, evenly chosen of a long part. None
 * of a part below `shortest` characters.
 */
export function gramsWithin(part: string, shortest = 1, seed = OFFSET): Set<number> {
  const points = pointsOf(part);
  const size = Math.min(LONGEST, points.length);
  const grams = new Set<number>();
  if (size === 0 || size < shortest) return grams;
  const step = Math.ceil((points.length - size + 1) / MOST);
  for (let from = 0; from + size <= points.length; from += step)
    grams.add(points.slice(from, from + size).reduce(mix, seed));
  return grams;
}

function pointsOf(text: string): number[] {
  const points: number[] = [];
  for (let i = 0; i < text.length; i++) {
    const point = text.codePointAt(i) as number;
    if (point > 0xffff) i++;
    points.push(point);
  }
  return points;
}
