import { renderAttributes, escapeHtml, Html, toNumber, toText, splitArguments, type Helper } from './html.js';

function renderCodeBlock(...args: unknown[]): Html {
  const { values, hash } = splitArguments(args);
  const value = values[0];
  const text = typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
  const set = renderAttributes({
    class: 'code',
    tabindex: 0,
    role: 'group',
    'aria-label': toText(hash['label']) || 'Code',
  });
  return new Html(`<pre${set}><code>${escapeHtml(text)}</code></pre>`);
}

function renderStackTrace(...args: unknown[]): Html {
  const { values, hash } = splitArguments(args);
  const mark = toNumber(hash['mark']);
  const lines = toText(values[0])
    .replace(/\r\n?/g, '\n')
    .replace(/\n+$/, '')
    .split('\n')
    .map((line, i) => {
      const marked = i === mark;
      const note = marked ? '<span class="visually-hidden">(first frame) </span>' : '';
      return `<span class="${marked ? 'trace-line is-marked' : 'trace-line'}">${note}${escapeHtml(line)}\n</span>`;
    })
    .join('');
  const set = renderAttributes({
    class: 'code trace',
    tabindex: 0,
    role: 'group',
    'aria-label': toText(hash['label']) || 'Stack trace',
  });
  return new Html(`<pre${set}><code>${lines}</code></pre>`);
}

function renderProse(value: unknown): Html {
  const parts = toText(value).split(/`([^`\n]+)`/);
  return new Html(
    parts.map((part, i) => (i % 2 === 1 ? `<code>${escapeHtml(part)}</code>` : escapeHtml(part))).join(''),
  );
}

function renderCopyCommand(...args: unknown[]): Html {
  const { values, hash } = splitArguments(args);
  const text = toText(values[0]);
  const label = toText(hash['label']) || 'Copy the command';
  const button = renderAttributes({
    type: 'button',
    class: 'btn btn-sm btn-action',
    'data-copy': text,
    'aria-label': label,
    title: label,
  });
  return new Html(
    `<div class="copy"><pre tabindex="0"><code>${escapeHtml(text)}</code></pre><button${button} hidden><svg class="icon" width="20" height="20" aria-hidden="true"><use href="/assets/icons.svg#i-copy"></use></svg></button></div>`,
  );
}

export const codeHelpers: Record<string, Helper> = {
  'code-block': renderCodeBlock,
  'stack-trace': renderStackTrace,
  'copy-command': renderCopyCommand,
  prose: renderProse,
};
