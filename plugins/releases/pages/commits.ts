/** The commits of a release for its page; their texts are external input. */
import type { BuildCommit } from '../../../ports/domain/releases.js';
import type { ReleaseDoc } from '../model.js';
import type { ReleaseServices } from '../services.js';

const SHOWN = 50;
const FILES = 5;

export interface ShownCommits {
  range: string | null;
  total: number;
  commits: object[];
  more: boolean;
}

export async function listShownCommits({ deps }: ReleaseServices, doc: ReleaseDoc): Promise<ShownCommits | undefined> {
  const told = await deps.history()?.of(doc.product, doc.version);
  if (!told) return undefined;
  const { range, commits, truncated } = told;
  return {
    range,
    total: commits.length,
    commits: commits.slice(0, SHOWN).map(shownCommit),
    more: truncated || commits.length > SHOWN,
  };
}

const shownCommit = ({ id, author_name, timestamp, message, files }: BuildCommit): object => ({
  short: id.slice(0, 10),
  author_name,
  timestamp,
  message,
  files: files.slice(0, FILES),
  more_files: Math.max(0, files.length - FILES),
});
