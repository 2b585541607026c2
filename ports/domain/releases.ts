/** The events of the update service (contract 40): `release.published` closes bug items (contract 20). */
import { event } from '../token.js';

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
