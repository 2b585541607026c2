/**
 * Renders Markdown. HTML is shown as text and links lead only to web addresses. Only guides (`base`
 * is given) have images: in external text an image would reveal the reader to its host.
 */
import MarkdownIt, { type Env, type Token } from 'markdown-it';
import { BoundedMap } from '../../lib/bounded-map.js';
import { Anchors } from '../../ports/manual.js';
import { attributes, escape, Html, plain, split, type Helper } from './html.js';

interface Origin {
  /** Base URL of the guides, `/docs/`; null: external text. */
  base: string | null;
  folder: string;
}

const OUTSIDE: Origin = { base: null, folder: '' };
const originOf = (env: Env | undefined): Origin => (env?.['origin'] as Origin | undefined) ?? OUTSIDE;
const valueOf = (token: Token | undefined, name: string): string => String(token?.attrGet(name) ?? '');

const SCHEME = /^\s*[a-z][a-z0-9+.-]*:/i;
const WEB = /^\s*https?:/i;
const MAIL = /^\s*mailto:/i;

function resolved(folder: string, target: string): string | null {
  const parts: string[] = [];
  for (const part of `${folder}${target}`.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined) return null;
  }
  return parts.join('/');
}

function hrefOf(href: string, { base, folder }: Origin): string | null {
  if (WEB.test(href) || (base !== null && MAIL.test(href))) return href;
  if (base === null || SCHEME.test(href)) return null;
  if (/^[#/]/.test(href)) return href;
  const [path = '', anchor] = href.split('#');
  const page = resolved(folder, path);
  if (page === null || !page.endsWith('.md')) return null;
  return `${base}${page.slice(0, -'.md'.length)}${anchor === undefined ? '' : `#${anchor}`}`;
}

const markdown = new MarkdownIt({ html: false });
markdown.validateLink = (url) => !SCHEME.test(url) || WEB.test(url) || MAIL.test(url);

/** Inline parsing limit per paragraph, because some texts take quadratic time. */
const LONGEST_READ = 2048;

markdown.core.ruler.before('inline', 'lengths', ({ tokens, env }) => {
  if (originOf(env).base !== null) return;
  for (const token of tokens) {
    if (token.type !== 'inline' || token.content.length <= LONGEST_READ) continue;
    // Prevents inline parsing of this token.
    token.type = 'text_whole';
  }
});
/** Cells per table: a row of a single `|` has as many cells as its heading. */
const MOST_CELLS = 500;
const DELIMITERS = /^[|: \t]*-[|:\- \t]*$/;

// A table over the limit is shown as text, up to the next empty line.
markdown.block.ruler.before(
  'table',
  'large_table',
  (state, startLine, endLine, silent) => {
    const lineOf = (line: number): string => state.src.slice(state.bMarks[line], state.eMarks[line]);
    if (originOf(state.env).base !== null || startLine + 2 > endLine) return false;
    const delimiters = lineOf(startLine + 1);
    if (!DELIMITERS.test(delimiters) || !lineOf(startLine).includes('|')) return false;
    const most = MOST_CELLS / (delimiters.match(/-+/g) ?? ['']).length;
    let end = startLine + 2;
    while (end < endLine && !state.isEmpty(end)) end += 1;
    if (end - startLine <= most) return false;
    if (silent) return true;
    const token = state.push('text_whole', '', 0);
    token.content = state.getLines(startLine, end, state.blkIndent, false);
    token.block = true;
    state.line = end;
    return true;
  },
  { alt: ['paragraph', 'reference'] },
);

markdown.renderer.rules['text_whole'] = (tokens, at) => escape(tokens[at]?.content ?? '').replaceAll('\n', '<br>');

markdown.core.ruler.push('addresses', ({ tokens, env }) => {
  const origin = originOf(env);
  const anchors = new Anchors();
  tokens.forEach((token, at) => {
    if (token.type === 'heading_open' && origin.base !== null) {
      token.attrSet('id', anchors.of((tokens[at + 1]?.content ?? '').replaceAll('`', '')));
    }
    const open: boolean[] = [];
    for (const child of token.children ?? []) {
      if (child.type === 'link_open') {
        const href = hrefOf(valueOf(child, 'href'), origin);
        open.push(href !== null);
        child.attrs = href === null ? null : [['href', href]];
        if (href === null) child.tag = 'span';
        else if (WEB.test(href)) child.attrSet('rel', 'noopener noreferrer nofollow');
      } else if (child.type === 'link_close' && open.pop() === false) child.tag = 'span';
    }
  });
});

markdown.renderer.rules.image = (tokens, at, _options, env) => {
  const { base, folder } = originOf(env);
  const alt = tokens[at]?.content ?? '';
  const src = valueOf(tokens[at], 'src');
  const path = SCHEME.test(src) ? null : resolved(folder, src);
  if (base === null || path === null) return escape(alt);
  const img = (more: Record<string, string>): string =>
    `<img${attributes({ src: `${base}${path}`, alt, ...more, loading: 'lazy' })}>`;
  // Each screen has two pictures (`npm run pictures`); the hidden one is not loaded.
  if (!path.endsWith('.png')) return img({});
  return `${img({ class: 'when-light' })}${img({ src: `${base}${path.slice(0, -4)}-dark.png`, class: 'when-dark' })}`;
};
markdown.renderer.rules.table_open = () => '<div class="table-responsive"><table class="table table-vcenter">';
markdown.renderer.rules.table_close = () => '</table></div>';
markdown.renderer.rules.fence = (tokens, at) =>
  `<pre class="code" tabindex="0"><code>${escape(tokens[at]?.content ?? '')}</code></pre>`;

const guides = new BoundedMap<{ text: string; html: Html }>({ most: 20 });

function render(...args: unknown[]): Html {
  const { values, hash } = split(args);
  const text = plain(values[0]);
  const [base, page] = [plain(hash['base']), plain(hash['page'])];
  if (base === '') return written(text, OUTSIDE);
  const known = guides.get(page);
  if (known?.text === text) return known.html;
  const html = written(text, { base, folder: page.slice(0, page.lastIndexOf('/') + 1) });
  guides.set(page, { text, html });
  return html;
}

const written = (text: string, origin: Origin): Html =>
  new Html(`<div class="markdown">${markdown.render(text, { origin })}</div>`);

export const markdowns: Record<string, Helper> = { markdown: render };
