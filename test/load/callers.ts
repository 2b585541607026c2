/** Load whose every request is another one, in its address too: publishes, set-ups. */
import { performance } from 'node:perf_hooks';
import type { Load } from './generator.js';

/** @param ask one request of a caller, or several in a row; answers whether all were taken */
export async function callers(
  count: number,
  seconds: number,
  ask: (caller: number) => Promise<boolean>,
): Promise<Load> {
  const began = performance.now();
  const until = began + seconds * 1000;
  const times: number[] = [];
  let refused = 0;
  const call = async (caller: number): Promise<void> => {
    while (performance.now() < until) {
      const asked = performance.now();
      if (!(await ask(caller))) refused += 1;
      times.push(performance.now() - asked);
    }
  };
  await Promise.all(Array.from({ length: count }, (_, caller) => call(caller)));
  times.sort((a, b) => a - b);
  const at = (share: number): number => Math.round(times[Math.ceil(times.length * share) - 1] ?? NaN);
  // The last answers come behind the end: the time is that of all of them.
  const took = (performance.now() - began) / 1000;
  return { perSecond: times.length / took, seconds: took, p50: at(0.5), p99: at(0.99), non2xx: refused, errors: 0 };
}
