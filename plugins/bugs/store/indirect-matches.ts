/**
 * Items found by `client_ref`, description or comment (contract 20, endpoints); their few ids join
 * the filter.
 */
import type { BugDeps } from '../deps.js';
import { splitQueryWords, type ItemQuery } from '../item/filters.js';
import { toSearchTerm } from '../text/search-text.js';
import { findIdsByClientRef } from './client-ref-lookup.js';

const MAX_NAMED_ITEMS = 1000;
const MAX_REF_LENGTH = 200;

export type ItemLookupDeps = Pick<BugDeps, 'refs' | 'projects' | 'words'>;

/** @param query limited to the caller's projects, if any */
export async function addIndirectMatches(deps: ItemLookupDeps, query: ItemQuery): Promise<ItemQuery> {
  const texts = (query.q ?? []).map((text) => text.trim()).filter((text) => text !== '');
  if (texts.length === 0) return query;
  const found = await Promise.all(
    texts.flatMap((text) => [findByReference(deps, text, query.project), findBySearchText(deps, text, query.project)]),
  );
  return { ...query, named: [...new Set(found.flat())] };
}

const findByReference = async (deps: ItemLookupDeps, text: string, only?: readonly string[]): Promise<string[]> =>
  text.length > MAX_REF_LENGTH ? [] : findIdsByClientRef(deps, text, only);

async function findBySearchText(
  { words }: ItemLookupDeps,
  text: string,
  only: readonly string[] = [],
): Promise<string[]> {
  const queryWords = splitQueryWords(text);
  if (queryWords.length === 0) return [];
  const project = only.length === 0 ? undefined : { in: only };
  const filter = { ...(project && { project }), text: { contains: queryWords.map(toSearchTerm) } };
  const { items } = await words.find({ filter, sort: [['id', 'desc']], limit: MAX_NAMED_ITEMS });
  return items.map(({ id }) => id);
}
