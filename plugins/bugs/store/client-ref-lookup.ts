/** For `q` (contract 20, endpoints: a `q` that is one finds its item). */
import type { BugDeps } from '../deps.js';
import { hashWithinProject } from '../item/document-ids.js';
import { toPublicRefId } from './client-refs.js';

const CHUNK_SIZE = 200;

type RefLookupDeps = Pick<BugDeps, 'refs' | 'projects'>;

/**
 * Returns those created by or counted for such reports. A project has two references: of tokens and
 * of intake keys.
 * @param only project slugs; default: all projects
 */
export async function findIdsByClientRef(
  { refs, projects }: RefLookupDeps,
  ref: string,
  only?: readonly string[],
): Promise<string[]> {
  const slugs = only ?? (await projects.list()).map(({ slug }) => slug);
  const known = slugs.flatMap((slug) => [hashWithinProject(slug, ref), toPublicRefId(slug, ref)]);
  const ids = new Set<string>();
  for (let from = 0; from < known.length; from += CHUNK_SIZE) {
    const chunk = known.slice(from, from + CHUNK_SIZE);
    const { items } = await refs.find({ filter: { id: { in: chunk } }, limit: CHUNK_SIZE });
    for (const { item_id } of items) ids.add(item_id);
  }
  return [...ids];
}
