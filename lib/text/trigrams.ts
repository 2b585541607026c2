/**
 * Trigrams: the pieces of three characters (code points) that a text consists of. A text that contains another one has
 * all its trigrams, so an index over trigrams finds the few texts that can contain it, in any language; whether one
 * does is then looked up in the text.
 */
export function extractTrigrams(text: string): string[] {
  const points = Array.from(text.toWellFormed());
  const grams = new Set<string>();
  for (let i = 0; i + 3 <= points.length; i++) grams.add(`${points[i]}${points[i + 1]}${points[i + 2]}`);
  return [...grams];
}
