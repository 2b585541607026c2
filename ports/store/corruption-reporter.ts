/** Logs each damaged document once. */
import type { Logger } from '../logger.js';
import type { StoreDamaged } from './damage.js';

/** Beyond that a document may be logged again. */
const MAX_REPORTED_PLACES = 1_000;

export class CorruptionReporter {
  readonly #reportedDocuments = new Set<string>();

  /** @param what skipped data, for the log */
  constructor(
    private readonly log: Pick<Logger, 'error'>,
    private readonly what: string,
  ) {}

  readonly report = (err: StoreDamaged): void => {
    const { collection, id } = err.place;
    const document = `${collection} ${id}`;
    if (this.#reportedDocuments.has(document)) return;
    if (this.#reportedDocuments.size >= MAX_REPORTED_PLACES) this.#reportedDocuments.clear();
    this.#reportedDocuments.add(document);
    this.log.error({ err, collection, document: id }, `${this.what} was skipped because it is damaged`);
  };
}
