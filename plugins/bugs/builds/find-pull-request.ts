import type { ReceivedPullRequest } from '../../../ports/domain/forge-changes.js';
import type { BugDeps } from '../deps.js';

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
