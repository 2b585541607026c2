/** Extracts trigrams (three code points). */
export function extractTrigrams(text: string): string[] {
  const points = Array.from(text.toWellFormed());
  const grams = new Set<string>();
  for (let i = 0; i + 3 <= points.length; i++) grams.add(`${points[i]}${points[i + 1]}${points[i + 2]}`);
  return [...grams];
}
