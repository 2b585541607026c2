/** Each section has a template in `views/parts/` and a function here; `item-view.ts` lists them. */
import type { HttpRequest } from '../../../../kernel/contract/index.js';
import type { Item } from '../../../../ports/domain/bugs.js';
import type { Json } from '../../../../ports/store/index.js';
import type { BugCaller } from '../../caller.js';
import type { ItemDoc } from '../../item/model.js';
import { PAGE_FILTER_NAMES, type OccurrenceFilter } from '../../lists/occurrence-facets.js';
import type { ItemDetail } from '../../lists/item-list.js';
import type { EventView } from '../../lists/stored-occurrences.js';
import type { FormProblem } from '../shared/form.js';
import type { PageDeps } from '../shared/page-deps.js';

export interface PartPage<T = object> {
  items: T[];
  next: string | null;
  paged: boolean;
}

export interface ItemEvent extends Omit<EventView, 'event'> {
  event: (object & { context?: Json }) | null;
}

export interface ItemSectionInput {
  page: PageDeps;
  request: HttpRequest;
  caller: BugCaller;
  detail: ItemDetail;
  item: Item;
  doc: ItemDoc;
  context: string;
  problem: Partial<FormProblem>;
  event: ItemEvent;
}

export type ItemSection = (about: ItemSectionInput) => object | Promise<object>;

const STREAM_PAGE_SIZE = 50;

export const getQueryText = (request: HttpRequest, name: string): string => {
  const value = request.query[name];
  return typeof value === 'string' ? value : '';
};

export const parseOccurrenceFilter = ({ query }: Pick<HttpRequest, 'query'>): OccurrenceFilter =>
  Object.fromEntries(
    PAGE_FILTER_NAMES.flatMap((name) => {
      const values = [query[name] ?? []].flat().filter((value) => typeof value === 'string' && value !== '');
      return values.length === 0 ? [] : [[name, values]];
    }),
  );

export async function loadPart(
  { page: { services }, request, caller, item }: Pick<ItemSectionInput, 'page' | 'request' | 'caller' | 'item'>,
  name: 'activity',
): Promise<PartPage> {
  const after = getQueryText(request, name) || null;
  const page = await services.parts.getPage(item.id, caller, name, { limit: STREAM_PAGE_SIZE, cursor: after });
  return { items: page.items, next: page.next_cursor, paged: after !== null };
}
