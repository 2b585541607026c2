/**
 * Finds the items that reporters know by a `client_ref` of their own (contract 20, endpoints: a `q` that is one finds
 * its item).
 */
import type { BugDeps } from '../deps.js';
import { hashWithinProject } from '../item/document-ids.js';
import { toPublicRefId } from './client-refs.js';

/** References in one query to the store. */
const CHUNK_SIZE = 200;

type Parts = Pick<BugDeps, 'refs' | 'projects'>;

/**
 * Ids of the items that reports with this `client_ref` made or were counted for. They are found by the ids of the
 * possible references: a project has two, its tokens' and its intake keys'.
 * @param only slugs of projects; absent: every project
 */
export async function findIdsByClientRef(
  { refs, projects }: Parts,
  ref: string,
  only?: readonly string[],
): Promise<string[]> {
  const slugs = only ?? (await projects.list()).map(({ slug }) => slug);
  const known = slugs.flatMap((slug) => [hashWithinProject(slug, ref), toPublicRefId(slug, ref)]);
  const ids = new Set<string>();
  for (let from = 0; from < known.length; from += CHUNK_SIZE) {
    const asked = known.slice(from, from + CHUNK_SIZE);
    const { items } = await refs.find({ filter: { id: { in: asked } }, limit: CHUNK_SIZE });
    for (const { item_id } of items) ids.add(item_id);
  }
  return [...ids];
}
