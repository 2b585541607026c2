/** Depth and size are bounded, because external input may be nothing but brackets. */
import { escapeHtml, Html, toText, splitArguments, type Helper } from './html.js';
import { formatInteger } from '../../lib/text/format-integer.js';

const MAX_DEPTH = 12;
/** Deeper objects are collapsed. */
const MAX_OPEN_DEPTH = 2;
const MAX_ROWS = 1500;
const MAX_TEXT_LENGTH = 400;

function renderLongText(value: string): string {
  if (value.length <= MAX_TEXT_LENGTH) return `<span class="tree-value">${escapeHtml(value)}</span>`;
  // Does not split a surrogate pair.
  const end = /[\ud800-\udbff]$/.test(value.slice(0, MAX_TEXT_LENGTH)) ? MAX_TEXT_LENGTH - 1 : MAX_TEXT_LENGTH;
  return `<details class="tree-long"><summary>${escapeHtml(value.slice(0, end))}… <span class="hint">${formatInteger(value.length)} characters</span></summary><span class="tree-value">${escapeHtml(value.slice(end))}</span></details>`;
}

class TreeRenderer {
  #left = MAX_ROWS;

  #renderScalar(value: unknown): string {
    if (typeof value !== 'string')
      return `<span class="tree-value is-${value === null ? 'null' : typeof value}">${escapeHtml(String(value))}</span>`;
    if (value === '') return '<span class="tree-value is-null">empty</span>';
    return renderLongText(value);
  }

  #renderRow(key: string, value: unknown, depth: number): string {
    if (--this.#left < 0) return '';
    const inner = typeof value === 'object' && value !== null ? Object.entries(value) : [];
    if (typeof value !== 'object' || value === null)
      return `<div class="tree-pair"><dt>${escapeHtml(key)}</dt><dd>${this.#renderScalar(value)}</dd></div>`;
    const count = inner.length;
    const size = Array.isArray(value) ? `[${count}]` : `{${count}}`;
    if (count === 0)
      return `<div class="tree-pair"><dt>${escapeHtml(key)}</dt><dd><span class="tree-value is-null">${Array.isArray(value) ? '[]' : '{}'}</span></dd></div>`;
    if (depth >= MAX_DEPTH) {
      const text = toText(value);
      return `<div class="tree-pair"><dt>${escapeHtml(key)}</dt><dd>${this.#renderScalar(text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH)}…` : text)}</dd></div>`;
    }
    const open = depth < MAX_OPEN_DEPTH ? ' open' : '';
    return `<div class="tree-branch"><dt class="visually-hidden">${escapeHtml(key)}</dt><dd><details${open}><summary>${escapeHtml(key)} <span class="hint">${size}</span></summary>${this.renderRows(inner, depth + 1)}</details></dd></div>`;
  }

  renderRows(entries: readonly (readonly [string, unknown])[], depth: number): string {
    const body = entries.map(([key, value]) => this.#renderRow(key, value, depth)).join('');
    const more = this.#left < 0 && depth === 0 ? '<p class="hint">More values than are shown here.</p>' : '';
    return `<dl class="tree-json">${body}</dl>${more}`;
  }
}

function renderJsonTree(...args: unknown[]): Html {
  const [value] = splitArguments(args).values;
  if (value === null || value === undefined) return new Html('');
  if (typeof value !== 'object') return new Html(`<p class="prewrap">${escapeHtml(value)}</p>`);
  return new Html(renderTree(value));
}

export const renderTree = (value: object): string => new TreeRenderer().renderRows(Object.entries(value), 0);

function renderLongValue(...args: unknown[]): Html {
  const [value] = splitArguments(args).values;
  if (typeof value === 'object' && value !== null && Object.keys(value).length > 0) return new Html(renderTree(value));
  return new Html(renderLongText(value === '' ? 'empty' : toText(value)));
}

export const treeHelpers: Record<string, Helper> = { 'json-tree': renderJsonTree, 'long-value': renderLongValue };
