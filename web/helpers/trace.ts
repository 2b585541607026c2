/**
 * Renders a stack trace from its parts (plugins/bugs/pages/trace.ts). External text is escaped and
 * never linked.
 */
import { attributes, escape, Html, plain, split, type Helper } from './html.js';
import { treeOf } from './tree.js';

type Fields = Record<string, unknown>;
const list = (value: unknown): Fields[] => (Array.isArray(value) ? (value as Fields[]) : []);

const CHEVRON =
  '<svg class="icon icon-sm" width="20" height="20" aria-hidden="true"><use href="/assets/icons.svg#i-chevron-right"></use></svg>';

function source(lines: unknown): string {
  const all = Array.isArray(lines) ? lines.map(plain) : [];
  if (all.length === 0) return '';
  const indent = Math.min(...all.map((line) => /^[|\s]*/.exec(line)?.[0].length ?? 0));
  return `<code class="frame-source">${escape(all.map((line) => line.slice(indent)).join('\n'))}</code>`;
}

function code(lines: unknown): string {
  const all = list(lines);
  if (all.length === 0) return '';
  const drawn = all.map(({ at, text, here }) => {
    const set = attributes({ class: here === true ? 'code-line is-here' : 'code-line' });
    return `<span${set}><span class="code-at">${escape(at)}</span>${escape(text)}\n</span>`;
  });
  return `<pre class="frame-code" tabindex="0"><code>${drawn.join('')}</code></pre>`;
}

function values(value: unknown, mark: boolean): string {
  const { code: lines, locals } = (typeof value === 'object' && value !== null ? value : {}) as Fields;
  const shown = code(lines);
  const names = typeof locals === 'object' && locals !== null ? Object.keys(locals).length : 0;
  const tree = names === 0 ? '' : treeOf(locals as object);
  if (mark) {
    const count = names === 1 ? '1 variable' : `${names} variables`;
    const folded =
      tree === '' ? '' : `<details class="frame-more"><summary>${CHEVRON} ${count}</summary>${tree}</details>`;
    return `${shown}${folded}`;
  }
  if (shown === '' && tree === '') return '';
  const what = [shown === '' ? '' : 'code', tree === '' ? '' : 'variables'].filter((one) => one !== '').join(' and ');
  return `<details class="frame-more"><summary>${CHEVRON} ${what}</summary>${shown}${tree}</details>`;
}

function frame(row: Fields): string {
  const mark = row['mark'] === true;
  const set = attributes({
    class: `frame${mark ? ' is-marked' : ''}${row['library'] === null ? '' : ' is-library'}`,
  });
  const name = plain(row['name']);
  const file = plain(row['file']);
  const place =
    file === ''
      ? ''
      : `<span class="frame-at"><span class="frame-folder">${escape(row['folder'])}</span>${escape(file)}<span class="frame-line">${escape(row['at'])}</span></span>`;
  const flag = mark
    ? '<span class="frame-flag" title="Errors are grouped by the file of this frame">first frame</span>'
    : '';
  return `<li${set}><span class="frame-text"><span class="frame-name">${escape(name || '(anonymous)')}</span> ${place}</span>${flag}${hasCode(row['value']) ? '' : source(row['source'])}${values(row['value'], mark)}</li>`;
}

const hasCode = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && list((value as Fields)['code']).length > 0;

function drawn(row: Fields): string {
  if (row['kind'] === 'note') return `<li class="frame-note">${escape(row['text'])}</li>`;
  if (row['kind'] !== 'fold') return frame(row);
  const inside = list(row['frames']).map(frame).join('');
  return `<li class="frame-fold"><details><summary>${CHEVRON} ${escape(row['label'])}</summary><ol class="frames">${inside}</ol></details></li>`;
}

function part(node: Fields): string {
  const relation = plain(node['relation']);
  const before = relation === '' ? '' : `<span class="trace-relation">${escape(relation)}</span> `;
  const title = plain(node['title']);
  const head = before === '' && title === '' ? '' : `<p class="trace-title">${before}${escape(title)}</p>`;
  const rows = list(node['rows']).map(drawn).join('');
  const frames = rows === '' ? '' : `<ol class="frames">${rows}</ol>`;
  const inner = list(node['inner']).map((one) => `<li>${part(one)}</li>`);
  const below = inner.length === 0 ? '' : `<ul class="trace-inner">${inner.join('')}</ul>`;
  return `<div class="trace-part">${head}${frames}${below}</div>`;
}

function parts(...args: unknown[]): Html {
  const { values, hash } = split(args);
  const all = list(values[0]).map(part);
  if (all.length === 0) return new Html('');
  const set = attributes({ class: 'trace-parts', role: 'group', 'aria-label': plain(hash['label']) || 'Stack trace' });
  return new Html(`<div${set}>${all.join('')}</div>`);
}

export const traces: Record<string, Helper> = { 'stack-parts': parts };
