/** Tells of each damaged document once, for work that goes on without it (`Find.damaged`). */
import type { Logger } from '../logger.js';
import type { StoreDamaged } from './damage.js';

/** Documents that are remembered; beyond that one may be told again. */
const MAX_REPORTED_PLACES = 1_000;

export class ToldDamage {
  readonly #told = new Set<string>();

  /** @param what is left out, for the log's line */
  constructor(
    private readonly log: Pick<Logger, 'error'>,
    private readonly what: string,
  ) {}

  readonly tell = (err: StoreDamaged): void => {
    const { collection, id } = err.place;
    const document = `${collection} ${id}`;
    if (this.#told.has(document)) return;
    if (this.#told.size >= MAX_REPORTED_PLACES) this.#told.clear();
    this.#told.add(document);
    this.log.error({ err, collection, document: id }, `${this.what} is left out: it is damaged`);
  };
}
