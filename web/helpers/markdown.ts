/**
 * HTML is shown as text and links lead only to web addresses. Only guides (`base` is given) have
 * images: in external text an image would reveal the reader to its host.
 */
import MarkdownIt, { type Env, type Token } from 'markdown-it';
import { BoundedMap } from '../../lib/bounded-map.js';
import { AnchorGenerator } from '../../ports/manual.js';
import { renderAttributes, escapeHtml, Html, toText, splitArguments, type Helper } from './html.js';

interface DocumentOrigin {
  /** Base URL of the guides, `/docs/`; null: external text. */
  base: string | null;
  folder: string;
}

const EXTERNAL_ORIGIN: DocumentOrigin = { base: null, folder: '' };
const getOrigin = (env: Env | undefined): DocumentOrigin =>
  (env?.['origin'] as DocumentOrigin | undefined) ?? EXTERNAL_ORIGIN;
const getAttribute = (token: Token | undefined, name: string): string => String(token?.attrGet(name) ?? '');

const SCHEME_PATTERN = /^\s*[a-z][a-z0-9+.-]*:/i;
const WEB_PATTERN = /^\s*https?:/i;
const MAIL_PATTERN = /^\s*mailto:/i;

function resolvePath(folder: string, target: string): string | null {
  const parts: string[] = [];
  for (const part of `${folder}${target}`.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined) return null;
  }
  return parts.join('/');
}

function resolveHref(href: string, { base, folder }: DocumentOrigin): string | null {
  if (WEB_PATTERN.test(href) || (base !== null && MAIL_PATTERN.test(href))) return href;
  if (base === null || SCHEME_PATTERN.test(href)) return null;
  if (/^[#/]/.test(href)) return href;
  const [path = '', anchor] = href.split('#');
  const page = resolvePath(folder, path);
  if (page === null || !page.endsWith('.md')) return null;
  return `${base}${page.slice(0, -'.md'.length)}${anchor === undefined ? '' : `#${anchor}`}`;
}

const markdown = new MarkdownIt({ html: false });
markdown.validateLink = (url) => !SCHEME_PATTERN.test(url) || WEB_PATTERN.test(url) || MAIL_PATTERN.test(url);

/** Inline parsing limit per paragraph, because some texts take quadratic time. */
const MAX_INLINE_CHARACTERS = 2048;

markdown.core.ruler.before('inline', 'lengths', ({ tokens, env }) => {
  if (getOrigin(env).base !== null) return;
  for (const token of tokens) {
    if (token.type !== 'inline' || token.content.length <= MAX_INLINE_CHARACTERS) continue;
    // Prevents inline parsing of this token.
    token.type = 'text_whole';
  }
});
/** Cells per table: a row of a single `|` has as many cells as its heading. */
const MAX_TABLE_CELLS = 500;
const DELIMITER_ROW_PATTERN = /^[|: \t]*-[|:\- \t]*$/;

// A table over the limit is shown as text, up to the next empty line.
markdown.block.ruler.before(
  'table',
  'large_table',
  (state, startLine, endLine, silent) => {
    const lineOf = (line: number): string => state.src.slice(state.bMarks[line], state.eMarks[line]);
    if (getOrigin(state.env).base !== null || startLine + 2 > endLine) return false;
    const delimiters = lineOf(startLine + 1);
    if (!DELIMITER_ROW_PATTERN.test(delimiters) || !lineOf(startLine).includes('|')) return false;
    const most = MAX_TABLE_CELLS / (delimiters.match(/-+/g) ?? ['']).length;
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

markdown.renderer.rules['text_whole'] = (tokens, at) => escapeHtml(tokens[at]?.content ?? '').replaceAll('\n', '<br>');

markdown.core.ruler.push('addresses', ({ tokens, env }) => {
  const origin = getOrigin(env);
  const anchors = new AnchorGenerator();
  tokens.forEach((token, at) => {
    if (token.type === 'heading_open' && origin.base !== null) {
      token.attrSet('id', anchors.createAnchor((tokens[at + 1]?.content ?? '').replaceAll('`', '')));
    }
    const open: boolean[] = [];
    for (const child of token.children ?? []) {
      if (child.type === 'link_open') {
        const href = resolveHref(getAttribute(child, 'href'), origin);
        open.push(href !== null);
        child.attrs = href === null ? null : [['href', href]];
        if (href === null) child.tag = 'span';
        else if (WEB_PATTERN.test(href)) child.attrSet('rel', 'noopener noreferrer nofollow');
      } else if (child.type === 'link_close' && open.pop() === false) child.tag = 'span';
    }
  });
});

markdown.renderer.rules.image = (tokens, at, _options, env) => {
  const { base, folder } = getOrigin(env);
  const alt = tokens[at]?.content ?? '';
  const src = getAttribute(tokens[at], 'src');
  const path = SCHEME_PATTERN.test(src) ? null : resolvePath(folder, src);
  if (base === null || path === null) return escapeHtml(alt);
  const img = (more: Record<string, string>): string =>
    `<img${renderAttributes({ src: `${base}${path}`, alt, ...more, loading: 'lazy' })}>`;
  // Each screen has two pictures (`npm run pictures`); the hidden one is not loaded.
  if (!path.endsWith('.png')) return img({});
  return `${img({ class: 'when-light' })}${img({ src: `${base}${path.slice(0, -4)}-dark.png`, class: 'when-dark' })}`;
};
markdown.renderer.rules.table_open = () => '<div class="table-responsive"><table class="table table-vcenter">';
markdown.renderer.rules.table_close = () => '</table></div>';
markdown.renderer.rules.fence = (tokens, at) =>
  `<pre class="code" tabindex="0"><code>${escapeHtml(tokens[at]?.content ?? '')}</code></pre>`;

const guideCache = new BoundedMap<{ text: string; html: Html }>({ most: 20 });

function renderMarkdown(...args: unknown[]): Html {
  const { values, hash } = splitArguments(args);
  const text = toText(values[0]);
  const [base, page] = [toText(hash['base']), toText(hash['page'])];
  if (base === '') return renderText(text, EXTERNAL_ORIGIN);
  const known = guideCache.get(page);
  if (known?.text === text) return known.html;
  const html = renderText(text, { base, folder: page.slice(0, page.lastIndexOf('/') + 1) });
  guideCache.set(page, { text, html });
  return html;
}

const renderText = (text: string, origin: DocumentOrigin): Html =>
  new Html(`<div class="markdown">${markdown.render(text, { origin })}</div>`);

export const markdownHelpers: Record<string, Helper> = { markdown: renderMarkdown };
