/**
 * Update service and release store (contract 40): machines ask for the newest release, administrators and CI publish,
 * withdraw, promote and roll out, and the store's access files decide who may download.
 */
import { definePlugin, extend } from '../../kernel/contract.js';
import { AUDIT } from '../../ports/domain/access.js';
import { BUGS } from '../../ports/domain/bugs.js';
import { PROJECT_USAGE, PROJECTS } from '../../ports/domain/projects.js';
import { RELEASE_HALTED, RELEASE_PUBLISHED } from '../../ports/domain/releases.js';
import { COLLECTIONS } from './collections.js';
import { releasesConfig, type ReleasesConfig } from './config.js';
import type { ReleaseDoc } from './model.js';

export default definePlugin<ReleasesConfig>({
  id: 'releases',
  version: '1.0.0',
  api: 1,
  title: 'Update service and release store',
  needs: [AUDIT.name, PROJECTS.name],
  uses: [BUGS.name],
  extends: [PROJECT_USAGE.point],
  config: releasesConfig,
  scopes: ['updateservice:publish'],
  events: [RELEASE_PUBLISHED.event, RELEASE_HALTED.event],
  collections: COLLECTIONS,
  from: import.meta.url,
  setup(ctx) {
    const releases = ctx.collection<ReleaseDoc>('releases');
    const published = async (product: string): Promise<boolean> =>
      (await releases.find({ filter: { product }, limit: 1 })).items.length > 0;
    return {
      extensions: [extend(PROJECT_USAGE, { noun: 'releases', inUse: published })],
    };
  },
});
