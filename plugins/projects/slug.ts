import { SLUG_PATTERN } from './project.js';

const MAX_SLUG_LENGTH = 64;
const FALLBACK_SLUG = 'project';

/** Returns `web-shop` for `Web Shöp`; `project` when the name has no letter or digit of a slug. */
export function toSlug(name: string): string {
  const slug = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll('ß', 'ss')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_SLUG_LENGTH)
    .replaceAll(/^-+|-+$/g, '');
  return SLUG_PATTERN.test(slug) ? slug : FALLBACK_SLUG;
}

/** Returns the slug of the name that is free: `shop`, `shop-2`, … */
export async function findFreeSlug(name: string, isTaken: (slug: string) => Promise<boolean>): Promise<string> {
  const base = toSlug(name);
  for (let n = 1; ; n++) {
    const suffix = n === 1 ? '' : `-${n}`;
    const slug = `${base.slice(0, MAX_SLUG_LENGTH - suffix.length)}${suffix}`;
    if (!(await isTaken(slug))) return slug;
  }
}
