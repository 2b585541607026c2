/**
 * Stores the first 5 payloads and a reservoir of 45 (algorithm R; contract 21, intake). The slot
 * follows from the count, without a read. A window ends after 30 days, when payloads are deleted.
 */
export const INITIAL_SLOT_COUNT = 5;
export const RESERVOIR_SIZE = 45;
export const MAX_SLOTS = INITIAL_SLOT_COUNT + RESERVOIR_SIZE;
export const SAMPLING_WINDOW_MS = 30 * 86_400_000;

/**
 * Returns null when not stored.
 * @param n from 1
 * @param random returns 0 ≤ x < 1
 */
export function chooseSlot(n: number, random: () => number): number | null {
  if (n <= INITIAL_SLOT_COUNT) return n - 1;
  const later = n - INITIAL_SLOT_COUNT;
  if (later <= RESERVOIR_SIZE) return n - 1;
  const drawn = Math.floor(random() * later);
  return drawn < RESERVOIR_SIZE ? INITIAL_SLOT_COUNT + drawn : null;
}
