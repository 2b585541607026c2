/**
 * The page of an item is made of sections. Each has a template in `views/parts/` and a function here that prepares its
 * fields; `view.ts` names them all. A new section is a line there, a file here and a template.
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

/** A page of a list that belongs to the item. */
export interface PartPage<T = object> {
  items: T[];
  next: string | null;
  /** An older page than the newest. */
  paged: boolean;
}

/** What every section may use. */
export interface About {
  page: PageDeps;
  request: HttpRequest;
  caller: BugCaller;
  detail: ItemDetail;
  item: Item;
  doc: ItemDoc;
  /** The list that the item was opened from (shared/context.ts). */
  context: string;
  /** A form that was refused. */
  problem: Partial<FormProblem>;
  occurrences: PartPage<object & { context?: Json }>;
}

/** Fields of the page's context. No two sections give the same one. */
export type ItemSection = (about: About) => object | Promise<object>;

const PAGE: Record<Part, number> = { occurrences: 5, comments: 50, activity: 20 };

export const queryText = (request: HttpRequest, name: string): string => {
  const value = request.query[name];
  return typeof value === 'string' ? value : '';
};

/** Which occurrences the address asks for. */
export const whereOf = ({ query }: Pick<HttpRequest, 'query'>): Where =>
  Object.fromEntries(
    WHERE.flatMap((name) => {
      const values = [query[name] ?? []].flat().filter((value) => typeof value === 'string' && value !== '');
      return values.length === 0 ? [] : [[name, values]];
    }),
  );

/** A page of a part of the item, from the cursor in the query parameter of the same name. */
export async function part(
  { page: { services }, request, caller, item }: Pick<About, 'page' | 'request' | 'caller' | 'item'>,
  name: Part,
): Promise<PartPage> {
  const after = queryText(request, name) || null;
  const page = await services.parts.page(item.id, caller, name, { limit: PAGE[name], cursor: after }, whereOf(request));
  return { items: page.items, next: page.next_cursor, paged: after !== null };
}
