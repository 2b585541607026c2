/** What the inventory of machines compares their versions with. */
import { isVersion } from '../../../lib/versions.js';
import { PLATFORMS } from '../../../lib/formats/platform.js';
import type { MachineReleases } from '../../../ports/domain/machines/inventory.js';
import { getLatestRelease } from './channel-releases.js';
import type { ReleaseIndex } from './release-index.js';

const PREFERRED_CHANNEL = 'stable';

export const createMachineReleases = (index: Pick<ReleaseIndex, 'listChannels' | 'getChannel'>): MachineReleases => ({
  listNewest: (project) =>
    index.listChannels(project).flatMap((channel) => {
      const { views } = index.getChannel(project, channel);
      return PLATFORMS.flatMap((platform) => {
        const latest = getLatestRelease(views[platform]);
        return latest === null ? [] : [{ channel, platform, version: latest.version }];
      });
    }),
  findChannel: (project, version) => {
    if (!isVersion(version)) return null;
    const channels = index.listChannels(project).filter((channel) => {
      const { releases } = index.getChannel(project, channel);
      return PLATFORMS.some((platform) => releases.find(version, platform) !== undefined);
    });
    return channels.find((channel) => channel === PREFERRED_CHANNEL) ?? channels.toSorted()[0] ?? null;
  },
});
