/** What the contract suite has made of documents (store-rendering.ts). */
import type { Render, Renderer } from '../../ports/rendering.js';
import type { Doc } from '../../ports/store.js';

export interface RenderedRow extends Doc {
  n?: number;
  text?: string;
}

export const render: Render<RenderedRow, RenderedRow, { add: number }> = (row, beside, { add }) => {
  if (row.n === -1) throw new RangeError('this row cannot be shown');
  return { id: row.id, sum: (row.n ?? 0) + add, text: row.text, beside };
};

export const RENDERED: Renderer = { render, module: new URL(import.meta.url) };
