/** What the parts of a contract suite share. */
import type { DocumentStore } from '../../../ports/store.js';

/** The open store, and collections that no other test uses. */
export interface Fixture {
  readonly store: DocumentStore;
  readonly utf16Order: string | undefined;
  name(): string;
  /** How often a property is tried, by how often it is where nobody waits. */
  tries(count: number): number;
}

/** The error that `promise` rejects with. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('it did not reject');
}
