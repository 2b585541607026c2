/** What the update service offers the others (contract 40), and the event that closes bug items (contract 20). */
import { event, token } from '../token.js';

export interface ReleasePublished {
  product: string;
  version: string;
  /** The build name given at publishing, which `resolved_in_build` may name instead of the version. */
  build: string | null;
  channel: string;
  platform: string;
  signed: boolean;
  /** The first 100 closed items' ids. */
  closed_items: readonly string[];
  closed_count: number;
}

export const RELEASE_PUBLISHED = event<ReleasePublished>('release.published');

export interface ReleaseDirectory {
  /** Versions (and their build names) published for a project and not withdrawn. */
  published(project: string): Promise<readonly { version: string; build: string | null }[]>;
  /** The highest published version, or null. */
  latest(project: string): Promise<string | null>;
}

export const RELEASES = token<ReleaseDirectory>('releases.directory');
