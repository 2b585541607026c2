/** External text is escaped and never linked. */
import { renderAttributes, escapeHtml, Html, toText, splitArguments, type Helper } from './html.js';
import { renderTree } from './tree.js';

type Fields = Record<string, unknown>;
const toFieldsList = (value: unknown): Fields[] => (Array.isArray(value) ? (value as Fields[]) : []);

const CHEVRON =
  '<svg class="icon icon-sm" width="20" height="20" aria-hidden="true"><use href="/assets/icons.svg#i-chevron-right"></use></svg>';

function renderSource(lines: unknown): string {
  const all = Array.isArray(lines) ? lines.map(toText) : [];
  if (all.length === 0) return '';
  const indent = Math.min(...all.map((line) => /^[|\s]*/.exec(line)?.[0].length ?? 0));
  return `<code class="frame-source">${escapeHtml(all.map((line) => line.slice(indent)).join('\n'))}</code>`;
}

function renderCode(lines: unknown): string {
  const all = toFieldsList(lines);
  if (all.length === 0) return '';
  const drawn = all.map(({ at, text, here }) => {
    const set = renderAttributes({ class: here === true ? 'code-line is-here' : 'code-line' });
    return `<span${set}><span class="code-at">${escapeHtml(at)}</span>${escapeHtml(text)}\n</span>`;
  });
  return `<pre class="frame-code" tabindex="0"><code>${drawn.join('')}</code></pre>`;
}

function renderDetails(value: unknown, mark: boolean): string {
  const { code: lines, locals } = (typeof value === 'object' && value !== null ? value : {}) as Fields;
  const shown = renderCode(lines);
  const names = typeof locals === 'object' && locals !== null ? Object.keys(locals).length : 0;
  const tree = names === 0 ? '' : renderTree(locals as object);
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

function renderFrame(row: Fields): string {
  const mark = row['mark'] === true;
  const set = renderAttributes({
    class: `frame${mark ? ' is-marked' : ''}${row['library'] === null ? '' : ' is-library'}`,
  });
  const name = toText(row['name']);
  const file = toText(row['file']);
  const place =
    file === ''
      ? ''
      : `<span class="frame-at"><span class="frame-folder">${escapeHtml(row['folder'])}</span>${escapeHtml(file)}<span class="frame-line">${escapeHtml(row['at'])}</span></span>`;
  const flag = mark
    ? '<span class="frame-flag" title="Errors are grouped by the file of this frame">first frame</span>'
    : '';
  return `<li${set}><span class="frame-text"><span class="frame-name">${escapeHtml(name || '(anonymous)')}</span> ${place}</span>${flag}${hasCode(row['value']) ? '' : renderSource(row['source'])}${renderDetails(row['value'], mark)}</li>`;
}

const hasCode = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && toFieldsList((value as Fields)['code']).length > 0;

function renderRow(row: Fields): string {
  if (row['kind'] === 'note') return `<li class="frame-note">${escapeHtml(row['text'])}</li>`;
  if (row['kind'] !== 'fold') return renderFrame(row);
  const inside = toFieldsList(row['frames']).map(renderFrame).join('');
  return `<li class="frame-fold"><details><summary>${CHEVRON} ${escapeHtml(row['label'])}</summary><ol class="frames">${inside}</ol></details></li>`;
}

function renderPart(node: Fields): string {
  const relation = toText(node['relation']);
  const before = relation === '' ? '' : `<span class="trace-relation">${escapeHtml(relation)}</span> `;
  const title = toText(node['title']);
  const head = before === '' && title === '' ? '' : `<p class="trace-title">${before}${escapeHtml(title)}</p>`;
  const rows = toFieldsList(node['rows']).map(renderRow).join('');
  const frames = rows === '' ? '' : `<ol class="frames">${rows}</ol>`;
  const inner = toFieldsList(node['inner']).map((one) => `<li>${renderPart(one)}</li>`);
  const below = inner.length === 0 ? '' : `<ul class="trace-inner">${inner.join('')}</ul>`;
  return `<div class="trace-part">${head}${frames}${below}</div>`;
}

function renderStackParts(...args: unknown[]): Html {
  const { values, hash } = splitArguments(args);
  const all = toFieldsList(values[0]).map(renderPart);
  if (all.length === 0) return new Html('');
  const set = renderAttributes({
    class: 'trace-parts',
    role: 'group',
    'aria-label': toText(hash['label']) || 'Stack trace',
  });
  return new Html(`<div${set}>${all.join('')}</div>`);
}

export const traceHelpers: Record<string, Helper> = { 'stack-parts': renderStackParts };
