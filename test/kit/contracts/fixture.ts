import type { DocumentStore } from '../../../ports/store/index.js';

/** The open store, and names of collections that no other test uses. */
export interface ContractFixture {
  readonly store: DocumentStore;
  readonly utf16Order: string | undefined;
  name(): string;
  /** Returns the repeats of a property test, given those of an unhurried run. */
  tries(count: number): number;
}

export async function getRejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('it did not reject');
}
