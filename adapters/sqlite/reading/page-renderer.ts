/**
 * Makes the rows of a list in the thread that has read them (ports/rendering.ts): one message goes to the event loop.
 */
import { encodeCursor } from '../../../ports/cursor.js';
import type { Rendered } from '../../../ports/rendering.js';
import type { Json } from '../../../ports/store.js';
import type { Connection } from '../connection/connection.js';
import { MadeRows } from './made-rows.js';
import type { RenderRequest } from '../threads/messages.js';
import { loadRender, renderIn } from '../connection/renders.js';
import { parsedBody, wholeBody } from '../body/stored-body.js';
import { find } from './reads.js';

const ASCII = /^[\0-\x7f]*$/;
const encoder = new TextEncoder();

/** Rows are kept as text where they are ASCII, else as UTF-8. Their page is one buffer, which is handed over. */
function pageOf(rows: readonly (string | Uint8Array)[]): Uint8Array {
  // A piece of Node's pool could not be handed over.
  const page = Buffer.allocUnsafeSlow(rows.reduce((size, row) => size + row.length + 1, rows.length === 0 ? 2 : 1));
  let at = page.write('[');
  for (const row of rows) {
    if (at > 1) at += page.write(',', at);
    if (typeof row === 'string') page.write(row, at, 'latin1');
    else page.set(row, at);
    at += row.length;
  }
  page.write(']', at);
  return page;
}

/** Renders the pages of one worker. */
export class PageRenderer {
  /** By the address of the module and the collection beside. */
  readonly #made = new Map<string, MadeRows>();

  constructor(private readonly connection: Connection) {}

  /** @throws TypeError (a programming error), the function's error, or the driver's */
  async page(name: string, text: string): Promise<Rendered> {
    const { find: request, module, beside, context } = JSON.parse(text) as RenderRequest;
    await loadRender(this.connection, module);
    const render = renderIn(this.connection, module);
    this.connection.refresh();
    const table = this.connection.table(name);
    const found = table === null ? [] : (find(this.connection, table, request, 'body') as string[]);
    const bodies = found.slice(0, request.rows - 1);
    const kept = this.#madeFor(`${module} ${beside}`);
    const rows = bodies.map((body) => {
      const known = kept.of(body);
      return known === undefined ? { body, doc: parsedBody(body) } : { body, known };
    });
    const ids = rows.map(({ known, doc }) => (known ?? doc).id);
    const others = this.#texts(beside, ids);
    const given = JSON.parse(context) as Json;
    const made = rows.map(({ body, known, doc }, i): string | Uint8Array => {
      const id = ids[i] as string;
      const other = others.get(id) ?? null;
      if (known !== undefined && known.beside === other && known.context === context) return known.json;
      const text = JSON.stringify(render(doc ?? parsedBody(body), other === null ? null : parsedBody(other), given));
      const json = ASCII.test(text) ? text : encoder.encode(text);
      kept.keep({ id, body, beside: other, context, json });
      return json;
    });
    const last = found.length > bodies.length ? bodies.at(-1) : undefined;
    return { json: pageOf(made), next: last === undefined ? null : encodeCursor(request.sort, parsedBody(last)) };
  }

  #madeFor(key: string): MadeRows {
    const known = this.#made.get(key);
    if (known !== undefined) return known;
    const made = new MadeRows();
    this.#made.set(key, made);
    return made;
  }

  /** The documents of a collection as text, by id. */
  #texts(name: string | null, ids: readonly string[]): Map<string, string> {
    if (name === null || ids.length === 0 || this.connection.table(name) === null) return new Map();
    const sql = `SELECT id, body FROM "${name}" WHERE id IN (SELECT value FROM json_each(?))`;
    const rows = this.connection.rows(sql, [JSON.stringify(ids)], ids.length) as [id: string, body: string][];
    return new Map(rows.map(([id, body]) => [id, wholeBody(body)]));
  }
}
