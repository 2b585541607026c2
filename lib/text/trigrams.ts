/**
 * Extracts trigrams (three code points). A text contains all trigrams of any text in it, so their
 * index finds candidates in any language; matches are then verified.
 */
export function extractTrigrams(text: string): string[] {
  const points = Array.from(text.toWellFormed());
  const grams = new Set<string>();
  for (let i = 0; i + 3 <= points.length; i++) grams.add(`${points[i]}${points[i + 1]}${points[i + 2]}`);
  return [...grams];
}
