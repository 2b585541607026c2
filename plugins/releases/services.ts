import type { Instances, PluginContext } from '../../kernel/contract.js';
import { UpdateCheckService } from './asking/asking.js';
import { ManifestRepository } from './asking/manifest-texts.js';
import { ReleaseIndex } from './asking/release-index.js';
import { DEPS, type ReleaseDeps } from './deps.js';
import { ReleaseDirectoryAdapter } from './directory.js';
import { ReleaseListService } from './lists.js';
import { ReleaseChangeService } from './publishing/changes.js';
import { ChannelDocumentWriter } from './publishing/channel-documents.js';
import { CrashRateEvaluator } from './publishing/crash-check.js';
import { RolloutHalter } from './publishing/halting.js';
import { LatestFileRepairer } from './publishing/latest-files.js';
import { ReleasePublisher } from './publishing/publisher.js';
import { ReleaseReconciler } from './publishing/reconciler.js';
import { ReleaseRepository } from './publishing/release-docs.js';
import { ReleaseResigner } from './publishing/resigning.js';
import { PublishUploadHandler } from './publishing/uploads.js';
import { ReleaseTimestamps } from './stamps.js';

const SERVICES = {
  asking: UpdateCheckService,
  index: ReleaseIndex,
  lists: ReleaseListService,
  directory: ReleaseDirectoryAdapter,
  docs: ReleaseRepository,
  manifests: ManifestRepository,
  channels: ChannelDocumentWriter,
  publisher: ReleasePublisher,
  uploads: PublishUploadHandler,
  changes: ReleaseChangeService,
  crashes: CrashRateEvaluator,
  halting: RolloutHalter,
  reconciler: ReleaseReconciler,
  resigning: ReleaseResigner,
  latest: LatestFileRepairer,
  stamps: ReleaseTimestamps,
};

export type ReleaseServices = Instances<typeof SERVICES> & { deps: ReleaseDeps };

export function buildServices(scope: Pick<PluginContext, 'bind' | 'services'>, deps: ReleaseDeps): ReleaseServices {
  scope.bind(DEPS, deps);
  return { ...scope.services(SERVICES), deps };
}
