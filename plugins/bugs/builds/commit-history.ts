/**
 * Commits of a version. The texts are external: truncated, scrubbed, and never followed as links.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import type { BuildCommit, BuildCommits, BuildHistory } from '../../../ports/domain/releases.js';
import { DEPS } from '../deps.js';
import { getVersionIdentity } from '../../../lib/versions.js';
import { hashWithinProject } from '../item/document-ids.js';
import { scrubText } from '../text/scrub-text.js';
import type { Clock } from '../../../ports/clock.js';
import type { CommitsDoc } from '../item/operation-documents.js';
import type { Collection } from '../../../ports/store/index.js';

export const MAX_COMMITS = 500;
export const MAX_FILES = 100;
const MAX_TOTAL_FILES = 5_000;
export const MAX_MESSAGE_LENGTH = 200;
const MAX_NAME_LENGTH = 100;
const MAX_PATH_LENGTH = 300;

@injectable()
export class CommitHistoryRepository implements BuildHistory {
  constructor(
    @inject(DEPS.commits) private readonly commits: Collection<CommitsDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
  ) {}

  async save(project: string, version: string, given: BuildCommits): Promise<BuildCommits> {
    const storedCommits = truncateCommits(given);
    const id = hashWithinProject(project, getVersionIdentity(version));
    await this.commits.bulk([{ put: { id, project, version, ...storedCommits, stored_at: this.clock.iso() } }]);
    return storedCommits;
  }

  async find(project: string, version: string): Promise<BuildCommits | null> {
    const found = await this.commits.get(hashWithinProject(project, getVersionIdentity(version)));
    return found && { range: found.range, commits: found.commits, truncated: found.truncated };
  }
}

/** Keeps the newest commits and as many files as fit. */
function truncateCommits({ range, commits, truncated }: BuildCommits): BuildCommits {
  let fileBudget = MAX_TOTAL_FILES;
  let cut = truncated || commits.length > MAX_COMMITS;
  const retainedCommits = commits.slice(0, MAX_COMMITS).map((one): BuildCommit => {
    const files = one.files.slice(0, Math.min(MAX_FILES, fileBudget));
    fileBudget -= files.length;
    cut ||= files.length < one.files.length;
    const name = one.author_name === null ? null : toFirstLine(one.author_name, MAX_NAME_LENGTH);
    return {
      id: one.id,
      author_name: name,
      timestamp: one.timestamp,
      message: toFirstLine(one.message, MAX_MESSAGE_LENGTH),
      files: files.map((path) => path.slice(0, MAX_PATH_LENGTH)),
    };
  });
  return { range, commits: retainedCommits, truncated: cut };
}

const toFirstLine = (text: string, most: number): string =>
  scrubText((text.split(/[\r\n]/, 1)[0] ?? '').slice(0, most * 2)).slice(0, most);
