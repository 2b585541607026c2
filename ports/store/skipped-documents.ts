/**
 * Lists that skip damaged documents and report them in `warnings` (contract 00, envelope). For
 * display only: code that writes based on a list must use the collection, whose page fails.
 */
import type { Collection, Doc, FindQuery, Page } from './index.js';
import type { StoreDamaged } from './damage.js';

const MAX_NAMED_DOCUMENTS = 20;

/** Members to spread into a response. */
export interface ListWarnings {
  warnings?: string[];
}

export type ReadablePage<T> = Page<T> & ListWarnings;

export class SkippedDocuments {
  readonly #places = new Set<string>();

  /** Use as `FindQuery.damaged`. */
  readonly add = ({ place: { collection, id } }: StoreDamaged): void => {
    this.#places.add(`${id === null ? 'a document' : `the document "${id}"`} of ${collection ?? 'the store'}`);
  };

  get toWarnings(): ListWarnings {
    if (this.#places.size === 0) return {};
    const places = [...this.#places];
    const more = places.length - MAX_NAMED_DOCUMENTS;
    const warnings = places
      .slice(0, MAX_NAMED_DOCUMENTS)
      .map((place) => `${place} is omitted because it is damaged; run aos doctor --deep for a fix`);
    if (more > 0) warnings.push(`${more} more documents are omitted because they are damaged`);
    return { warnings };
  }
}

/** Replaces document names for callers with limited access. */
export const hideDocumentNames = ({ warnings }: ListWarnings): ListWarnings =>
  warnings === undefined ? {} : { warnings: ['damaged documents are omitted; contact an administrator'] };

/** Finds documents and skips damaged ones. */
export async function findReadable<T extends Doc>(rows: Collection<T>, query: FindQuery): Promise<ReadablePage<T>> {
  const left = new SkippedDocuments();
  const page = await rows.find({ ...query, damaged: left.add });
  return { ...page, ...left.toWarnings };
}

export const pickWarnings = ({ warnings }: ListWarnings): ListWarnings => (warnings === undefined ? {} : { warnings });
