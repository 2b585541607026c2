/**
 * Chooses the occurrences that keep their payload: the first 5 and a reservoir of 45 (algorithm R), so each other one
 * is equally likely to be kept (contract 21, intake). The slot follows from the count that the atomic write answered:
 * no reads.
 *
 * A window ends after 30 days, because payloads do: a reservoir over a group's whole life would leave an old, busy
 * group without a single payload.
 */
export const FIRST = 5;
export const RESERVOIR = 45;
/** Slots of an item. */
export const KEPT = FIRST + RESERVOIR;
export const WINDOW_MS = 30 * 86_400_000;

/**
 * The slot of the `n`th occurrence of a window (1 …), or null when its payload is not kept.
 * @param random 0 ≤ x < 1
 */
export function chooseSlot(n: number, random: () => number): number | null {
  if (n <= FIRST) return n - 1;
  const later = n - FIRST;
  if (later <= RESERVOIR) return n - 1;
  const drawn = Math.floor(random() * later);
  return drawn < RESERVOIR ? FIRST + drawn : null;
}
