/**
 * Documents as JSON, made by a pure function of each: an optional ability of a collection, which makes the JSON in the
 * thread that reads or writes, so that the event loop only passes it on; and what does without that ability.
 */
import {
  StoreDamaged,
  type ChangeOptions,
  type Collection,
  type Doc,
  type Filter,
  type Find,
  type Json,
  type Update,
} from './store.js';

/** Pure. @param beside null: there is none. @param context as `Rendering` has it. @returns what becomes JSON */
export type Render<T extends Doc = never, B extends Doc = never, C extends Json = never> = (
  doc: T,
  beside: B | null,
  context: C,
) => object;

/** A function for documents, and where another thread finds it. */
export interface Renderer {
  render: Render;
  /** Exports the function as `render`. It is loaded on whatever thread reads or writes, so it imports little. */
  module: URL;
}

export interface Rendering extends Renderer {
  /** A collection of the same store: its document with the same id is handed over too. */
  beside?: Collection<Doc>;
  /** What the function needs to know besides, such as the time. */
  context: Json;
}

export interface Rendered {
  /** An array: what was made of each document, in order. As text, or as its UTF-8 in a buffer of its own. */
  json: string | Uint8Array;
  /** As in `Page`. */
  next: string | null;
}

/** A collection that makes the JSON where it reads and writes. The functions below say what each method answers. */
export interface RenderingCollection {
  findRendered(query: Find, rendering: Rendering): Promise<Rendered>;
  changeRendered(
    filter: Filter,
    update: Update,
    rendering: Rendering,
    options?: Omit<ChangeOptions, 'upsert'>,
  ): Promise<string | null>;
}

/** Any function of a rendering, as the code that calls it sees it. */
export type AnyRender = Render<Doc, Doc, Json>;

const isRendering = (rows: object): rows is RenderingCollection => 'findRendered' in rows;

/** The array as JSON. @param rows JSON of each */
export const arrayOf = (rows: readonly string[]): string => `[${rows.join()}]`;

/** The page that `find` finds, as JSON of what the function makes of each document. @throws what the function throws */
export async function findRendered<T extends Doc>(
  rows: Collection<T>,
  query: Find,
  rendering: Rendering,
): Promise<Rendered> {
  if (isRendering(rows)) {
    try {
      return await rows.findRendered(query, rendering);
    } catch (error) {
      if (query.damaged === undefined || !(error instanceof StoreDamaged)) throw error;
    }
  }
  const { beside, context } = rendering;
  const render = rendering.render as AnyRender;
  const { items, next } = await rows.find(query);
  const ids = items.map(({ id }) => id);
  const others =
    beside === undefined || ids.length === 0
      ? []
      : (await beside.find({ filter: { id: { in: ids } }, limit: ids.length, damaged: query.damaged })).items;
  const byId = new Map(others.map((doc) => [doc.id, doc]));
  return { json: arrayOf(items.map((doc) => JSON.stringify(render(doc, byId.get(doc.id) ?? null, context)))), next };
}

/**
 * As `change`, answered as the JSON of what the function makes of the document as the change left it; null when none
 * matched. Where the function throws, the change is made all the same.
 */
export function changeRendered<T extends Doc>(
  rows: Collection<T>,
  filter: Filter,
  update: Update,
  rendering: Rendering,
  options: Omit<ChangeOptions, 'upsert'> = {},
): Promise<string | null> {
  return isRendering(rows)
    ? rows.changeRendered(filter, update, rendering, options)
    : changedHere(rows, [filter, update, options], rendering);
}

async function changedHere<T extends Doc>(
  rows: Collection<T>,
  change: Parameters<Collection<T>['change']>,
  rendering: Rendering,
): Promise<string | null> {
  const doc = (await rows.change(...change))?.doc;
  if (doc === undefined) return null;
  const { beside, context } = rendering;
  return JSON.stringify((rendering.render as AnyRender)(doc, (await beside?.get(doc.id)) ?? null, context));
}
