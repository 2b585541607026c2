/**
 * What a verified key or password opens is never refused for what others of its address asked (contract 00, limits):
 * where the bucket of an address is used up, a call that may prove itself is answered first, and the answer goes out
 * only when it did.
 */
import { failureOf, type Failure } from '../wire/failure.js';
import type { RateLimits } from './rate-limits.js';

export async function unlessProven<T extends object>(
  limited: Failure,
  { limits }: { limits: RateLimits },
  call: { answer: () => Promise<T>; proves: (answer: T) => string | null },
): Promise<T | Failure> {
  let answer: T;
  try {
    answer = await call.answer();
  } catch (thrown) {
    if (failureOf(thrown) === null) throw thrown;
    return limited;
  }
  const who = call.proves(answer);
  return who === null ? limited : (limits.checkProven(who) ?? answer);
}
