import type { BuildCommit } from '../../../ports/domain/releases.js';
import type { ReleaseDoc } from '../model.js';
import type { ReleaseServices } from '../services.js';

const MAX_SHOWN_COMMITS = 50;
const MAX_SHOWN_FILES = 5;

export interface ShownCommits {
  range: string | null;
  total: number;
  commits: object[];
  more: boolean;
}

export async function listShownCommits({ deps }: ReleaseServices, doc: ReleaseDoc): Promise<ShownCommits | undefined> {
  const buildCommits = await deps.history()?.find(doc.product, doc.version);
  if (!buildCommits) return undefined;
  const { range, commits, truncated } = buildCommits;
  return {
    range,
    total: commits.length,
    commits: commits.slice(0, MAX_SHOWN_COMMITS).map(toShownCommit),
    more: truncated || commits.length > MAX_SHOWN_COMMITS,
  };
}

const toShownCommit = ({ id, author_name, timestamp, message, files }: BuildCommit): object => ({
  short: id.slice(0, 10),
  author_name,
  timestamp,
  message,
  files: files.slice(0, MAX_SHOWN_FILES),
  more_files: Math.max(0, files.length - MAX_SHOWN_FILES),
});
