/**
 * A stack trace drawn from its parts (plugins/bugs/pages/trace.ts makes them). A helper and no template, because a
 * trace has up to some hundred frames and a page shows several. Text from outside: escaped, never a link.
 */
import { attributes, escape, Html, plain, split, type Helper } from './html.js';

type Fields = Record<string, unknown>;
const list = (value: unknown): Fields[] => (Array.isArray(value) ? (value as Fields[]) : []);

const CHEVRON =
  '<svg class="icon icon-sm" width="20" height="20" aria-hidden="true"><use href="/assets/icons.svg#i-chevron-right"></use></svg>';

/** Code that came with a frame, without the indentation that all its lines share. */
function source(lines: unknown): string {
  const all = Array.isArray(lines) ? lines.map(plain) : [];
  if (all.length === 0) return '';
  const indent = Math.min(...all.map((line) => /^[|\s]*/.exec(line)?.[0].length ?? 0));
  return `<code class="frame-source">${escape(all.map((line) => line.slice(indent)).join('\n'))}</code>`;
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
  return `<li${set}><span class="frame-text"><span class="frame-name">${escape(name || '(anonymous)')}</span> ${place}</span>${flag}${source(row['source'])}</li>`;
}

function drawn(row: Fields): string {
  if (row['kind'] === 'note') return `<li class="frame-note">${escape(row['text'])}</li>`;
  if (row['kind'] !== 'fold') return frame(row);
  const inside = list(row['frames']).map(frame).join('');
  return `<li class="frame-fold"><details><summary>${CHEVRON} ${escape(row['label'])}</summary><ol class="frames">${inside}</ol></details></li>`;
}

/** `{{stack-parts parts label="Stack trace"}}`: parts `[{relation, title, rows}]`; nothing for none. */
function parts(...args: unknown[]): Html {
  const { values, hash } = split(args);
  const all = list(values[0]).map((part) => {
    const relation = plain(part['relation']);
    const before = relation === '' ? '' : `<span class="trace-relation">${escape(relation)}</span> `;
    const title = plain(part['title']);
    const head = before === '' && title === '' ? '' : `<p class="trace-title">${before}${escape(title)}</p>`;
    return `<div class="trace-part">${head}<ol class="frames">${list(part['rows']).map(drawn).join('')}</ol></div>`;
  });
  if (all.length === 0) return new Html('');
  const set = attributes({ class: 'trace-parts', role: 'group', 'aria-label': plain(hash['label']) || 'Stack trace' });
  return new Html(`<div${set}>${all.join('')}</div>`);
}

export const traces: Record<string, Helper> = { 'stack-parts': parts };
