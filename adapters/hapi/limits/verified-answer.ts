/**
 * A verified key or password is never rejected because of other callers at its address (contract
 * 00, limits).
 */
import { toFailure, type Failure } from '../wire/failure.js';
import type { RateLimits } from './rate-limits.js';

export async function answerIfVerified<T extends object>(
  limited: Failure,
  { limits }: { limits: RateLimits },
  call: { answer: () => Promise<T>; proves: (answer: T) => string | null },
): Promise<T | Failure> {
  let answer: T;
  try {
    answer = await call.answer();
  } catch (thrown) {
    if (toFailure(thrown) === null) throw thrown;
    return limited;
  }
  const who = call.proves(answer);
  return who === null ? limited : (limits.checkVerified(who) ?? answer);
}
