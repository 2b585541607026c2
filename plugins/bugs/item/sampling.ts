/**
 * Selects the payloads to store: the first 5 and a reservoir of 45 (algorithm R), so that all
 * others are equally likely (contract 21, intake). The slot follows from the returned count,
 * without a read. A window ends after 30 days, when payloads are deleted.
 */
export const FIRST = 5;
export const RESERVOIR = 45;
export const KEPT = FIRST + RESERVOIR;
export const WINDOW_MS = 30 * 86_400_000;

/**
 * Returns the slot of the `n`th occurrence of a window (from 1), or null when its payload is not
 * stored.
 * @param random returns 0 ≤ x < 1
 */
export function chooseSlot(n: number, random: () => number): number | null {
  if (n <= FIRST) return n - 1;
  const later = n - FIRST;
  if (later <= RESERVOIR) return n - 1;
  const drawn = Math.floor(random() * later);
  return drawn < RESERVOIR ? FIRST + drawn : null;
}
