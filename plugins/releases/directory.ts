/** Offered by the setup service before an installation, from memory (contract 60, catalog). */
import { inject, injectable } from '../../kernel/contract/index.js';
import type { CatalogChannel, ReleaseDirectory } from '../../ports/domain/releases.js';
import { getLatestRelease } from './update-check/channel-releases.js';
import { ReleaseIndex } from './update-check/release-index.js';
import { isPlatform } from '../../lib/formats/platform.js';

@injectable()
export class ReleaseDirectoryAdapter implements ReleaseDirectory {
  constructor(@inject(ReleaseIndex) private readonly index: ReleaseIndex) {}

  async listChannels(product: string, platform: string): Promise<CatalogChannel[]> {
    if (!isPlatform(platform)) return [];
    await this.index.ensureCurrent();
    return this.index.listChannels(product).flatMap((channel) => {
      const release = getLatestRelease(this.index.getChannel(product, channel).views[platform]);
      if (release === null) return [];
      const { version, published_at, package_size, runtime, has_setup } = release;
      const signed = release.manifest_signature !== null;
      return [{ channel, version, platform: release.platform, published_at, package_size, signed, runtime, has_setup }];
    });
  }

  async listProducts(): Promise<string[]> {
    await this.index.ensureCurrent();
    const offers = (product: string): boolean =>
      this.index
        .listChannels(product)
        .some((channel) =>
          [...this.index.getChannel(product, channel).releases.listAll()].some(
            ({ withdrawn_at }) => withdrawn_at === null,
          ),
        );
    return this.index.listProducts().filter(offers).toSorted();
  }
}
