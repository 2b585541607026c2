/** At most fifty, stored packed, so they are read in small batches and filtered in memory. */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { InvalidCursor } from '../../../ports/store/index.js';
import { DEPS, type BugDeps } from '../deps.js';
import { listSlotIds } from '../item/document-ids.js';
import type { ItemDoc } from '../item/model.js';
import type { OccurrenceDoc } from '../item/occurrence-documents.js';
import { unpackOccurrence } from '../item/occurrence-payload.js';
import { toOccurrenceView } from '../item/api-views.js';
import { getFacets, matchesFacets, type OccurrenceFacets, type OccurrenceFilter } from './occurrence-facets.js';
import type { PageResponse, PageRequest } from './page-request.js';

const BATCH_SIZE = 10;

export interface StoredOccurrencePlace extends OccurrenceFacets {
  id: string;
  received_at: string;
}

type OccurrenceOwner = Pick<ItemDoc, 'id' | 'parted'>;

@injectable()
export class StoredOccurrenceReader {
  constructor(@inject(DEPS) private readonly deps: Pick<BugDeps, 'occurrences' | 'texts'>) {}

  async listPlaces({ id, parted }: OccurrenceOwner): Promise<StoredOccurrencePlace[]> {
    const slots = listSlotIds(id);
    const storedPlaces: StoredOccurrencePlace[] = [];
    for (let from = 0; from < slots.length; from += BATCH_SIZE) {
      const whole = await this.#read(slots.slice(from, from + BATCH_SIZE), false);
      storedPlaces.push(
        ...whole.map((one) => Object.assign(getFacets(one), { id: one.id, received_at: one.received_at })),
      );
      // Slots are filled in order, unless a split left gaps.
      if (whole.length === 0 && parted !== true) break;
    }
    return storedPlaces;
  }

  /** @throws InvalidCursor */
  async getPage(item: OccurrenceOwner, where: OccurrenceFilter, request: PageRequest): Promise<PageResponse> {
    const after = request.cursor ? parseCursor(request.cursor) : null;
    const fitting = (await this.listPlaces(item)).filter((one) => matchesFacets(one, where));
    const marked = fitting.map(toCursor).toSorted().toReversed();
    const rest = after === null ? marked : marked.filter((mark) => mark < after);
    const shown = rest.slice(0, request.limit ?? 50);
    const whole = await this.#read(shown.map(getCursorId), true);
    const byId = new Map(whole.map((one) => [one.id, toOccurrenceView(one)]));
    const more = rest.length > shown.length;
    const page: PageResponse = {
      items: shown.flatMap((mark) => byId.get(getCursorId(mark)) ?? []),
      next_cursor: more ? Buffer.from(shown.at(-1) ?? '').toString('base64url') : null,
      has_more: more,
    };
    return request.include_total === true ? { ...page, total: fitting.length } : page;
  }

  /** @param traced include the stack trace shared with the item */
  async #read(ids: readonly string[], traced: boolean): Promise<OccurrenceDoc[]> {
    if (ids.length === 0) return [];
    const page = await this.deps.occurrences.find({ filter: { id: { in: ids } }, limit: ids.length });
    return Promise.all(
      page.items.map((stored) => unpackOccurrence(stored, async (id) => (traced ? this.deps.texts.get(id) : null))),
    );
  }
}

/** The time, then the id. */
const toCursor = ({ received_at, id }: StoredOccurrencePlace): string => `${received_at}~${id}`;
const getCursorId = (mark: string): string => mark.slice(mark.indexOf('~') + 1);
const CURSOR_PATTERN = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z~[\w:-]{1,100}$/;

/** @throws InvalidCursor */
function parseCursor(cursor: string): string {
  const mark = Buffer.from(cursor, 'base64url').toString('utf8');
  if (!CURSOR_PATTERN.test(mark)) throw new InvalidCursor();
  return mark;
}
