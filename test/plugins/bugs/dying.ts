/** A process that dies at one of its writes, before it reached the store or after. */
import type { Collection, Doc, DocumentStore, Transact } from '../../../ports/store/index.js';
import type { ManualClock } from '../../kit/clock.js';
import { settled, type Fixture } from './fixture.js';

const WRITES = new Set(['insert', 'change', 'changeMany', 'remove', 'bulk']);
const YEAR_MS = 365 * 86_400_000;
export class Died extends Error {}

export interface Death {
  /** The write still arrives. */
  late: boolean;
  when: string;
  /** What the clock does between the death and the next look for what it left. */
  pass: (clock: ManualClock) => void;
}

export const DEATHS: readonly Death[] = [
  { late: false, when: 'arrived', pass: (clock) => clock.advance(11_000) },
  { late: true, when: 'was answered', pass: (clock) => clock.advance(11_000) },
  { late: true, when: 'was answered, by a clock a year ahead', pass: (clock) => clock.set(clock.now() - YEAR_MS) },
];

/**
 * A store whose `n`th write, and everything after it, fails; with `late` that write still arrives.
 */
export function dying(store: DocumentStore, n: number, late: boolean): { store: DocumentStore; died: () => boolean } {
  let left = n;
  /** As long as the process lives. */
  const write = async <V>(run: () => Promise<V>): Promise<V> => {
    if (left <= 0) throw new Died();
    if (--left > 0) return run();
    if (late) await run();
    throw new Died();
  };
  const wrap = <T extends Doc>(collection: Collection<T>): Collection<T> =>
    new Proxy(collection, {
      get(target, name) {
        const method = Reflect.get(target, name) as (...args: unknown[]) => Promise<unknown>;
        return async (...args: unknown[]): Promise<unknown> => {
          if (WRITES.has(String(name))) return write(() => method.apply(target, args));
          if (left <= 0) throw new Died();
          return method.apply(target, args);
        };
      },
    });
  const dead = Object.create(store) as DocumentStore;
  dead.collection = <T extends Doc>(name: string): Collection<T> => wrap(store.collection<T>(name));
  const { transact } = store;
  const dying: Transact | null = transact && ((writes) => write(() => transact(writes)));
  Object.defineProperty(dead, 'transact', { value: dying });
  return { store: dead, died: () => left <= 0 };
}

/** False when the process died on the way. */
export async function attempt(fixture: Fixture, run: (fixture: Fixture) => Promise<unknown>): Promise<boolean> {
  try {
    await run(fixture);
    return true;
  } catch (error) {
    if (error instanceof Died) return false;
    throw error;
  } finally {
    await settled(fixture);
  }
}
