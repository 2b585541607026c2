/**
 * Sections of the item page. Each has a template in `views/parts/` and a function here that
 * prepares its fields; `item-view.ts` lists them.
 */
import type { HttpRequest } from '../../../../kernel/contract.js';
import type { Item } from '../../../../ports/domain/bugs.js';
import type { Json } from '../../../../ports/store.js';
import type { BugCaller } from '../../caller.js';
import type { ItemDoc } from '../../item/model.js';
import { WHERE, type Where } from '../../lists/facets.js';
import type { ItemDetail } from '../../lists/lists.js';
import type { Part } from '../../lists/parts.js';
import type { FormProblem } from '../shared/form.js';
import type { PageDeps } from '../shared/page-deps.js';

export interface PartPage<T = object> {
  items: T[];
  next: string | null;
  paged: boolean;
}

export interface About {
  page: PageDeps;
  request: HttpRequest;
  caller: BugCaller;
  detail: ItemDetail;
  item: Item;
  doc: ItemDoc;
  context: string;
  problem: Partial<FormProblem>;
  occurrences: PartPage<object & { context?: Json }>;
}

export type ItemSection = (about: About) => object | Promise<object>;

const PAGE: Record<Part, number> = { occurrences: 5, comments: 50, activity: 20 };

export const queryText = (request: HttpRequest, name: string): string => {
  const value = request.query[name];
  return typeof value === 'string' ? value : '';
};

export const whereOf = ({ query }: Pick<HttpRequest, 'query'>): Where =>
  Object.fromEntries(
    WHERE.flatMap((name) => {
      const values = [query[name] ?? []].flat().filter((value) => typeof value === 'string' && value !== '');
      return values.length === 0 ? [] : [[name, values]];
    }),
  );

export async function part(
  { page: { services }, request, caller, item }: Pick<About, 'page' | 'request' | 'caller' | 'item'>,
  name: Part,
): Promise<PartPage> {
  const after = queryText(request, name) || null;
  const page = await services.parts.page(item.id, caller, name, { limit: PAGE[name], cursor: after }, whereOf(request));
  return { items: page.items, next: page.next_cursor, paged: after !== null };
}
