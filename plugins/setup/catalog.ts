import { inject, injectable } from '../../kernel/contract/index.js';
import { PROJECTS, type ProjectDirectory } from '../../ports/domain/projects.js';
import type { CatalogChannel, ReleaseDirectory } from '../../ports/domain/releases.js';
import { token } from '../../ports/token.js';

/** The release directory; undefined while its plugin is disabled or has failed. */
export const RELEASE_DIRECTORY = token<() => ReleaseDirectory | undefined>('setup.releases_now');

export interface CatalogProject {
  slug: string;
  name: string;
  description: string | null;
  channels: Omit<CatalogChannel, 'runtime' | 'has_setup'>[];
  /** Of the stable channel, otherwise the first. */
  requires_runtime: CatalogChannel['runtime'];
  has_setup: boolean;
}

@injectable()
export class SetupCatalog {
  constructor(
    @inject(PROJECTS) private readonly projects: ProjectDirectory,
    @inject(RELEASE_DIRECTORY) private readonly releases: () => ReleaseDirectory | undefined,
  ) {}

  /** Sorted by slug, without archived projects and those without a package for the platform. */
  async listForPlatform(platform: string): Promise<CatalogProject[]> {
    const releases = this.releases();
    if (releases === undefined) return [];
    const list: CatalogProject[] = [];
    for (const { slug, name, description, archived } of await this.projects.list()) {
      const channels = archived ? [] : await releases.listChannels(slug, platform);
      const first = channels.find(({ channel }) => channel === 'stable') ?? channels[0];
      if (first === undefined) continue;
      const shown = channels.map(({ runtime: _runtime, has_setup: _setup, ...channel }) => channel);
      const { runtime, has_setup } = first;
      list.push({ slug, name, description, channels: shown, requires_runtime: runtime, has_setup });
    }
    return list;
  }
}
