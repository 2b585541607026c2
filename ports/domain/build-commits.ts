/** The commits that a published version brought (contract 90, packager; beyond it: releases on the timeline). */
import { token } from '../token.js';

/** A commit, in the words of git. Its texts come from whoever wrote it. */
export interface BuildCommit {
  /** The hash, hex. */
  id: string;
  author_name: string | null;
  /** RFC 3339 in UTC; null: not known. */
  timestamp: string | null;
  /** The first line. */
  message: string;
  /** Paths from the root of the repository, with slashes. */
  files: string[];
}

export interface BuildCommits {
  /** As `git log` was asked, such as `1.3.0..HEAD`; null: not said. */
  range: string | null;
  /** Newest first. */
  commits: BuildCommit[];
  /** There were more commits, or longer ones, than are kept. */
  truncated: boolean;
}

/** What the bug tracker keeps of them, so that an item can name who may have brought its error. */
export interface BuildHistory {
  /** Takes the place of what was kept of the version; cut to what is kept, and scrubbed. Resolves after the commit. */
  keep(project: string, version: string, given: BuildCommits): Promise<BuildCommits>;
  /** Null: nobody told them. */
  of(project: string, version: string): Promise<BuildCommits | null>;
}

export const BUILD_HISTORY = token<BuildHistory>('bugs.build_history');
