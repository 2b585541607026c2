import { attributes, escape, Html, numeric, plain, split, type Helper } from './html.js';

function code(...args: unknown[]): Html {
  const { values, hash } = split(args);
  const value = values[0];
  const text = typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
  const set = attributes({ class: 'code', tabindex: 0, role: 'group', 'aria-label': plain(hash['label']) || 'Code' });
  return new Html(`<pre${set}><code>${escape(text)}</code></pre>`);
}

function trace(...args: unknown[]): Html {
  const { values, hash } = split(args);
  const mark = numeric(hash['mark']);
  const lines = plain(values[0])
    .replace(/\r\n?/g, '\n')
    .replace(/\n+$/, '')
    .split('\n')
    .map((line, i) => {
      const marked = i === mark;
      const note = marked ? '<span class="visually-hidden">(first frame) </span>' : '';
      return `<span class="${marked ? 'trace-line is-marked' : 'trace-line'}">${note}${escape(line)}\n</span>`;
    })
    .join('');
  const set = attributes({
    class: 'code trace',
    tabindex: 0,
    role: 'group',
    'aria-label': plain(hash['label']) || 'Stack trace',
  });
  return new Html(`<pre${set}><code>${lines}</code></pre>`);
}

function prose(value: unknown): Html {
  const parts = plain(value).split(/`([^`\n]+)`/);
  return new Html(parts.map((part, i) => (i % 2 === 1 ? `<code>${escape(part)}</code>` : escape(part))).join(''));
}

function copy(...args: unknown[]): Html {
  const { values, hash } = split(args);
  const text = plain(values[0]);
  const label = plain(hash['label']) || 'Copy the command';
  const button = attributes({
    type: 'button',
    class: 'btn btn-sm btn-action',
    'data-copy': text,
    'aria-label': label,
    title: label,
  });
  return new Html(
    `<div class="copy"><pre tabindex="0"><code>${escape(text)}</code></pre><button${button} hidden><svg class="icon" width="20" height="20" aria-hidden="true"><use href="/assets/icons.svg#i-copy"></use></svg></button></div>`,
  );
}

export const blocks: Record<string, Helper> = { 'code-block': code, 'stack-trace': trace, 'copy-command': copy, prose };
