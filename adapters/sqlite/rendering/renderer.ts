/** Makes the rows of a list in the thread that has read them (ports/store.ts, Rendering): one message goes to the event loop. */
import { encodeCursor } from '../../../ports/cursor.js';
import { arrayOf, renderOf } from '../../../ports/rendering.js';
import type { Doc, Json, Rendered } from '../../../ports/store.js';
import type { Connection } from '../connection.js';
import { MadeRows, type MadeRow } from './made-rows.js';
import type { RenderRequest } from '../messages.js';
import { wholeBody } from '../packing/packing.js';
import { find } from '../reads.js';

const parsed = (body: string): Doc => JSON.parse(body) as Doc;

const ASCII = /^[\0-\x7f]*$/;
const encoder = new TextEncoder();

/**
 * One byte for each character goes over and to the socket quicker as text, and leaves no buffer that waits for a collection of the event
 * loop's heap. Two bytes for each are made UTF-8 here, and change hands.
 */
function jsonOf(rows: readonly MadeRow[]): string | Uint8Array {
  const text = arrayOf(rows.map(({ json }) => json));
  return rows.every(({ isAscii }) => isAscii) ? text : encoder.encode(text);
}

/** Of one worker. */
export class Renderer {
  /** By the address of the module and the collection beside. */
  readonly #made = new Map<string, MadeRows>();

  constructor(private readonly connection: Connection) {}

  /** @throws TypeError (a programming error), the function's error, or the driver's */
  async page(name: string, text: string): Promise<Rendered> {
    const { find: request, module, beside, context } = JSON.parse(text) as RenderRequest;
    const render = await renderOf(module);
    this.connection.refresh();
    const table = this.connection.table(name);
    const found = table === null ? [] : (find(this.connection, table, request, 'body') as string[]);
    const bodies = found.slice(0, request.rows - 1);
    const made = this.#madeFor(`${module} ${beside}`);
    const rows = bodies.map((body) => {
      const known = made.of(body);
      return known === undefined ? { body, doc: parsed(body) } : { body, known };
    });
    const ids = rows.map(({ known, doc }) => (known ?? doc).id);
    const others = this.#texts(beside, ids);
    const given = JSON.parse(context) as Json;
    const all = rows.map(({ body, known, doc }, i): MadeRow => {
      const id = ids[i] as string;
      const other = others.get(id) ?? null;
      if (known !== undefined && known.beside === other && known.context === context) return known;
      const json = JSON.stringify(render(doc ?? parsed(body), other === null ? null : parsed(other), given));
      const row = { id, beside: other, context, json, isAscii: ASCII.test(json) };
      made.keep(body, row);
      return row;
    });
    const last = found.length > bodies.length ? bodies.at(-1) : undefined;
    return { json: jsonOf(all), next: last === undefined ? null : encodeCursor(request.sort, parsed(last)) };
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
    const rows = this.connection.prepare(sql).all([JSON.stringify(ids)]) as [id: string, body: string][];
    return new Map(rows.map(([id, body]) => [id, wholeBody(body)]));
  }
}
