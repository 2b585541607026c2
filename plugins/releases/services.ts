import type { Instances, PluginContext } from '../../kernel/contract.js';
import { UpdateCheckService } from './asking/asking.js';
import { StoredManifests } from './asking/manifest-texts.js';
import { ReleaseIndex } from './asking/release-index.js';
import { DEPS, type ReleaseDeps } from './deps.js';
import { ReleaseDirectoryAdapter } from './directory.js';
import { ReleaseLists } from './lists.js';
import { ReleaseChanges } from './publishing/changes.js';
import { ChannelDocuments } from './publishing/channel-documents.js';
import { CrashCheck } from './publishing/crash-check.js';
import { RolloutHalter } from './publishing/halting.js';
import { LatestFiles } from './publishing/latest-files.js';
import { Publisher } from './publishing/publisher.js';
import { Reconciler } from './publishing/reconciler.js';
import { ReleaseDocs } from './publishing/release-docs.js';
import { ReleaseResigner } from './publishing/resigning.js';
import { Uploads } from './publishing/uploads.js';
import { ReleaseStamps } from './stamps.js';

const SERVICES = {
  asking: UpdateCheckService,
  index: ReleaseIndex,
  lists: ReleaseLists,
  directory: ReleaseDirectoryAdapter,
  docs: ReleaseDocs,
  manifests: StoredManifests,
  channels: ChannelDocuments,
  publisher: Publisher,
  uploads: Uploads,
  changes: ReleaseChanges,
  crashes: CrashCheck,
  halting: RolloutHalter,
  reconciler: Reconciler,
  resigning: ReleaseResigner,
  latest: LatestFiles,
  stamps: ReleaseStamps,
};

export type ReleaseServices = Instances<typeof SERVICES> & { deps: ReleaseDeps };

export function buildServices(scope: Pick<PluginContext, 'bind' | 'services'>, deps: ReleaseDeps): ReleaseServices {
  scope.bind(DEPS, deps);
  return { ...scope.services(SERVICES), deps };
}
