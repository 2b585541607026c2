import type { ReceivedPullRequest } from '../../../ports/domain/forge-changes.js';
import type { BugDeps } from '../deps.js';

/** Returns the latest state of a pull request that a forge delivered, or null. */
export async function findPullRequest(
  { pullRequests }: Pick<BugDeps, 'pullRequests'>,
  project: string,
  url: string,
): Promise<ReceivedPullRequest | null> {
  for (const forge of pullRequests()) {
    const found = await forge.find(project, url);
    if (found !== null) return found;
  }
  return null;
}
