/** At most fifty, stored packed, so they are read in small batches and filtered in memory. */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { InvalidCursor, type Filter, type Collection } from '../../../ports/store/index.js';
import { DEPS } from '../deps.js';
import { listSlotIds, parseSlot, toSlotId } from '../item/document-ids.js';
import type { ItemDoc, TextsDoc } from '../item/model.js';
import type { OccurrenceDoc, StoredOccurrence } from '../item/occurrence-documents.js';
import { unpackOccurrence } from '../item/occurrence-payload.js';
import { toOccurrenceView } from '../item/api-views.js';
import {
  getFacets,
  isFiltered,
  matchesFacets,
  type OccurrenceFacets,
  type OccurrenceFilter,
} from './occurrence-facets.js';
import type { PageResponse, PageRequest } from './page-request.js';

const BATCH_SIZE = 10;

export interface StoredOccurrencePlace extends OccurrenceFacets {
  id: string;
  received_at: string;
}

interface EventPlace {
  id: string;
  /** 1: the newest. */
  position: number;
  total: number;
  /** Slots; null at either end. */
  newer: number | null;
  older: number | null;
}

export interface EventView extends Omit<EventPlace, 'id'> {
  event: object | null;
}

const NO_EVENT: EventView = { event: null, position: 0, total: 0, newer: null, older: null };

type OccurrenceOwner = Pick<ItemDoc, 'id' | 'parted'>;

@injectable()
export class StoredOccurrenceReader {
  constructor(
    @inject(DEPS.occurrences) private readonly occurrences: Collection<StoredOccurrence>,
    @inject(DEPS.texts) private readonly texts: Collection<TextsDoc>,
  ) {}

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

  /**
   * Reads one event and names its neighbors. The newest one is read where the slot holds no match.
   * @param slot of the event; null: the newest
   */
  async getEvent(item: OccurrenceOwner, where: OccurrenceFilter, slot: number | null): Promise<EventView> {
    const place = isFiltered(where)
      ? await this.#findMatchingPlace(item, where, slot)
      : await this.#findPlace(item, slot);
    if (place === null) return NO_EVENT;
    const { id, ...view } = place;
    const [event] = await this.#read([id], true);
    return { ...view, event: event === undefined ? null : toOccurrenceView(event) };
  }

  async #findMatchingPlace(
    item: OccurrenceOwner,
    where: OccurrenceFilter,
    slot: number | null,
  ): Promise<EventPlace | null> {
    const fitting = (await this.listPlaces(item)).filter((one) => matchesFacets(one, where));
    const order = fitting.map(toCursor).toSorted().toReversed().map(getCursorId);
    const at = slot === null ? 0 : Math.max(order.indexOf(toSlotId(item.id, slot)), 0);
    const id = order[at];
    if (id === undefined) return null;
    return {
      id,
      position: at + 1,
      total: order.length,
      newer: parseSlot(order[at - 1]),
      older: parseSlot(order[at + 1]),
    };
  }

  /** Without reading the other payloads. */
  async #findPlace({ id: itemId }: OccurrenceOwner, slot: number | null): Promise<EventPlace | null> {
    const occurrences = this.occurrences;
    const all: Filter = { id: { in: listSlotIds(itemId) } };
    const findFirst = async (filter: Filter, order: 'asc' | 'desc'): Promise<StoredOccurrence | undefined> =>
      (await occurrences.find({ filter, sort: [['received_at', order]], limit: 1 })).items[0];
    const named = slot === null ? null : await occurrences.get(toSlotId(itemId, slot));
    const current = named ?? (await findFirst(all, 'desc'));
    if (current === undefined) return null;
    const { id, received_at } = current;
    const ids = listSlotIds(itemId);
    const beyond = (side: 'gt' | 'lt'): Filter => ({
      or: [
        { id: { in: ids }, received_at: { [side]: received_at } },
        { id: { in: ids.filter((one) => (side === 'gt' ? one > id : one < id)) }, received_at },
      ],
    });
    const [total, position, newer, older] = await Promise.all([
      occurrences.count(all),
      occurrences.count(beyond('gt')),
      findFirst(beyond('gt'), 'asc'),
      findFirst(beyond('lt'), 'desc'),
    ]);
    return { id, position: position + 1, total, newer: parseSlot(newer?.id), older: parseSlot(older?.id) };
  }

  /** @param traced include the stack trace shared with the item */
  async #read(ids: readonly string[], traced: boolean): Promise<OccurrenceDoc[]> {
    if (ids.length === 0) return [];
    const page = await this.occurrences.find({ filter: { id: { in: ids } }, limit: ids.length });
    return Promise.all(
      page.items.map((stored) => unpackOccurrence(stored, async (id) => (traced ? this.texts.get(id) : null))),
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
