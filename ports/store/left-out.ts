/**
 * Lists without what is damaged, which `warnings` of their answers name (contract 00, envelope): everything else is
 * served, and nobody takes a shorter list for a whole one. For what is shown alone: whoever writes by what was found
 * asks the collection itself, whose page fails.
 */
import type { Collection, Doc, Find, Page } from '../store.js';
import type { StoreDamaged } from './damage.js';

/** Named one by one; the others are counted. */
const MAX_NAMED_DOCUMENTS = 20;

/** Into an answer as it is: absent where nothing is left out. */
export interface Warned {
  warnings?: string[];
}

export type ReadablePage<T> = Page<T> & Warned;

export class LeftOutDocuments {
  readonly #places = new Set<string>();

  /** For `Find.damaged`. */
  readonly tell = ({ place: { collection, id } }: StoreDamaged): void => {
    this.#places.add(`${id === null ? 'a document' : `the document "${id}"`} of ${collection ?? 'the store'}`);
  };

  /** A sentence each. */
  get warned(): Warned {
    if (this.#places.size === 0) return {};
    const places = [...this.#places];
    const more = places.length - MAX_NAMED_DOCUMENTS;
    const warnings = places
      .slice(0, MAX_NAMED_DOCUMENTS)
      .map((place) => `${place} is left out, for it is damaged: aos doctor --deep says what to do`);
    if (more > 0) warnings.push(`${more} more documents are left out, for they are damaged`);
    return { warnings };
  }
}

/** For who may see a part of what is listed alone: the names may be of another's. */
export const unnamed = ({ warnings }: Warned): Warned =>
  warnings === undefined ? {} : { warnings: ['documents that are damaged are left out: ask an administrator'] };

/** As `find`, without what is damaged. */
export async function findReadable<T extends Doc>(rows: Collection<T>, query: Find): Promise<ReadablePage<T>> {
  const left = new LeftOutDocuments();
  const page = await rows.find({ ...query, damaged: left.tell });
  return { ...page, ...left.warned };
}

/** What of a page an answer repeats. */
export const warned = ({ warnings }: Warned): Warned => (warnings === undefined ? {} : { warnings });
