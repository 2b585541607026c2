import { attributes, escape, Html, plain, split, type Helper } from './html.js';
import { labelOf } from './logic.js';

type Query = Record<string, unknown>;

export function url(path: string, query: Query = {}, change: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...query, ...change })) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== undefined && one !== '') search.append(name, plain(one));
    }
  }
  const text = search.toString();
  return text === '' ? path : `${path}?${text}`;
}

/**
 * Returns an absolute http(s) URL, else null: external values may be `javascript:`, `data:` or
 * `//x`.
 */
export function safeUrl(value: unknown): string | null {
  const text = plain(value).trim();
  if (!/^https?:\/\//i.test(text)) return null;
  try {
    return new URL(text).href;
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

function pageUrl(...args: unknown[]): string {
  const { values, hash } = split(args);
  const query = values[1];
  return url(plain(values[0]), typeof query === 'object' && query !== null ? (query as Query) : {}, hash);
}

function external(...args: unknown[]): Html {
  const { values, hash } = split(args);
  const target = safeUrl(values[0]);
  const shown = escape(hash['text'] ?? values[0]);
  if (target === null) return new Html(shown);
  const set = attributes({ href: target, rel: 'noopener noreferrer nofollow', target: '_blank', class: 'external' });
  return new Html(`<a${set}>${shown}<span class="visually-hidden"> (opens a new tab)</span></a>`);
}

function chips(...args: unknown[]): { label: string; value: string; href: string }[] {
  const { values: own, hash: named, root } = split(args);
  const [path, given, labels] = own;
  const chosen = chosenIn(root);
  const query = typeof given === 'object' && given !== null ? (given as Query) : {};
  const pairs = Array.isArray(labels) ? labels.map(plain) : [];
  return pairs.flatMap((name, at) => {
    if (at % 2 === 1) return [];
    const label = pairs[at + 1] ?? name;
    const values = listed(query[name]);
    if (chosen !== null && BY_PROJECT.has(name) && values.length === 1 && values[0] === chosen) return [];
    return values.map((value, i) => ({
      label,
      value: plain(labelOf(named[name], value)),
      href: url(plain(path), query, { cursor: null, [name]: values.filter((_, j) => j !== i) }),
    }));
  });
}

const BY_PROJECT: ReadonlySet<string> = new Set(['project', 'product', 'project_slug']);

function chosenIn(root: Record<string, unknown>): string | null {
  const bar = root['project_bar'] as { chosen?: { slug?: unknown } | null } | null | undefined;
  return typeof bar?.chosen?.slug === 'string' ? bar.chosen.slug : null;
}

const listed = (value: unknown): string[] =>
  [value]
    .flat()
    .map(plain)
    .filter((text) => text !== '');

const among = (given: unknown, value: unknown): boolean => listed(given).includes(plain(value));

const firstOf = (given: unknown): string => listed(given)[0] ?? '';

const countOf = (given: unknown): number => listed(given).length;

export function current(target: unknown, path: unknown): boolean {
  const at = plain(path);
  return [target]
    .flat()
    .map(plain)
    .some((to) => at === to || (to !== '/' && at.startsWith(`${to}/`)));
}

export const links: Record<string, Helper> = {
  'page-url': pageUrl,
  'external-link': external,
  'is-current': current,
  'chips-of': chips,
  among,
  'first-of': firstOf,
  'count-of': countOf,
};
