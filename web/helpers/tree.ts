/**
 * Renders a JSON value as a tree that works without scripts. Depth and size are bounded, because
 * external input may be nothing but brackets.
 */
import { escape, Html, plain, split, type Helper } from './html.js';
import { grouped } from '../../lib/text/grouped.js';

const DEEPEST = 12;
/** Deeper objects are collapsed. */
const OPEN = 2;
const MOST = 1500;
const LONGEST = 400;

function long(value: string): string {
  if (value.length <= LONGEST) return `<span class="tree-value">${escape(value)}</span>`;
  // Does not split a surrogate pair.
  const end = /[\ud800-\udbff]$/.test(value.slice(0, LONGEST)) ? LONGEST - 1 : LONGEST;
  return `<details class="tree-long"><summary>${escape(value.slice(0, end))}… <span class="hint">${grouped(value.length)} characters</span></summary><span class="tree-value">${escape(value.slice(end))}</span></details>`;
}

class Tree {
  #left = MOST;

  #scalar(value: unknown): string {
    if (typeof value !== 'string')
      return `<span class="tree-value is-${value === null ? 'null' : typeof value}">${escape(String(value))}</span>`;
    if (value === '') return '<span class="tree-value is-null">empty</span>';
    return long(value);
  }

  #row(key: string, value: unknown, depth: number): string {
    if (--this.#left < 0) return '';
    const inner = typeof value === 'object' && value !== null ? Object.entries(value) : [];
    if (typeof value !== 'object' || value === null)
      return `<div class="tree-pair"><dt>${escape(key)}</dt><dd>${this.#scalar(value)}</dd></div>`;
    const count = inner.length;
    const size = Array.isArray(value) ? `[${count}]` : `{${count}}`;
    if (count === 0)
      return `<div class="tree-pair"><dt>${escape(key)}</dt><dd><span class="tree-value is-null">${Array.isArray(value) ? '[]' : '{}'}</span></dd></div>`;
    if (depth >= DEEPEST) {
      const text = plain(value);
      return `<div class="tree-pair"><dt>${escape(key)}</dt><dd>${this.#scalar(text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text)}</dd></div>`;
    }
    const open = depth < OPEN ? ' open' : '';
    return `<div class="tree-branch"><dt class="visually-hidden">${escape(key)}</dt><dd><details${open}><summary>${escape(key)} <span class="hint">${size}</span></summary>${this.rows(inner, depth + 1)}</details></dd></div>`;
  }

  rows(entries: readonly (readonly [string, unknown])[], depth: number): string {
    const body = entries.map(([key, value]) => this.#row(key, value, depth)).join('');
    const more = this.#left < 0 && depth === 0 ? '<p class="hint">More values than are shown here.</p>' : '';
    return `<dl class="tree-json">${body}</dl>${more}`;
  }
}

function tree(...args: unknown[]): Html {
  const [value] = split(args).values;
  if (value === null || value === undefined) return new Html('');
  if (typeof value !== 'object') return new Html(`<p class="prewrap">${escape(value)}</p>`);
  return new Html(treeOf(value));
}

export const treeOf = (value: object): string => new Tree().rows(Object.entries(value), 0);

function cell(...args: unknown[]): Html {
  const [value] = split(args).values;
  if (typeof value === 'object' && value !== null && Object.keys(value).length > 0) return new Html(treeOf(value));
  return new Html(long(value === '' ? 'empty' : plain(value)));
}

export const trees: Record<string, Helper> = { 'json-tree': tree, 'long-value': cell };
