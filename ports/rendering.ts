/** `Collection.render` and `changeRendered` (store.ts) as every engine does them. */
import type { Changed, Doc, Json, Page, Render, Rendered, Rendering } from './store.js';

export type AnyRender = Render<Doc, Doc, Json>;

/** The function of a module. @throws TypeError when it has none: a programming error */
export async function renderOf(module: string): Promise<AnyRender> {
  const { render } = (await import(module)) as { render?: unknown };
  if (typeof render !== 'function') throw new TypeError(`${module} exports no function \`render\``);
  return render as AnyRender;
}

/** The array as JSON. @param rows JSON of each */
export const arrayOf = (rows: readonly string[]): string => `[${rows.join()}]`;

/** Of a page that is here already. */
export async function renderPage<T extends Doc>(
  { items, next }: Page<T>,
  { module, beside, context }: Rendering,
): Promise<Rendered> {
  const render = await renderOf(module.href);
  const ids = items.map(({ id }) => id);
  const others =
    beside === undefined || ids.length === 0
      ? []
      : (await beside.find({ filter: { id: { in: ids } }, limit: ids.length })).items;
  const byId = new Map(others.map((doc) => [doc.id, doc]));
  return { json: arrayOf(items.map((doc) => JSON.stringify(render(doc, byId.get(doc.id) ?? null, context)))), next };
}

/** Of a document, once `change` has changed it. */
export async function renderChanged<T extends Doc>(
  change: () => Promise<Changed<T> | null>,
  { module, beside, context }: Rendering,
): Promise<string | null> {
  const render = await renderOf(module.href);
  const doc = (await change())?.doc;
  if (doc === undefined) return null;
  return JSON.stringify(render(doc, (await beside?.get(doc.id)) ?? null, context));
}
