import { renderAttributes, escapeHtml, Html, toText, splitArguments, type Helper } from './html.js';
import { getLabel } from './logic.js';

type Query = Record<string, unknown>;

export function buildUrl(path: string, query: Query = {}, change: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...query, ...change })) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== undefined && one !== '') search.append(name, toText(one));
    }
  }
  const text = search.toString();
  return text === '' ? path : `${path}?${text}`;
}

/** External values may be `javascript:`, `data:` or `//x`. */
export function toSafeUrl(value: unknown): string | null {
  const text = toText(value).trim();
  if (!/^https?:\/\//i.test(text)) return null;
  try {
    return new URL(text).href;
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

function buildPageUrl(...args: unknown[]): string {
  const { values, hash } = splitArguments(args);
  const query = values[1];
  return buildUrl(toText(values[0]), typeof query === 'object' && query !== null ? (query as Query) : {}, hash);
}

/** Tells whether a page serves the address: the plugin of its page may be switched off. */
function hasPage(...args: unknown[]): boolean {
  const { values, root } = splitArguments(args);
  const test = root['has_page'];
  const [path = ''] = toText(values[0]).split(/[?#]/);
  return typeof test !== 'function' || (test as (path: string) => boolean)(path);
}

function renderExternalLink(...args: unknown[]): Html {
  const { values, hash } = splitArguments(args);
  const target = toSafeUrl(values[0]);
  const shown = escapeHtml(hash['text'] ?? values[0]);
  if (target === null) return new Html(shown);
  const set = renderAttributes({
    href: target,
    rel: 'noopener noreferrer nofollow',
    target: '_blank',
    class: 'external',
  });
  return new Html(`<a${set}>${shown}<span class="visually-hidden"> (opens a new tab)</span></a>`);
}

function listFilterChips(...args: unknown[]): { label: string; value: string; href: string }[] {
  const { values: own, hash: named, root } = splitArguments(args);
  const [path, given, labels] = own;
  const chosen = getChosenProject(root);
  const query = typeof given === 'object' && given !== null ? (given as Query) : {};
  const pairs = Array.isArray(labels) ? labels.map(toText) : [];
  return pairs.flatMap((name, at) => {
    if (at % 2 === 1) return [];
    const label = pairs[at + 1] ?? name;
    const values = toTexts(query[name]);
    if (chosen !== null && PROJECT_PARAMETERS.has(name) && values.length === 1 && values[0] === chosen) return [];
    return values.map((value, i) => ({
      label,
      value: toText(getLabel(named[name], value)),
      href: buildUrl(toText(path), query, { cursor: null, [name]: values.filter((_, j) => j !== i) }),
    }));
  });
}

const PROJECT_PARAMETERS: ReadonlySet<string> = new Set(['project', 'product', 'project_slug']);

function getChosenProject(root: Record<string, unknown>): string | null {
  const bar = root['project_bar'] as { chosen?: { slug?: unknown } | null } | null | undefined;
  return typeof bar?.chosen?.slug === 'string' ? bar.chosen.slug : null;
}

const toTexts = (value: unknown): string[] =>
  [value]
    .flat()
    .map(toText)
    .filter((text) => text !== '');

const isAmong = (given: unknown, value: unknown): boolean => toTexts(given).includes(toText(value));

const getFirst = (given: unknown): string => toTexts(given)[0] ?? '';

const countValues = (given: unknown): number => toTexts(given).length;

export function isCurrent(target: unknown, path: unknown): boolean {
  const at = toText(path);
  return [target]
    .flat()
    .map(toText)
    .some((to) => at === to || (to !== '/' && at.startsWith(`${to}/`)));
}

export const linkHelpers: Record<string, Helper> = {
  'page-url': buildPageUrl,
  'external-link': renderExternalLink,
  'is-current': isCurrent,
  'has-page': hasPage,
  'chips-of': listFilterChips,
  among: isAmong,
  'first-of': getFirst,
  'count-of': countValues,
};
